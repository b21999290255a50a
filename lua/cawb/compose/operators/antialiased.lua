-- Changes of size with a filter as wide as the step between outputs: each output is a weighted sum of its window, one dimension after the
-- other. Windows and weights follow from sizes, so they are constants.

local constant = require "cawb.compose.operators.constant"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"

local M = {}

local function triangle(x) return math.max(0.0, 1.0 - math.abs(x)) end

local A = -0.5             -- of the cubic: other than without a filter

local function cubic(x)
  x = math.abs(x)
  if x < 1 then return ((A + 2) * x - (A + 3)) * x * x + 1 end
  return x < 2 and (((x - 5) * x + 8) * x - 4) * A or 0.0
end

-- Elements between outputs: corners on corners, by the caller's factor, or by sizes.
local function step_of(from, to, aligned, factor)
  if aligned then return to > 1 and (from - 1) / (to - 1) or 0.0 end
  return factor and 1 / factor or from / to
end

-- Of output o the first element of its window and the weights: as PyTorch has them, whose sum is 1.
local function window(o, from, step, reach, filter)
  local scale = math.max(1.0, step)
  local middle, support = step * (o + 0.5), reach * scale
  local first = math.max(math.tointeger((middle - support + 0.5) // 1), 0)
  local last, weights, sum = math.min(math.tointeger((middle + support + 0.5) // 1), from), {}, 0.0
  for k = first, last - 1 do
    weights[#weights + 1] = filter((k - middle + 0.5) / scale)
    sum = sum + weights[#weights]
  end
  for k, w in ipairs(weights) do weights[k] = sum ~= 0 and w / sum or w end
  return first, weights
end

-- One dimension of x in another size. Windows at the borders are shorter: they take no element more than they have.
local function along(g, x, d, to, step, reach, filter)
  local firsts, counts, lists, widest = {}, {}, {}, 0
  for o = 0, to - 1 do
    firsts[o + 1], lists[o + 1] = window(o, x.shape[d], step, reach, filter)
    counts[o + 1] = #lists[o + 1]
    widest = math.max(widest, counts[o + 1])
  end
  local weights = {}
  for _, list in ipairs(lists) do
    for k = 1, widest do weights[#weights + 1] = list[k] or 0.0 end
  end
  local shape = index.with(x.shape, d, to)
  shape[#shape + 1] = widest
  local last = #shape
  local function table_of(values, dtype) return constant.of(g, { values = values, shape = { to }, dtype = dtype }) end
  local function by_output(node) return g:view(node, shape, function(i) return { i[d] } end) end
  local k = g:numbers(shape, last)
  local inside = g:map("A < B", "bool", { k, by_output(table_of(counts, "int64")) }, "int64")
  local at = g:map("(A ? B + C : B)", "int64", { inside, by_output(table_of(firsts, "int64")), k }, nil, { "bool" })
  local wide = g:view(x, index.with(shape, d, x.shape[d]), function(i) return { table.unpack(i, 1, last - 1) } end)
  local weight = g:view(constant.of(g, { values = weights, shape = { to, widest }, dtype = x.dtype }), shape, function(i) return { i[d], i[last] } end)
  return g:reduce("sum", g:map("(A ? B * C : 0.0)", x.dtype, { inside, g:pick(wide, at, d), weight }, nil, { "bool" }), { [last] = true })
end

local function resized(reach, filter)
  return function(g, op)
    local x, out = op.x[1], op.out[1].shape
    if graphs.same(x.shape, out) then return { g:view(x, out, function(i) return i end) } end
    local list = op.args.scale_factors or {}
    local factors = { list[1] or op.args.scales_h, list[2] or op.args.scales_w }
    local y = x.dtype:find "16" and g:map("A", "float32", { x }) or x
    for d = #out, #out - 1, -1 do
      y = along(g, y, d, out[d], step_of(x.shape[d], out[d], op.args.align_corners, factors[d - #out + 2]), reach, filter)
    end
    return { y.dtype == x.dtype and y or g:map("A", x.dtype, { y }, "float32") }
  end
end

M._upsample_bilinear2d_aa, M._upsample_bicubic2d_aa = resized(1, triangle), resized(2, cubic)

return M
