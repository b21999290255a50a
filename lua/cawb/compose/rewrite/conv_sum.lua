-- conv_sum: the sum of a convolution's results along some dimensions of space. Along these a tap multiplies the sum of the inputs
-- that it meets: all of them except a few at the ends. The rest is a convolution over the other dimensions. It has the input's
-- channels, once for each tap along the summed dimensions.

local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local views = require "cawb.compose.rewrite.views"

local M = {}

local FEW = 4          -- results that are summed: below it costs as much as it saves

-- Tap k along dimension d of space takes the j-th input, from the left or from the right, to a result. Returns how far that result
-- lies outside, less one, for both ends: a guard of it holds from the first result outside on.
local function outside(c, x, out, d, k, j)
  local n, reach = x.shape[d + 2], index.scale(k, c.dilation[d])
  local right = index.back(j, n)
  if not c.transposed then              -- input i is met at result i - reach + padding
    return index.plus(index.add(reach, j, -1), -c.padding[d] - 1),
           index.plus(index.add(right, reach, -1), c.padding[d] - out[d + 2])
  end
  return index.plus(index.add(index.scale(j, -c.stride[d]), reach, -1), c.padding[d] - 1),
         index.plus(index.add(index.scale(right, c.stride[d]), reach), -c.padding[d] - out[d + 2])
end

-- How many inputs at one end a tap may leave out.
local function ends(c, x, d) return math.min(x.shape[d + 2], c.dilation[d] * (c.taps[d] - 1) + c.padding[d] + 1) end

-- Sums along dimension d of space, once for each tap: x has its taps in place of the dimension.
local function summed(g, x, c, out, d)
  local at, taps, n = d + 2, c.taps[d], x.shape[d + 2]
  local total = g:reduce("sum", x, { [at] = true }, true)
  local shape = { table.unpack(x.shape) }
  shape[at], shape[#shape + 1] = taps, ends(c, x, d)
  local function edge(left)
    local view = g:view(x, shape, function(i)
      return index.with({ table.unpack(i, 1, #shape - 1) }, at, left and i[#shape] or index.back(i[#shape], n))
    end, function(i)
      local low, high = outside(c, x, out, d, i[at], i[#shape])
      return { left and low or high }
    end, 0)
    return g:reduce("sum", view, { [#shape] = true })
  end
  return g:map("A - B - C", x.dtype, { total, edge(true), edge(false) })
end

-- The dimensions `gone` joined with dimension `at`, which they come behind.
local function joined(g, x, at, gone)
  local order, shape = {}, {}
  for d, n in ipairs(x.shape) do
    if not gone[d] then order[#order + 1], shape[#shape + 1] = d, n end
    for e = 3, d == at and #x.shape or 0 do
      if gone[e] then order[#order + 1], shape[#shape] = e, shape[#shape] * x.shape[e] end
    end
  end
  return g:reshape(g:permute(x, order), shape)
end

-- The geometry of the dimensions that are left.
local function rest(c, gone)
  local left = { groups = c.groups, transposed = c.transposed }
  for _, name in ipairs { "taps", "stride", "padding", "dilation", "output_padding" } do
    left[name] = lists.filter(c[name], function(_, d) return not gone[d + 2] end)
  end
  left.dims = #left.taps
  return left
end

-- The convolution over the dimensions that are left. If there are none, it is a product of (n, groups, 1, c) and (groups, c, o).
local function convolved(g, x, sums, w, left, shape)
  if left.dims > 0 then return g:like(x, { sums, w }, shape, left) end
  local n, groups, each, ins = shape[1], left.groups, shape[2] // left.groups, sums.shape[2] // left.groups
  local wide = { n, shape[2], ins }
  local function group(o) return index.div(o, each) end
  local a = g:view(sums, wide, function(i) return { i[1], index.add(i[3], group(i[2]), ins) } end)
  local b = g:view(w, wide, function(i)
    if not left.transposed then return { i[2], i[3] } end
    return { index.add(i[3], group(i[2]), ins), index.mod(i[2], each) }
  end)
  return g:reduce("sum", g:map("A * B", x.dtype, { a, b }), { [3] = true })
end

--- The sum of convolution x over a set of its dimensions, all of space; nil where it is not less work.
function M.of(g, x, axes)
  local c, count, gone, shape = x.conv, 1, {}, { x.shape[1], x.shape[2] }
  for d in pairs(axes) do
    if d <= 2 or not c.transposed and c.stride[d - 2] ~= 1 then return nil end
    count, gone[d] = count * x.shape[d], true
  end
  if count < FEW then return nil end
  local sums = x.inputs[1]
  for d = #x.shape, 3, -1 do
    if gone[d] then sums = summed(g, sums, c, x.shape, d - 2) else table.insert(shape, 3, x.shape[d]) end
  end
  local left = rest(c, gone)
  local y = convolved(g, x, joined(g, sums, 2, gone), joined(g, x.inputs[2], c.transposed and 1 or 2, gone), left, shape)
  local bias = x.inputs[3]
  return bias and g:map("A + B * C", x.dtype, { y, g:vector(bias, 2, #shape), g:fill(count, {}, x.dtype) }) or y
end

return M
