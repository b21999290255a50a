-- Paddings by a tensor's own elements, one dimension after the other, and pixel_unshuffle.

local index = require "cawb.compose.ir.index"

local M = {}

local with = index.with

-- x with `before` and `after` more elements along axis d, which has n elements. An element at place e ahead of the first one comes
-- from place `low(e)` of x; an element behind the last one from `high(e, n)`.
local function padded(g, x, d, before, after, low, high)
  if before == 0 and after == 0 then return x end
  local n, shape = x.shape[d], { table.unpack(x.shape) }
  shape[d] = n + before + after
  local function place(i) return index.plus(i[d], -before) end
  return g:join(shape, {
    { x, function(i) return with(i, d, low(place(i))) end, function(i) return { index.back(place(i), 0) } end },
    { x, function(i) return with(i, d, high(place(i), n)) end, function(i) return { index.plus(place(i), -n) } end },
    { x, function(i) return with(i, d, place(i)) end } })
end

local function pad(low, high)
  return function(g, op)
    local x, sizes = op.x[1], op.args.padding
    for k = 1, #sizes, 2 do
      x = padded(g, x, #x.shape - (k - 1) // 2, sizes[k], sizes[k + 1], low, high)
    end
    return { x }
  end
end

local reflection = pad(function(e) return index.scale(e, -1) end, function(e, n) return index.back(e, 2 * n - 1) end)
local replication = pad(function() return index.const(0) end, function(_, n) return index.const(n - 1) end)

M.reflection_pad1d, M.reflection_pad2d, M.reflection_pad3d = reflection, reflection, reflection
M.replication_pad1d, M.replication_pad2d, M.replication_pad3d = replication, replication, replication

function M.pixel_unshuffle(g, op)
  local x, out, r = op.x[1], op.out[1].shape, op.args.downscale_factor
  local n = #out
  return { g:view(x, out, function(i)
    local j = { table.unpack(i) }
    local inner = index.mod(i[n - 2], r * r)
    j[n - 2] = index.div(i[n - 2], r * r)
    j[n - 1] = index.add(index.div(inner, r), i[n - 1], r)
    j[n] = index.add(index.mod(inner, r), i[n], r)
    return j
  end) }
end

return M
