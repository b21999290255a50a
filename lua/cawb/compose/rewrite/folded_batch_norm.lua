-- folded_batch_norm: a batch norm of a module in eval mode is folded into the weights ahead of it, before the first call. Its mean and variance
-- are parameters then: (w (x) + b - mean) s is (s w)(x) + s (b - mean). A library call then needs no second pass, and a kernel
-- reads two numbers less for each result. In training the mean is that of the batch, and nothing matches. A NaN of an input or a
-- parameter reaches the same results.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local match = require "cawb.compose.ir.tree.match"
local tools = require "cawb.compose.operators.tools"
local views = require "cawb.compose.rewrite.views"

local M = { says = "its scale and shift are in the weights" }

--- How a norm of X may be written: M and S are its mean and scale, W and B its weight and bias.
M.patterns = { "exact(X - M) * S", "exact(X - M) * S * W", "exact(X - M) * S + B", "exact(X - M) * S * W + B",
               "(X - M) * S", "(X - M) * S * W", "(X - M) * S + B", "(X - M) * S * W + B" }

-- The numbers of a norm's operands by these letters, or nil.
local function norm_of(x)
  for _, line in ipairs(x.kind == "map" and M.patterns or {}) do
    local number = match.operands(x.expression, line)
    if number then return number end
  end
end

-- The one dimension along which operands may differ: channels of a convolution, columns of a product.
local function along(y) return y.kind == "conv" and 2 or #y.shape end

-- The anchor's result that is normalised: y, and the map that adds its bias, or nil.
local function anchor(g, y)
  local sum
  local function alone(node) return #node.users == 1 and not g.shown[node] end
  if y.kind == "map" and match.is(y.expression, "A + B") and y.cast == y.dtype and alone(y) then y, sum = y.inputs[1], y end
  if (y.kind == "conv" or y.kind == "product") and alone(y) and not (sum and y.inputs[3]) then return y, sum end
end

-- The element for each channel of an operand that is the same along all else.
local function vector(g, x, d) return views.dropped(g, x, tools.all_but(#x.shape, d)) end

local function may(x, number, y, sum)
  local axes = tools.all_but(#x.shape, along(y))
  local function is_vector(input) return views.is_fixed(input) and views.is_constant(input, axes) end
  local bias = sum and sum.inputs[2] or y.inputs[3]
  return lists.all(x.inputs, function(input, k) return k == number.X or is_vector(input) end) and views.is_fixed(y.inputs[2]) and (not bias or views.is_fixed(bias)) and (not sum or views.is_constant(sum.inputs[2], axes))
end

-- The weights times a scale for each output channel or column.
local function scaled(g, y, scale)
  local w, c = y.inputs[2], y.conv
  if not c then return g:map("A * B", w.dtype, { w, scale }) end
  local each, ins = w.shape[2], w.shape[1] // c.groups
  local wide = g:view(scale, w.shape, function(i) return { c.transposed and index.add(i[2], index.div(i[1], ins), each) or i[1] } end)
  return g:map("A * B", w.dtype, { w, wide })
end

function M.apply(g, x)
  local number = norm_of(x)
  if not number or not views.is_real(x) or x.cast ~= x.dtype then return nil end
  local y, sum = anchor(g, x.inputs[number.X])
  if not y or not graphs.same(y.shape, x.shape) or not may(x, number, y, sum) then return nil end
  local d, dtype = along(y), x.dtype
  local mean, scale = vector(g, x.inputs[number.M], d), vector(g, x.inputs[number.S], d)
  if number.W then scale = g:map("A * B", dtype, { scale, vector(g, x.inputs[number.W], d) }) end
  local bias = sum and vector(g, sum.inputs[2], d) or y.inputs[3]
  local shift = bias and g:map("(A - B) * C", dtype, { bias, mean, scale }) or g:map("-A * B", dtype, { mean, scale })
  if number.B then shift = g:map("A + B", dtype, { shift, vector(g, x.inputs[number.B], d) }) end
  local inputs = { y.inputs[1], scaled(g, y, scale), not sum and not y.own and shift or nil }
  local z = g:like(y, inputs)
  z.from = y.from          -- a convolution is called one; the line "rewritten" tells of the norm
  return inputs[3] and z or g:map("A + B", dtype, { z, g:vector(shift, d, #x.shape) })
end

return M
