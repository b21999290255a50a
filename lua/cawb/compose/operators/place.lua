-- Operators that put elements at places which whole numbers name: for each element, as scatters; those of a list along one
-- axis as scatters with that list repeated.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"
local views = require "cawb.compose.ir.view"

local M = {}

-- ---- sums of the elements whose key is their place: the elements are put in the order of their keys, and each place then sums those that
-- lie together. What every place would otherwise compare with every key takes as many steps as there are results

local FEW = 1 << 24        -- comparisons that take no longer than a sort and its launches

-- The keys once, of dimensions along which they are the same everywhere.
local function without_repeats(g, keys, axis)
  local piece = views.plain(keys)
  if not piece then return keys end
  local function is_used(d) return d == axis or lists.any(piece.at, function(e) return index.uses(e, "r" .. d) end) end
  local shape = lists.map(keys.shape, function(n, d) return is_used(d) and n or 1 end)
  return g:view(keys, shape, function(i) return i end)
end

local function pays(shape, keys, axis)
  return graphs.same(index.with(shape, axis, keys.shape[axis]), keys.shape) and graphs.numel(shape) * keys.shape[axis] > FEW
end

-- For each place of a shape the sum of `terms` whose keys, along the axis, are its own there; nil where comparisons are faster, or where
-- there are fewer keys beside the axis. Terms have the shape of the keys, or are more, which do not count.
local function sums(g, shape, keys, terms, axis)
  if not tools.is_summed(terms.dtype) or not pays(shape, keys, axis) then return nil end
  local few = without_repeats(g, keys, axis)
  local places = g:node { kind = "order", inputs = { few }, axis = axis, largest = false, shape = few.shape, dtype = "int64" }
  local sorted = g:pick(few, places, axis)
  sorted.wanted = true
  local values = g:pick(g:view(terms, keys.shape, function(i) return i end), g:broadcast(places, keys.shape), axis)
  return g:node { kind = "segment", inputs = { values, sorted }, axis = axis, shape = shape, dtype = terms.dtype }
end

-- ---- scatters

