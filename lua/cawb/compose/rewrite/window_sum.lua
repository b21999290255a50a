-- window_sum: sums over windows of a convolution's results are a convolution with a larger kernel. Each of its taps is a sum of old
-- taps, one for each place of the window. A convolution of one tap is applied to window sums of its input: there are fewer of them.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"
local views = require "cawb.compose.ir.view"

local M = {}

-- For each dimension of space the taps of both together; nil where windows reach beyond the results, or are apart.
local function reach(c, w, x, out)
  local taps = {}
  for d = 1, c.dims do
    local last = (out[w.ahead + d] - 1) * w.stride[d] + w.size[d] - 1
    if w.padding[d] ~= 0 or w.dilation[d] ~= 1 or c.dilation[d] ~= 1 or last >= x.shape[w.ahead + d] then return nil end
    taps[d] = (w.size[d] - 1) * c.stride[d] + c.taps[d]
  end
  return taps
end

local product = graphs.numel

-- Sum over the window's places t of the taps u - t * stride.
local function weights(g, w, c, window, taps)
  local wide = { w.shape[1], w.shape[2], table.unpack(taps) }
  local first = #wide
  table.move(window.size, 1, c.dims, first + 1, wide)
  local view = g:padded(w, wide, function(i)
    local j = { i[1], i[2] }
    for d = 1, c.dims do j[d + 2] = index.add(i[d + 2], i[first + d], -c.stride[d]) end
    return j
  end, 0)
  return g:reduce("sum", view, tools.span(first + 1, first + c.dims))
end

-- Whether the axes are those of the window, and nothing but it.
local function whole(view, axes, dims)
  return lists.all(view.shape, function(_, d) return (axes[d] or false) == (d > #view.shape - dims) end)
end

-- The bias as often as a window has places.
local function biased(g, x, y, w)
  local bias = x.inputs[3]
  return bias and g:map("A + B * C", x.dtype, { y, g:vector(bias, 2, #y.shape), g:fill(product(w.size), {}, x.dtype) }) or y
end

-- Whether a result follows from one place of the input, the same.
local function is_point(c)
  return lists.all(c.taps, function(n, d) return n == 1 and c.stride[d] == 1 and c.padding[d] == 0 end)
end

-- Of one tap: the windows' sums are those of the input, which must not be more than the results were.
local function of_point(g, view, axes, out)
  local x, w, from = view.inputs[1], view.window, view.inputs[1].inputs[1]
  local places, left = product { table.unpack(x.shape, 3) }, product { table.unpack(out, 3) }
  if left >= 0.7 * places or left * from.shape[2] > places * x.shape[2] then return nil end
  local shape = { from.shape[1], from.shape[2], table.unpack(view.shape, 3) }
  local shown = g:view(from, shape, function(i) return { i[1], i[2], table.unpack(views.at(view.pieces[1], i), 3) } end)
  shown.window = w
  return biased(g, x, g:like(x, { g:reduce("sum", shown, axes), x.inputs[2] }, out), w)
end

--- The sums over the axes of the windows that `view` shows of a convolution; nil where they are no such, or it is not less
--- work.
function M.of(g, view, axes)
  local x, w = view.inputs[1], view.window
  if x.kind ~= "conv" or #x.users > 1 or g.shown[x] or x.conv.transposed or x.conv.dims ~= w.dims then return nil end
  local c, out = x.conv, { table.unpack(view.shape, 1, #view.shape - w.dims) }
  if not whole(view, axes, w.dims) then return nil end
  local taps = reach(c, w, x, out)
  if taps and is_point(c) then return of_point(g, view, axes, out) end
  if not taps or product(taps) * product { table.unpack(out, 3) } >= 0.7 * product(c.taps) * product { table.unpack(x.shape, 3) } then
    return nil
  end
  local stride = lists.times(c.dims, function(d) return c.stride[d] * w.stride[d] end)
  local all = setmetatable({ taps = taps, stride = stride }, { __index = c })
  return biased(g, x, g:like(x, { x.inputs[1], weights(g, x.inputs[2], c, w, taps) }, out, all), w)
end

return M
