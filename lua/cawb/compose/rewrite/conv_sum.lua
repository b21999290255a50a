-- conv_sum: the sum of a convolution's results along some dimensions of space, or over windows. Along some dimensions a tap multiplies the
-- sum of the inputs that it meets: all of them except a few at the ends. The rest is a convolution over the other dimensions. It has the
-- input's channels, once for each tap along the summed dimensions.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"
local view_of = require "cawb.compose.ir.view"
local views = require "cawb.compose.rewrite.views"

local M = {}

local FEW = 4          -- results that are summed: below it costs as much as it saves

-- Tap k along dimension d of space takes the j-th input, from the left or from the right, to a result. Returns how far that result
-- lies outside, less one, for both ends: a guard of it holds from the first result outside on.
local function outside(c, x, out, d, k, j)
  local n, reach, pad = out[d + 2], c.dilation[d] * k, c.padding[d]
  local right = index.back(j, x.shape[d + 2])
  if not c.transposed then return reach - j - (pad + 1), right - reach + (pad - n) end      -- input i is met at result i - reach + padding
  return pad - 1 - reach - c.stride[d] * j, c.stride[d] * right + reach - (pad + n)
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
  local function own(i) return i[3] + ins * (i[2] // each) end
  local a = g:view(sums, wide, function(i) return { i[1], own(i) } end)
  local b = g:view(w, wide, function(i) return left.transposed and { own(i), i[2] % each } or { i[2], i[3] } end)
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
  return views.biased(g, x, y, count)
end

-- ---- over windows: a convolution with a larger kernel. Each of its taps is a sum of old taps, one for each place of the window. A convolution
-- of one tap is applied to window sums of its input: there are fewer of them

-- For each dimension of space the taps of both together; nil where windows reach beyond the results, or are apart.
local function reach_of(c, w, x, out)
  local taps = {}
  for d = 1, c.dims do
    local last = (out[w.ahead + d] - 1) * w.stride[d] + w.size[d] - 1
    if w.padding[d] ~= 0 or w.dilation[d] ~= 1 or c.dilation[d] ~= 1 or last >= x.shape[w.ahead + d] then return nil end
    taps[d] = (w.size[d] - 1) * c.stride[d] + c.taps[d]
  end
  return taps
end

-- Sum over the window's places t of the taps u - t * stride.
local function weights(g, w, c, window, taps)
  local wide = { w.shape[1], w.shape[2], table.unpack(taps) }
  local first = #wide
  table.move(window.size, 1, c.dims, first + 1, wide)
  local view = g:padded(w, wide, function(i)
    return lists.times(#w.shape, function(d) return d <= 2 and i[d] or i[d] - c.stride[d - 2] * i[first + d - 2] end)
  end, 0)
  return g:reduce("sum", view, tools.span(first + 1, first + c.dims))
end

-- Whether a result follows from one place of the input, the same.
local function is_point(c)
  return lists.all(c.taps, function(n, d) return n == 1 and c.stride[d] == 1 and c.padding[d] == 0 end)
end

-- Of one tap: the windows' sums are those of the input, which must not be more than the results were.
local function of_point(g, view, axes, out)
  local x, w, from = view.inputs[1], view.window, view.inputs[1].inputs[1]
  local places, left = graphs.numel { table.unpack(x.shape, 3) }, graphs.numel { table.unpack(out, 3) }
  if left >= 0.7 * places or left * from.shape[2] > places * x.shape[2] then return nil end
  local shape = { from.shape[1], from.shape[2], table.unpack(view.shape, 3) }
  local shown = g:view(from, shape, function(i) return { i[1], i[2], table.unpack(view_of.at(view.pieces[1], i), 3) } end)
  shown.window = w
  return views.biased(g, x, g:like(x, { g:reduce("sum", shown, axes), x.inputs[2] }, out), graphs.numel(w.size))
end

--- The sums over the axes of the windows that `view` shows of a convolution; nil where they are no such, or it is not less
--- work.
function M.over_windows(g, view, axes)
  local x, w = view.inputs[1], view.window
  if x.kind ~= "conv" or #x.users > 1 or g.shown[x] or x.conv.transposed or x.conv.dims ~= w.dims then return nil end
  local c, out = x.conv, { table.unpack(view.shape, 1, #view.shape - w.dims) }
  local function is_windows(_, d) return (axes[d] or false) == (d > #out) end
  if not lists.all(view.shape, is_windows) then return nil end
  local taps = reach_of(c, w, x, out)
  if taps and is_point(c) then return of_point(g, view, axes, out) end
  local function space(shape) return graphs.numel { table.unpack(shape, 3) } end
  if not taps or graphs.numel(taps) * space(out) >= 0.7 * graphs.numel(c.taps) * space(x.shape) then
    return nil
  end
  local stride = lists.times(c.dims, function(d) return c.stride[d] * w.stride[d] end)
  local all = setmetatable({ taps = taps, stride = stride }, { __index = c })
  return views.biased(g, x, g:like(x, { x.inputs[1], weights(g, x.inputs[2], c, w, taps) }, out, all), graphs.numel(w.size))
end

return M