-- For each element of x and each k along the axis of `at`: whether k puts something there.
local function hits(g, x, at, axis)
  local wide = { table.unpack(x.shape) }
  wide[#wide + 1] = at.shape[axis]
  local shorter = lists.filter(lists.times(#at.shape, function(d) return d end), function(d) return d ~= axis and at.shape[d] < x.shape[d] end)
  local function guard(i) return lists.map(shorter, function(d) return index.back(i[d], at.shape[d]) end) end
  local function spread(node, fill)
    return g:view(node, wide, function(i) return index.with({ table.unpack(i, 1, #x.shape) }, axis, i[#wide]) end, guard, fill)
  end
  local own = g:numbers(wide, axis)
  local hit = g:map("A == B", "bool", { spread(at, -1), own }, "int64")
  return hit, spread, #wide
end

-- How values that are put at an element join it: the reduce, its neutral value, and the old element A with the reduced values B.
local joins = { amax = { "max", "-inf", "maximum(A, B)" }, amin = { "min", "inf", "minimum(A, B)" },
                prod = { "prod", 1, "A * B" }, mean = { "sum", 0, "A + B" } }
joins.multiply, joins.sum = joins.prod, { "sum", 0, "A + B" }

-- The elements x joined with the terms that hit them; without `own` those that are hit do not count themselves.
local function folded(g, x, hit, terms, last, how, own)
  local way = joins[how]
  if how == "mean" and not x.dtype:find "float" then return nil, "a mean of whole numbers is rounded in a way of its own" end
  local over, start = { [last] = true }, way[2]
  if type(start) == "string" and not x.dtype:find "float" then return nil, "it joins whole numbers by " .. how end
  local counted = g:map("(A ? B : C)", x.dtype, { hit, terms, g:fill(start, {}, x.dtype) }, nil, { "bool" })
  local red, any = g:reduce(way[1], counted, over), g:reduce("any", hit, over)
  local result = own and g:map(way[3], x.dtype, { x, red }) or red
  if how == "mean" then
    local n = g:reduce("sum", g:map("A ? 1 : 0", x.dtype, { hit }, "bool"), over)
    result = g:map(own and "A / (B + 1)" or "A / B", x.dtype, { result, n })
  end
  return g:map("(A ? B : C)", x.dtype, { any, result, x }, nil, { "bool" })
end

-- Every element looks for the values that are put there, so that the order of a sum is always the same. Many values are sorted.
local function scatter(join)
  return function(g, op)
    local x, at, source = op.x[1], op.by.index, op.by.src or op.by.source
    if #x.shape == 0 then return nil, "its tensors have no dimensions" end
    local axis, how = op.args.dim % #x.shape + 1, join or op.args.reduce
    local is_sum = (how == "add" or how == "sum") and op.args.include_self ~= false
    local more = is_sum and sums(g, x.shape, at, source, axis)
    if more then return { g:map("A + B", x.dtype, { x, more }) } end
    local hit, spread, last = hits(g, x, at, axis)
    local over = { [last] = true }
    if is_sum then
      local terms = g:map("(A ? B : 0)", x.dtype, { hit, spread(source, 0) }, nil, { "bool" })
      return { g:map("A + B", x.dtype, { x, g:reduce("sum", terms, over) }) }
    elseif how then return { folded(g, x, hit, spread(source, 0), last, how, op.args.include_self ~= false) } end
    local any = g:reduce("any", hit, over)
    local value = source
    if source then
      local ranks = g:map("(A ? B : -1)", "int64", { hit, g:numbers(hit.shape, last) }, nil, { "bool" })
      local k = g:map("(A < 0 ? 0 : A)", "int64", { g:reduce("max", ranks, over) })
      value = g:pick(spread(source, 0), k, last)
    else value = g:fill(op.args.value, x.shape, x.dtype) end
    return { g:map("(A ? B : C)", x.dtype, { any, value, x }, nil, { "bool" }) }
  end
end

M.scatter, M.scatter_add, M.scatter_reduce = scatter(nil), scatter "add", scatter(nil)

-- The list along one axis of x, repeated along the others.
local function spread(g, x, list, axis)
  return g:broadcast(g:vector(list, axis, #x.shape), index.with(x.shape, axis, list.shape[1]))
end

-- The operator on an x with dimensions; `source(list)` returns the node that is put there, or nil.
local function put(join, source)
  return function(g, op)
    local x, list = op.x[1], op.by.index
    if #x.shape == 0 or #list.shape > 1 then return nil, "its tensors have no dimensions" end
    local axis = op.args.dim % #x.shape + 1
    if #list.shape == 0 then list = g:reshape(list, { 1 }) end
    local at = spread(g, x, list, axis)
    local by, args = { index = at }, { dim = axis - 1, reduce = op.args.reduce, include_self = op.args.include_self }
    by.src, args.value = source(g, op, at)
    return M[join](g, { x = { x }, by = by, args = args, out = op.out })
  end
end

M.index_fill = put("scatter", function(g, op, at)
  if op.args.value ~= nil then return nil, op.args.value end
  return g:broadcast(tools.taken(g, op.by.value, op.x[1].dtype), at.shape)
end)

local function source_of(_, op) return op.by.source end

M.index_copy, M.index_reduce = put("scatter", source_of), put("scatter_reduce", source_of)

M.index_add = put("scatter_add", function(g, op)
  local source, alpha = op.by.source, op.args.alpha
  if alpha == nil or alpha == 1 then return source end
  return g:map("A * B", source.dtype, { source, g:fill(alpha, {}, source.dtype) })
end)

-- A list of dimensions with the `count` of them behind the first `ahead` in front, and the way back.
local function to_front(rank, ahead, count)
  local all, back = lists.times(rank, function(d) return d end), {}
  local order = lists.joined({ table.unpack(all, ahead + 1, ahead + count) }, { table.unpack(all, 1, ahead) }, { table.unpack(all, ahead + count + 1) })
  for d, from in ipairs(order) do back[from] = d end
  return order, back
end

-- x[:, a, b, ...] = values: the same with these dimensions in front.
local function put_behind(g, op, x, values, list, ahead)
  local rank, width = #graphs.together(list), #list
  local shape = lists.joined({ table.unpack(x.shape, 1, ahead) }, graphs.together(list), { table.unpack(x.shape, ahead + width + 1) })
  local order, back = to_front(#x.shape, ahead, width)
  local turned, put = g:permute(x, order), g:permute(g:broadcast(values, shape), (to_front(#shape, ahead, rank)))
  local made, why = M.index_put(g, { x = { turned, table.unpack(list) }, by = { self = turned, values = put }, values = put, given = {}, args = op.args, out = op.out })
  return made and { g:permute(made[1], back) }, why
end

-- For each element of x the value that is put there where a mask of the first dimensions is set; `behind`: the dimensions behind them. One for all, or one
-- after the other; nil where they have more dimensions.
local function put_values(g, x, values, mask, behind)
  local extra = #values.shape - #behind
  if graphs.numel(values.shape) == 1 then return g:broadcast(g:reshape(values, {}), x.shape) end
  if extra > 1 then return nil end
  if extra < 1 then return g:broadcast(values, x.shape) end
  local n, count = values.shape[1], graphs.numel(mask.shape)
  if n == 1 then return g:broadcast(g:reshape(values, { table.unpack(values.shape, 2) }), x.shape) end
  local shape = lists.joined({ count }, behind)
  local at = g:broadcast(g:vector(tools.in_turn(g, g:flat(mask), n), 1, #shape), shape)
  return g:reshape(g:pick(g:broadcast(values, lists.joined({ n }, behind)), at, 1), x.shape)
end

-- x[mask] = values.
local function put_where(g, op, x, values, mask)
  local behind = { table.unpack(x.shape, #mask.shape + 1) }
  if graphs.numel(values.shape) == 0 then return { x } end
  local put = put_values(g, x, values, mask, behind)
  if not put then return nil, "values of more dimensions than a mask shows" end
  local wide = lists.joined(mask.shape, lists.map(behind, function() return 1 end))
  local set = g:broadcast(g:reshape(mask, wide), x.shape)
  return { g:map(op.args.accumulate and "(A ? B + C : C)" or "(A ? B : C)", x.dtype, { set, put, x }, nil, { "bool" }) }
end

-- x[a, b, ...] = values, of index tensors for dimensions beside each other, or of a mask.
function M.index_put(g, op)
  local x, values = op.by.self or op.x[1], op.by.values or op.x[#op.x]
  local given, list, ahead = op.given.indices or {}, { table.unpack(op.x, 2, op.values and #op.x or #op.x - 1) }, 0
  while given[ahead + 1] == false do ahead = ahead + 1 end
  if #list == 1 and list[1].dtype == "bool" and ahead == 0 then return put_where(g, op, x, values, list[1]) end
  if lists.any(list, function(at, k) return given[ahead + k] == false or at.dtype == "bool" end) then
    return nil, "its index tensors are not whole numbers for dimensions beside each other"
  end
  if ahead > 0 then return put_behind(g, op, x, values, list, ahead) end
  local together = graphs.together(list)
  local all, at = tools.flattened(g, x, lists.map(list, function(one) return g:broadcast(one, together) end), 1)
  local behind = { table.unpack(x.shape, #list + 1) }
  local shape, rows = lists.joined(together, behind), { graphs.numel(together), table.unpack(behind) }
  local source = g:reshape(g:broadcast(values, shape), rows)
  local made, why = M[op.args.accumulate and "index_add" or "index_copy"](g, { x = { all }, by = { index = g:flat(at), source = source },
    args = { dim = 0 }, out = op.out })
  return made and { g:reshape(made[1], x.shape) }, why
end
M._unsafe_index_put, M._index_put_impl = M.index_put, M.index_put

-- Elements at their places in the planes of a larger tensor that is 0 elsewhere.
local function unpooled(dims)
  return function(g, op)
    local x, at, out = op.x[1], op.by.indices, op.out[1].shape
    local lots = graphs.numel { table.unpack(out, 1, #out - dims) }
    local place = graphs.numel { table.unpack(out, #out - dims + 1) }
    local few = { lots, graphs.numel(x.shape) // math.max(lots, 1) }
    local made = M.scatter(g, { x = { g:fill(0, { lots, place }, x.dtype) }, by = { index = g:reshape(at, few), src = g:reshape(x, few) },
      args = { dim = 1 }, out = op.out })
    return { g:reshape(made[1], out) }
  end
end

M.max_unpool2d, M.max_unpool3d = unpooled(2), unpooled(3)

return M
