-- Shared by constructors of several rooms: sets of dimensions, means, exponentials.

local lists = require "cawb.base.lists"
local tree = require "cawb.compose.ir.tree"

local M = {}

--- The dimensions that an argument names, as a set from 1; all where it names none.
function M.axes_of(dims, rank)
  if type(dims) == "number" then dims = { dims } end
  if not dims or #dims == 0 then return M.span(1, rank) end
  return lists.set(lists.map(dims, function(d) return d % math.max(rank, 1) + 1 end))
end

--- Dimensions from the first to the last, as a set.
function M.span(first, last)
  local set = {}
  for d = first, last do set[d] = true end
  return set
end

function M.all_but(rank, d)
  local set = M.axes_of(nil, rank)
  set[d] = nil
  return set
end

--- How many elements a set of dimensions has.
function M.count(shape, axes)
  local n = 1
  for d in pairs(axes) do n = n * (shape[d] or 1) end
  return n
end

local summed = lists.set { "float32", "float64", "float16", "bfloat16", "int64", "int32" }

--- Whether kernels of scans and segments sum numbers of a type.
function M.is_summed(dtype) return summed[dtype] == true end

--- The dimension, from 1, that an argument names, or else this default; both from 0, or counted from the end.
function M.axis(dim, default, rank) return (dim or default) % math.max(rank, 1) + 1 end

--- One value for each of so many dimensions: a number, or a list of one, stands for all; without a list those of `default`.
function M.each(list, dims, default)
  if type(list) == "number" then list = { list } end
  if not list or #list == 0 then list = default end
  return lists.times(dims, function(d) return #list == 1 and list[1] or list[d] end)
end

--- The operand in the type that the result is computed in.
function M.taken(g, x, dtype) return x.dtype == dtype and x or g:map("A", dtype, { x }, dtype) end

--- The operand of a reduction in the type that the result is computed in, and the axes that are joined.
function M.joined(g, op)
  local x = M.taken(g, op.x[1], op.out[1].dtype)
  return x, M.axes_of(op.args.dim, #x.shape)
end

function M.divided(g, x, n) return g:map("A / B", x.dtype, { x, g:fill(n, {}, x.dtype) }) end

function M.mean(g, x, axes, keepdim)
  return M.divided(g, g:reduce("sum", x, axes, keepdim), M.count(x.shape, axes))
end

--- A less B, with A rounded first. If the compiler fused A's last product with the difference, an element equal to the mean would
--- have a distance from it.
M.apart = "exact(A - B)"

--- The sum of squared distances from the mean, and the mean, both with the dimensions kept. The reduce has in `about` the sum that
--- its mean is made of, and in `rest` the sum of the distances, if there is one.
function M.squared_distances(g, x, axes)
  local sum = g:reduce("sum", x, axes)
  local middle = M.divided(g, g:keepdim(sum, x, axes), M.count(x.shape, axes))
  local squares = g:reduce("sum", g:map(M.apart .. " * " .. M.apart, x.dtype, { x, middle }), axes)
  squares.about = sum
  return g:keepdim(squares, x, axes), middle, squares
end

local SHORT = 8192      -- elements of a row that stays on a chip: another sum of it costs no trip to memory

--- The same, with the mean's rounding error corrected by the sum of the distances: the result of equal elements is 0. Returns the
--- rounding error too. Distances from the mean and its rounding error add up to zero; the mean alone is off by as much for every
--- element.
function M.deviations(g, x, axes)
  local squares, middle, node = M.squared_distances(g, x, axes)
  local n = M.count(x.shape, axes)
  if n > SHORT then return squares, middle end
  node.rest = g:reduce("sum", g:map(M.apart, x.dtype, { x, middle }), axes)
  local rest = g:keepdim(node.rest, x, axes)
  local lost = M.divided(g, rest, n)
  return g:map("(A - B * C < 0.000001 * A ? 0.0 * A : A - B * C)", x.dtype, { squares, rest, lost }), middle, lost
end

--- The mean with its rounding error, where that is known.
function M.whole(g, middle, lost) return lost and g:map("A + B", middle.dtype, { middle, lost }) or middle end

--- The text of an element A less the largest element B of its row. An assembler may fuse a product and a difference to one
--- instruction, which does not round the product. Then the largest element less itself is up to half its last place; if that is
--- large, exp of it is 0 or infinite. So the difference from a product is an instruction of its own.
function M.below_top(x)
  while x.kind == "view" do x = x.inputs[1] end
  return x.kind == "map" and tree.has(x.expression, function(t) return t.op == "multiply" and not t.exact end) and "exact(A - B)" or "A - B"
end

--- exp(x - top) and top, the largest of each stretch. With `finite`, 0 stands for a top that is infinite.
function M.exponentials(g, x, axes, finite)
  local top = g:reduce("max", x, axes, true)
  if finite then top = g:map("(abs(A) == INFINITY ? 0.0 : A)", x.dtype, { top }) end
  return g:map(("exp(%s)"):format(M.below_top(x)), x.dtype, { x, top }), top
end

--- A sum and a value times a weight; the first term where there is no sum yet.
function M.weighted(g, sum, value, weight)
  if not sum then return g:map("A * B", value.dtype, { value, weight }) end
  return g:map("A + B * C", value.dtype, { sum, value, weight })
end

-- Weights of the four neighbours of a place, as a cubic's, of the share A of the way to the next one: { which, weight }.
-- In products, so that none loses bits where it is small.
local exact = { { -1, "-0.75 * A * (1.0 - A) * (1.0 - A)" }, { 0, "(1.0 - A) * (1.0 + A - 1.25 * A * A)" },
                { 1, "A * (2.0 - A - 1.25 * (1.0 - A) * (1.0 - A))" }, { 2, "-0.75 * (1.0 - A) * A * A" } }

-- As PyTorch writes them.
local function near(t) return ("((1.25 * %s - 2.25) * %s * %s + 1.0)"):format(t, t, t) end
local function far(t) return ("(((-0.75 * %s + 3.75) * %s - 6.0) * %s + 3.0)"):format(t, t, t) end
local written = { { -1, far "(A + 1.0)" }, { 0, near "A" }, { 1, near "(1.0 - A)" }, { 2, far "(2.0 - A)" } }

--- The weights of a type: in float64 PyTorch's own are the reference.
function M.cubic(dtype) return dtype == "float64" and written or exact end

--- Dimensions from `axis` on, as many as the list has index tensors, as one, and the index there; negative ones count from the end.
function M.flattened(g, x, list, axis)
  local n, flat = 1, nil
  for k, at in ipairs(list) do
    local size = x.shape[axis + k - 1]
    local safe = g:map("(A < 0 ? A + B : A)", "int64", { at, g:fill(size, {}, "int64") })
    flat = flat and g:map("A * B + C", "int64", { flat, g:fill(size, {}, "int64"), safe }) or safe
    n = n * size
  end
  return g:reshape(x, lists.joined({ table.unpack(x.shape, 1, axis - 1) }, { n }, { table.unpack(x.shape, axis + #list) })), flat
end

--- Where an element of a flat mask has its value, among n that are put one after the other where the mask is set.
function M.in_turn(g, mask, n)
  local count = g:scan("sum", g:map("A ? 1 : 0", "int64", { mask }, "bool"), 1)
  return g:map("(A < 1 ? 0 : A > B ? B - 1 : A - 1)", "int64", { count, g:fill(n, {}, "int64") })
end

return M
