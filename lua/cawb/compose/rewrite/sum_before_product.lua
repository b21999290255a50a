-- sum_before_product: a sum over results of a linear map moves ahead of it. The sum over the columns of a b is a times the sum over the columns of
-- b. A sum over places of a convolution is a convolution of sums; a sum over windows is a convolution with a larger kernel. Between
-- them may be multiples and shifts of the results: their mean is their value at the mean.

local conv_sum = require "cawb.compose.rewrite.conv_sum"
local degree = require "cawb.compose.ir.tree.degree"
local graphs = require "cawb.compose.ir.graph"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"
local views = require "cawb.compose.rewrite.views"

local FEW = 4         -- results that share a sum made ahead: with fewer it costs as much as it saves

-- Of a product: over columns, rows, or both. (batch.., m, k) and (batch.., k, n).
local function of_product(g, x, axes)
  local rank = #x.shape
  local m, n = x.shape[rank - 1], x.shape[rank]
  for d = 1, rank - 2 do if axes[d] then return nil end end
  if (axes[rank] and not axes[rank - 1] and m or axes[rank - 1] and not axes[rank] and n or FEW) < FEW then return nil end
  local a, b, bias = x.inputs[1], x.inputs[2], x.inputs[3]
  if axes[rank - 1] then a = g:reduce("sum", a, { [rank - 1] = true }, true) end
  if axes[rank] then b = g:reduce("sum", b, { [rank] = true }, true) end
  local sum = views.dropped(g, g:summed_product(a, b), axes)
  if not bias then return sum end
  local rows = axes[rank - 1] and m or 1
  bias = axes[rank] and g:reduce("sum", bias, { true }) or bias
  return g:map("A + B * C", x.dtype, { sum, bias, g:fill(rows, {}, x.dtype) })
end

local sum_of

-- The sum over a view that shows all elements equally often, in other dimensions.
local function of_view(g, x, axes, others)
  local window = x.window and conv_sum.over_windows(g, x, axes)
  if window then return window end
  local lots = views.lots(x)
  local gone, times
  if lots then gone, times = views.inner(x, lots, axes) end
  if not gone then return nil end
  local sum = sum_of(g, x.inputs[1], gone, others)
  if not sum then return nil end
  sum = views.spread(g, sum, x, axes, gone)
  return times == 1 and sum or g:map("A * B", x.dtype, { sum, g:fill(times, {}, x.dtype) })
end

local function plain(g, x, axes) return g:reduce("sum", x, axes) end

local function of_map(g, x, axes)
  if x.cast ~= x.dtype or #x.inputs > 26 or x.casts then return nil end
  local varies = lists.set { views.varying(x, axes) }
  if not degree.is_linear(x.expression, varies) then return nil end
  local n, sums, pays = tools.count(x.shape, axes), {}, false
  for k, input in ipairs(x.inputs) do
    if input.dtype ~= x.dtype then return nil end
    if varies[k] then
      sums[k] = sum_of(g, input, axes)
      pays = pays or sums[k] ~= nil
    end
  end
  if not pays then return nil end
  local operands = lists.map(x.inputs, function(input, k)
    if not varies[k] then return views.dropped(g, input, axes) end
    return tools.divided(g, sums[k] or sum_of(g, input, axes, plain) or plain(g, input, axes), n)
  end)
  local mean = g:map(x.expression, x.dtype, operands)
  return g:map("A * B", x.dtype, { mean, g:fill(n, {}, x.dtype) })
end

-- The sum of x over some of its dimensions, without them, if it is less work than computing x. Otherwise nil, or the result of
-- `others` for the node below x.
function sum_of(g, x, axes, others)
  if not next(axes) then return others and x end
  if not others and (#x.users > 1 or g.shown[x]) then return nil end
  if x.kind == "view" then return of_view(g, x, axes, others) end
  if others then return others(g, x, axes) end
  if x.kind == "map" then return of_map(g, x, axes) end
  if x.kind == "product" then return of_product(g, x, axes) end
  if x.kind == "conv" then return conv_sum.of(g, x, axes) end
end

local M = { says = "its sum is taken ahead of a product or convolution" }

function M.apply(g, x)
  if not views.is_sum(x) or not views.is_real(x) or x.inputs[1].dtype ~= x.dtype then return nil end
  if x.about or graphs.numel(x.inputs[1].shape) == 0 then return nil end
  return sum_of(g, x.inputs[1], x.axes)
end

return M
