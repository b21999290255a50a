-- Operators that put elements in order: a node of their places, and the elements there. Running extremes, with their places, and running
-- sums of exponentials, as scans.

local index = require "cawb.compose.ir.index"
local tools = require "cawb.compose.operators.tools"
local types = require "cawb.torch.types"

local M = {}

-- The places of the first `most` elements along an axis, in order, and these elements.
local function ordered(g, x, axis, largest, most)
  if #x.shape == 0 then return x, g:fill(0, {}, "int64") end
  local shape = index.with(x.shape, axis, most or x.shape[axis])
  local places = g:node { kind = "order", inputs = { x }, axis = axis, largest = largest, shape = shape, dtype = "int64" }
  return g:pick(x, places, axis), places
end

local function axis_of(x, dim) return tools.axis(dim, -1, #x.shape) end

function M.sort(g, op)
  return { ordered(g, op.x[1], axis_of(op.x[1], op.args.dim), op.args.descending == true) }
end

function M.argsort(g, op) return { M.sort(g, op)[2] } end

function M.msort(g, op) return { (ordered(g, op.x[1], 1, false)) } end

function M.topk(g, op)
  return { ordered(g, op.x[1], axis_of(op.x[1], op.args.dim), op.args.largest ~= false, op.args.k) }
end

function M.kthvalue(g, op)
  local x = op.x[1]
  local axis, shape = axis_of(x, op.args.dim), op.out[1].shape
  local function last(node) return #x.shape == 0 and node or g:reshape(g:slice(node, axis, op.args.k - 1, 1), shape) end
  local values, places = ordered(g, x, axis, false, op.args.k)
  return { last(values), last(places) }
end

-- The middle of the sorted elements, the lower one of two; NaN where there is one. Without a dimension, of all elements.
-- With `skip` NaN is no element.
local function middle(skip)
  return function(g, op)
    local x, whole = op.x[1], op.args.dim == nil
    if whole then x = g:flat(x) end
    if #x.shape == 0 then return { x, g:fill(0, {}, "int64") } end
    local axis = axis_of(x, op.args.dim or 0)
    local n, float = x.shape[axis], x.dtype:find "float"
    if n == 0 then return nil, "it is of no elements" end
    local values, places = ordered(g, x, axis, false)
    local one = index.with(x.shape, axis, 1)
    local k = g:fill((n - 1) // 2, one, "int64")
    if float and skip then
      local counted = g:reduce("sum", g:map("(A != A ? 0 : 1)", "int64", { x }, x.dtype), { [axis] = true }, true)
      k = g:map("(A < 1 ? 0 : (A - 1) / 2)", "int64", { counted })
    elseif float then
      local spoilt = g:reduce("any", g:map("A != A", "bool", { x }, x.dtype), { [axis] = true }, true)
      k = g:map("(A ? B : C)", "int64", { spoilt, g:fill(n - 1, {}, "int64"), k }, nil, { "bool" })
    end
    local function at(node) return g:reshape(g:pick(node, k, axis), op.out[1].shape) end
    return { at(values), #op.out > 1 and at(places) or nil }
  end
end

M.median, M.nanmedian = middle(false), middle(true)

-- Where each value has its place among sorted boundaries, by halving: as many steps as that takes, each for all.
local function searched(g, sorted, value, after)
  local rank = #sorted.shape
  local n, shape = sorted.shape[rank], value.shape
  local low, high = g:fill(0, shape, "int64"), g:fill(n, shape, "int64")
  for _ = 0, n > 0 and math.floor(math.log(n, 2)) or -1 do
    local mid = g:map("(A + (B - A) / 2 > C ? C : A + (B - A) / 2)", "int64", { low, high, g:fill(n - 1, {}, "int64") })
    local source = rank < #shape and g:view(sorted, index.with(shape, #shape, n), function(i) return { i[#shape] } end) or sorted
    local further = g:map(after and "!(A > B)" or "!(A >= B)", "bool", { g:pick(source, mid, #shape), value }, types.promote({ sorted, value }))
    local function step(line, a, b) return g:map(line, "int64", { further, low, high, a, b }, nil, { "bool" }) end
    low, high = step("(A && B < C ? D + 1 : B)", mid, mid), step("(!A && B < C ? D : C)", mid, mid)
  end
  return low
end

function M.searchsorted(g, op)
  local sorted, value = op.by.sorted_sequence, op.by.self
  if op.by.sorter or not value then return nil, "a sorter, or a number in place of the values, has no way here" end
  local shape = value.shape
  local found = searched(g, sorted, #shape == 0 and g:reshape(value, { 1 }) or value, op.args.right == true or op.args.side == "right")
  found = #shape == 0 and g:reshape(found, {}) or found
  return { op.out[1].dtype == "int64" and found or g:map("A", op.out[1].dtype, { found }, "int64") }
end

function M.bucketize(g, op)
  return M.searchsorted(g, { by = { sorted_sequence = op.by.boundaries, self = op.by.self }, args = op.args, out = op.out })
end

-- The place is the last one, up to here, of an element that is the extreme: the largest of such places.
local function extreme(name)
  return function(g, op)
    local x = op.x[1]
    if #x.shape == 0 then return { x, g:fill(0, {}, "int64") } end
    local axis = op.args.dim % #x.shape + 1
    local y = tools.is_summed(x.dtype) and x or g:map("A", "int32", { x })
    local run = g:scan(name, y, axis)
    local own = g:numbers(x.shape, axis)
    local hit = g:map("(A == B || (A != A && B != B) ? C : 0)", "int64", { y, run, own }, nil, { y.dtype, y.dtype })
    return { y == x and run or g:map("A", x.dtype, { run }, "int32"), g:scan("max", hit, axis) }
  end
end

M.cummax, M.cummin = extreme "max", extreme "min"

function M.logcumsumexp(g, op)
  local x = op.x[1]
  if #x.shape == 0 then return { x } end
  return { g:scan("logsumexp", x, op.args.dim % #x.shape + 1) }
end

return M
