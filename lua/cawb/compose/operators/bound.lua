-- Bounds: clamp and its kin, by numbers or by tensors.

local expressions = require "cawb.compose.operators.expressions"

local M = {}

local least, most = "maximum(A, B)", "minimum(A, B)"

-- A bound that is a tensor is a maximum or a minimum.
local function bound(low, high)
  return function(g, op)
    local x, dtype = op.x[1], op.out[1].dtype
    if not (op.by[low or ""] or op.by[high or ""]) then
      return { g:map(expressions.of(op.name, op.args, dtype), dtype, { x }) }
    end
    local lo, hi = low and op.by[low], high and op.by[high]
    lo = lo or low and op.args[low] ~= nil and g:fill(op.args[low], {}, dtype)
    hi = hi or high and op.args[high] ~= nil and g:fill(op.args[high], {}, dtype)
    if lo then x = g:map(least, dtype, { x, lo }) end
    if hi then x = g:map(most, dtype, { x, hi }) end
    return { x }
  end
end

M.clamp, M.clip = bound("min", "max"), bound("min", "max")
M.clamp_min, M.clamp_max = bound("min", nil), bound(nil, "max")

return M
