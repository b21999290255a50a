-- Running extremes, with their places, and running sums of exponentials, as scans.

local tools = require "cawb.compose.operators.tools"

local M = {}

-- The place is the last one, up to here, of an element that is the extreme: the largest of such places.
local function extreme(name)
  return function(g, op)
    local x = op.x[1]
    if #x.shape == 0 then return { x, g:fill(0, {}, "int64") } end
    local axis = op.args.dim % #x.shape + 1
    local y = tools.is_summed(x.dtype) and x or g:map("A", "int32", { x })
    local run = g:scan(name, y, axis)
    local own = g:numbers(x.shape, axis)
    local hit = g:map("(A == B || (A != A && B != B) ? C : 0)", "int64", { y, run, own }, nil, { y.dtype, y.dtype })
    return { y == x and run or g:map("A", x.dtype, { run }, "int32"), g:scan("max", hit, axis) }
  end
end

M.cummax, M.cummin = extreme "max", extreme "min"

function M.logcumsumexp(g, op)
  local x = op.x[1]
  if #x.shape == 0 then return { x } end
  return { g:scan("logsumexp", x, op.args.dim % #x.shape + 1) }
end

return M
