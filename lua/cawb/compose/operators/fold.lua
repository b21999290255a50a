-- Operators that join many elements into one: sums, extremes, norms, losses.

local expressions = require "cawb.compose.operators.expressions"
local lists = require "cawb.base.lists"
local text = require "cawb.compose.ir.tree.text"
local tools = require "cawb.compose.operators.tools"

local M = {}

local axes_of, joined, mean, taken = tools.axes_of, tools.joined, tools.mean, tools.taken

local function keep(op) return op.args.keepdim == true end

-- A reduce of the elements, or of what a line makes of them: of `dtype`, where that is not the result's.
local function fold(name, line, dtype)
  return function(g, op)
    local x, axes = op.x[1], axes_of(op.args.dim, #op.x[1].shape)
    local from = dtype and x.dtype or op.out[1].dtype
    if not dtype then x = taken(g, x, from) end
    return { g:reduce(name, line and g:map(line, dtype or from, { x }, from) or x, axes, keep(op)) }
  end
end

M.sum, M.prod, M.amax, M.amin = fold "sum", fold "prod", fold "max", fold "min"
M.nansum = fold("sum", "(A != A ? 0 : A)")               -- NaN counts as 0
M.any, M.all = fold("any", "A != 0", "bool"), fold("all", "A != 0", "bool")
M.count_nonzero = fold("sum", "(A != 0 ? 1 : 0)", "int64")

function M.mean(g, op)
  local x, axes = joined(g, op)
  return { mean(g, x, axes, keep(op)) }
end

function M.trace(g, op)
  local x = taken(g, op.x[1], op.out[1].dtype)
  local diagonal = g:view(x, { math.min(x.shape[1], x.shape[2]) }, function(i) return { i[1], i[1] } end)
  return { g:reduce("sum", diagonal, { true }) }
end

-- The place of the extreme, in one dimension or in all of them.
local function place(g, op, name)
  local x, dim = op.x[1], op.args.dim
  if dim == nil or #x.shape == 0 then return g:reduce(name, g:flat(x), { true }, keep(op), "int64") end
  return g:reduce(name, x, axes_of(dim, #x.shape), keep(op), "int64")
end

function M.argmax(g, op) return { place(g, op, "argmax") } end

function M.argmin(g, op) return { place(g, op, "argmin") } end

-- max and min: of all elements, of a dimension with places, or of two tensors.
local function extreme(name)
  return function(g, op)
    if #op.x == 2 then return { g:map(name .. "imum(A, B)", op.out[1].dtype, { op.x[1], op.x[2] }) } end
    local largest = g:reduce(name, op.x[1], axes_of(op.args.dim, #op.x[1].shape), keep(op))
    return { largest, #op.out > 1 and place(g, op, "arg" .. name) or nil }
  end
end

M.max, M.min = extreme "max", extreme "min"

function M.aminmax(g, op) return { M.amin(g, op)[1], M.amax(g, op)[1] } end

function M.logsumexp(g, op)
  local x, axes = joined(g, op)
  local e, base = tools.exponentials(g, x, axes, true)
  local sum = g:reduce("sum", e, axes, true)
  return { g:reshape(g:map("log(A) + B", x.dtype, { sum, base }), op.out[1].shape) }
end

local function variance(line)
  return function(g, op)
    local x, axes = joined(g, op)
    local less = op.args.correction or op.args.unbiased == false and 0 or 1
    local sum, middle, lost = tools.deviations(g, x, axes)
    local n = math.max(0, tools.count(x.shape, axes) - less)
    local spread = g:map(line, x.dtype, { sum, g:fill(n, {}, x.dtype) })
    return { g:reshape(spread, op.out[1].shape), op.out[2] and g:reshape(tools.whole(g, middle, lost), op.out[2].shape) or nil }
  end
end

M.var, M.std = variance "A / B", variance "sqrt(A / B)"
M.var_mean, M.std_mean = M.var, M.std

-- The term of an element in a norm, and the norm from the sum, by its order.
local norms = {
  [0] = { "(A != 0.0 ? 1.0 : 0.0)", "A" }, [1] = { "abs(A)", "A" }, [2] = { "A * A", "sqrt(A)" },
}

local function norm(g, op, order)
  local x, axes = joined(g, op)
  if order == "inf" or order == "-inf" then
    return { g:reduce(order == "inf" and "max" or "min", g:map("abs(A)", x.dtype, { x }), axes, keep(op)) }
  end
  local p = text.number(order, x.dtype)
  local how = norms[order] or { ("pow(abs(A), %s)"):format(p), ("pow(A, 1.0 / %s)"):format(p) }
  local sum = g:reduce("sum", g:map(how[1], x.dtype, { x }), axes, keep(op))
  return { g:map(how[2], x.dtype, { sum }) }
end

function M.linalg_vector_norm(g, op) return norm(g, op, op.args.ord or 2) end

function M.norm(g, op) return norm(g, op, op.args.p or 2) end

function M.dist(g, op)
  local apart = g:map("A - B", op.out[1].dtype, { op.x[1], op.x[2] })
  return { g:reshape(norm(g, { x = { apart }, out = op.out, args = {} }, op.args.p or 2)[1], {}) }
end

-- Slices along a dimension, each shortened to the length `maxnorm` where it is longer.
function M.renorm(g, op)
  local x = taken(g, op.x[1], op.out[1].dtype)
  local others = lists.filter(lists.times(#x.shape, function(d) return d - 1 end), function(d) return d ~= op.args.dim % #x.shape end)
  local length = norm(g, { x = { x }, out = op.out, args = { dim = others, keepdim = true } }, op.args.p)[1]
  return { g:map("(B > C ? A * (C / (B + 0.0000001)) : A)", x.dtype, { x, length, g:fill(op.args.maxnorm, {}, x.dtype) }) }
end

-- A tensor of rows with one more dimension, of size 1, ahead of its last but `before`.
local function stretched(g, x, before)
  local shape = { table.unpack(x.shape) }
  table.insert(shape, #shape + 1 - before, 1)
  return g:reshape(x, shape)
end

-- Of each row of one and each row of another, how far they are apart. Of NaN PyTorch's largest difference, and its count of
-- differences, say one thing or the other by its place in the row: these are left.
local function distances(g, op)
  local dtype, p = op.out[1].dtype, op.args.p or 2
  if type(p) ~= "number" or p <= 0 or p == math.huge then return nil, ("distances of order %s are not made"):format(p) end
  local a, b = stretched(g, taken(g, op.x[1], dtype), 1), stretched(g, taken(g, op.x[2], dtype), 2)
  local apart = g:map("A - B", dtype, { a, b })
  return norm(g, { x = { apart }, out = op.out, args = { dim = { -1 } } }, p)
end

M._euclidean_dist, M._cdist_forward = distances, distances

-- Losses: element by element, then their mean or sum (1 or 2).
local function reduced(g, x, how)
  if how == 0 then return x end
  local axes = axes_of(nil, #x.shape)
  return how == 1 and mean(g, x, axes) or g:reduce("sum", x, axes)
end

for _, name in ipairs { "mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
                        "soft_margin_loss" } do
  M[name] = function(g, op)
    local dtype = op.out[1].dtype
    local positive = name:find "logits" and (op.by.pos_weight or g:fill(1, {}, dtype)) or nil
    local x = g:map(expressions.of(name, op.args, dtype), dtype, { op.x[1], op.x[2], positive })
    if op.by.weight then x = g:map("A * B", dtype, { x, op.by.weight }) end
    return { reduced(g, x, op.args.reduction or 1) }
  end
end

-- Negative log likelihood: the class axis is the last but the trailing ones.
local function nll(g, op)
  local x, target, weight = op.by.self, op.by.target, op.by.weight
  local axis = #x.shape == 1 and 1 or 2
  local at = g:reshape(target, axis == 1 and { 1 } or { target.shape[1], 1, table.unpack(target.shape, 2) })
  local ignore = g:fill(op.args.ignore_index or -100, {}, "int64")
  local safe = g:map("(A == B ? 0 : A)", "int64", { at, ignore })
  local pick = g:pick(x, safe, axis)
  local w = weight and g:pick(weight, g:reshape(safe, target.shape), 1) or g:fill(1, target.shape, x.dtype)
  w = g:map("(A == B ? 0 : C)", x.dtype, { g:reshape(at, target.shape), ignore, w }, nil, { "int64", "int64" })
  local lost = g:map("(B == 0.0 ? 0.0 : -A * B)", x.dtype, { g:reshape(pick, target.shape), w })
  if op.args.reduction == 0 then return { lost } end
  local all = axes_of(nil, #target.shape)
  local sum, total = g:reduce("sum", lost, all), g:reduce("sum", w, all)
  return { op.args.reduction == 1 and g:map("A / B", x.dtype, { sum, total }) or sum, total }
end

M.nll_loss_forward, M.nll_loss2d_forward = nll, nll

-- The loss of a row: the mean over the other classes of how far they come within the margin of the right class, or its square.
function M.multi_margin_loss(g, op)
  local dtype, weight, p = op.out[1].dtype, op.by.weight, op.args.p or 1
  if p ~= 1 and p ~= 2 then return nil, ("margins to the power of %s are not made"):format(p) end
  local x = taken(g, op.by.self, dtype)
  local rows, classes = #x.shape == 2 and x.shape[1] or 1, x.shape[#x.shape]
  local at, all = g:reshape(op.by.target, { rows, 1 }), g:reshape(x, { rows, classes })
  local function of_class(source, axis, shape) return g:pick(source, g:reshape(at, shape), axis) end
  local near = "(A == B || !(C - D + E > 0.0) ? 0.0 : C - D + E)"
  local lost = g:map(near, dtype, { at, g:iota(classes), g:fill(op.args.margin or 1, {}, dtype), of_class(all, 2, { rows, 1 }), all }, nil, { "int64", "int64" })
  if p == 2 then lost = g:map("A * A", dtype, { lost }) end
  if weight then                                  -- only where the loss is not zero: elsewhere a weight of NaN is not read
    lost = g:map("(A == 0.0 ? 0.0 : A * B)", dtype, { lost, g:reshape(of_class(weight, 1, { rows }), { rows, 1 }) })
  end
  local each = tools.divided(g, g:reduce("sum", lost, { [2] = true }), classes)
  return { reduced(g, each, op.args.reduction or 1) }
end

local function scan(name)
  return function(g, op)
    local x = taken(g, op.x[1], op.out[1].dtype)
    if #x.shape == 0 then return { x } end
    return { g:scan(name, x, op.args.dim % #x.shape + 1) }
  end
end

M.cumsum, M.cumprod = scan "sum", scan "prod"

return M
