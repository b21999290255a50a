-- Normalisations: softmax, layer, group, batch, instance and root-mean-square norm, as reduces and maps.

local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"

local M = {}

-- By a line of the exponentials and their sum; without one, the logarithm.
local function softmax(line, finite)
  return function(g, op)
    local x, axes = tools.joined(g, op)
    local e, base = tools.exponentials(g, x, axes, finite)
    local sum = g:reduce("sum", e, axes, true)
    return { line and g:map(line, x.dtype, { e, sum }) or g:map(tools.below_top(x) .. " - log(C)", x.dtype, { x, base, sum }) }
  end
end

M._softmax, M._log_softmax = softmax "A * (1.0 / B)", softmax()              -- one quotient a row
M._safe_softmax = softmax("(B == 0.0 ? 0.0 : A / B)", true)                  -- rows of -inf alone are zeros

-- The gradient of a softmax, from the gradient of its output.
local function handed_back(logarithm)
  return function(g, op)
    local handed, y = op.by.grad_output, op.by.output
    local axes = tools.axes_of(op.args.dim, #y.shape)
    if logarithm then
      return { g:map("A - exp(B) * C", y.dtype, { handed, y, g:reduce("sum", handed, axes, true) }) }
    end
    local sum = g:reduce("sum", g:map("A * B", y.dtype, { handed, y }), axes, true)
    return { g:map("A * (B - C)", y.dtype, { y, handed, sum }) }
  end
end

M._softmax_backward_data, M._log_softmax_backward_data = handed_back(false), handed_back(true)

local function reciprocal(g, variance, eps)
  return g:map("1.0 / sqrt(A + B)", variance.dtype, { variance, g:fill(eps, {}, variance.dtype) })
end

-- Of the axes, which stay with size one: { middle = the mean, rstd = the reciprocal deviation, lost = the mean's rounding error if it is known }.
local function moments(g, x, axes, eps)
  local sum, middle, lost = tools.deviations(g, x, axes)
  return { middle = middle, rstd = reciprocal(g, tools.divided(g, sum, tools.count(x.shape, axes)), eps), lost = lost }
end

-- (x - mean) * rstd * weight + bias, without weight or bias if there is none. The mean's rounding error is subtracted behind the
-- product, where no element is rounded before it. It is a product of its own, so that equal elements give zero.
local function applied(g, x, m, weight, bias)
  local list, text = { x, m.middle, m.rstd }, m.lost and "exact(" .. tools.apart .. " * C)" or tools.apart .. " * C"
  local function more(how, operand)
    if not operand then return end
    list[#list + 1] = operand
    text = how:format(text, string.char(64 + #list))
  end
  more("(%s - exact(%s * C))", m.lost)
  more("%s * %s", weight)
  more("%s + %s", bias)
  return g:map(text, x.dtype, list)
end

-- The dimensions that a norm of the last ones joins.
local function last(op, x) return tools.span(#x.shape - #op.args.normalized_shape + 1, #x.shape) end

function M.native_layer_norm(g, op)
  local x = op.by.input
  local m = moments(g, x, last(op, x), op.args.eps)
  return { applied(g, x, m, op.by.weight, op.by.bias), tools.whole(g, m.middle, m.lost), m.rstd }
end

function M.rms_norm(g, op)
  local x = op.by.input
  local squares = tools.mean(g, g:map("A * A", x.dtype, { x }), last(op, x), true)
  local rstd = reciprocal(g, squares, op.args.eps or 1.1920928955078125e-07)
  return { g:map(op.by.weight and "A * B * C" or "A * B", x.dtype, { x, rstd, op.by.weight }), rstd }
end
M._fused_rms_norm = M.rms_norm

-- A value for each channel, beside x.
local function by_channel(g, v, x) return v and g:vector(v, 2, #x.shape) end

function M.native_group_norm(g, op)
  local x, groups = op.by.input, op.args.group
  local n, c = x.shape[1], x.shape[2]
  local rows = g:reshape(x, { n, groups, c // groups * (op.args.HxW or 1) })
  local m = moments(g, rows, { [3] = true }, op.args.eps)
  local function each(v)                           -- of each group, for the channels of it
    if not v then return nil end
    local wide = g:broadcast(g:reshape(v, { n, groups, 1 }), { n, groups, c // groups })
    return g:reshape(wide, lists.map(x.shape, function(size, d) return d <= 2 and size or 1 end))
  end
  local weight, bias = by_channel(g, op.by.weight, x), by_channel(g, op.by.bias, x)
  local y = applied(g, x, { middle = each(m.middle), rstd = each(m.rstd), lost = each(m.lost) }, weight, bias)
  return { y, g:reshape(tools.whole(g, m.middle, m.lost), { n, groups }), g:reshape(m.rstd, { n, groups }) }
end

function M.native_batch_norm(g, op)
  local x, eps = op.by.input, op.args.eps or op.args.epsilon
  local training = op.args.training
  if training == nil then training = not op.by.running_mean end
  if training and op.by.running_mean and (op.by.running_mean.source or ""):find "^input" then
    return nil, "it writes running statistics into inputs; a module keeps them as buffers"
  end
  local m = training and moments(g, x, tools.all_but(#x.shape, 2), eps)
    or { middle = by_channel(g, op.by.running_mean, x), rstd = reciprocal(g, by_channel(g, op.by.running_var, x), eps) }
  local y = applied(g, x, m, by_channel(g, op.by.weight, x), by_channel(g, op.by.bias, x))
  return { y, g:reshape(tools.whole(g, m.middle, m.lost), { x.shape[2] }), g:reshape(m.rstd, { x.shape[2] }) }
end

M.cudnn_batch_norm, M._native_batch_norm_legit = M.native_batch_norm, M.native_batch_norm
M._batch_norm_with_update, M._native_batch_norm_legit_no_training = M.native_batch_norm, function(g, op)
  op.args.training = false
  return M.native_batch_norm(g, op)
end

-- Weights v of these lengths g, taken along all dimensions but `dim`; and the lengths that v had.
function M._weight_norm_interface(g, op)
  local v = op.x[1]
  local axes = tools.all_but(#v.shape, tools.axis(op.args.dim, 0, #v.shape))
  local length = g:map("sqrt(A)", v.dtype, { g:reduce("sum", g:map("A * A", v.dtype, { v }), axes, true) })
  return { g:map("A * (B / C)", v.dtype, { v, op.x[2], length }), length }
end

return M
