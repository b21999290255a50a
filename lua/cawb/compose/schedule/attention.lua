-- attention: finds attention in a graph and makes one kernel of it, instead of the three or more that partition made. Attention is
-- softmax(scores) v, however it is written, whose scores follow from a product element by element.

local accesses = require "cawb.compose.emit.accesses"
local generators = require "cawb.compose.schedule.generators"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local kernels = require "cawb.compose.schedule.kernels"
local lists = require "cawb.base.lists"
local match = require "cawb.compose.ir.tree.match"
local softmax = require "cawb.compose.ir.softmax"
local views = require "cawb.compose.ir.view"

local M = {}

-- Indices of batch, row and column in a shape, the batch counted through.
local function places(shape)
  local rank = #shape
  return accesses.in_batch(shape, index.var("row", shape[rank - 1]), index.var("column", shape[rank]))
end

-- The only product that a node follows from through maps and views; nil if there is none, or a second product.
local function product_below(x, found)
  if x.kind == "product" then return (not found or found == x) and x or false end
  for _, input in ipairs((x.kind == "map" or x.kind == "view") and x.inputs or {}) do
    local one = product_below(input, found)
    if one == false then return false end
    found = one or found
  end
  return found
end

-- All nodes between the product `first` and x, both among them, as a set.
local function between(first, x)
  local reaches = {}
  local function visit(y)
    if reaches[y] == nil then reaches[y] = y == first or #lists.filter(y.inputs, visit) > 0 end
    return reaches[y]
  end
  visit(x)
  for y, yes in pairs(reaches) do
    if not yes then reaches[y] = nil end
  end
  return reaches
end

-- Whether nobody but x and they themselves read these nodes.
local function are_private(set, x)
  for y in pairs(set) do
    if y.is_output or lists.any(y.users, function(user) return user ~= x and not set[user] end) then return false end
  end
  return true
end

local casts = { "A", "float16(A)", "bfloat16(A)" }

-- The weights as they were computed, where they are another type for their product: a softmax of 16-bit numbers is in float32.
local function without_casts(p)
  local function is_cast(line) return match.is(p.expression, line) end
  while p.kind == "map" and lists.any(casts, is_cast) and #p.inputs == 1 do p = p.inputs[1] end
  return p
end

-- The attention whose second product is x: { first, scores, finite, inside = set of nodes }, or nil.
local function found_in(x)
  local p, i = views.below(x.inputs[1], places(x.inputs[1].shape))
  p = without_casts(p)
  if #p.shape < 2 or not index.same(i, places(p.shape)) then return nil end
  local scores, finite = softmax.of(p, places(p.shape))
  local first = scores and graphs.same(scores.shape, p.shape) and product_below(scores)
  if not first then return nil end
  local inside = between(first, x.inputs[1])
  local rank = #first.shape
  if not are_private(inside, x) or first.shape[rank] ~= p.shape[#p.shape] or first.shape[rank - 1] ~= p.shape[#p.shape - 1]
    or graphs.numel(first.shape) ~= graphs.numel(p.shape) then
    return nil
  end
  return { first = first, scores = scores, finite = finite, inside = inside }
end

-- The kernels that make only these nodes; nil if one makes other nodes too.
local function makers(state, inside)
  local function is_inside(x) return inside[x] end
  local list = lists.filter(state.list, function(k) return lists.any(k.roots, is_inside) end)
  return lists.all(list, function(k) return lists.all(k.roots, is_inside) end) and list or nil
end

-- Whether eight neighbours of a factor's row lie in 16 bytes of the tensor that a copy shows. `turned`: as the keys' rows.
local function lies_in_rows(copy, turned)
  local rank = #copy.shape
  local depth, rows = copy.shape[turned and rank - 1 or rank], copy.shape[turned and rank or rank - 1]
  if depth % 8 ~= 0 then return false end
  local row, first = index.var("row", rows), nil
  for lane = 0, 7 do
    local k = index.plus(index.scale(index.var("eight", depth // 8), 8), lane)
    local x, i = views.below(copy, turned and accesses.in_batch(copy.shape, k, row) or accesses.in_batch(copy.shape, row, k), function(y)
      return y ~= copy and y.stored
    end)
    local place = x ~= copy and x.strides and index.place(i, x.strides, x.offset)
    if not place or first and place.key ~= index.plus(first, lane).key then return false end
    first = first or place
  end
  return index.divisible(first, 8)
end

-- Copies of 16-bit factors that the kernel can do without, and the kernels that make them. Blocks read rows again and again: a copy in
-- another order of elements would make each row a walk through memory.
local function copies(state, found, x)
  local list = {}
  for turned, factor in pairs { [0] = found.first.inputs[1], [1] = found.first.inputs[2], [2] = x.inputs[2] } do
    local k = factor.stored and factor.kind == "view" and factor.dtype ~= "float32" and state:owner(factor)
    if k and #k.roots == 1 and state:only_reader(factor) and lies_in_rows(factor, turned == 1) then list[factor] = k end
  end
  return list
end

--- Kernels of products, each of which may be the second product of attention.
function M.edges(state)
  local options, list = state.options, {}
  if options.attend == false or options.tensor_cores == false or not options.chip.tensor then return list end
  for _, k in ipairs(state.list) do
    local x = kernels.anchor(k)
    if k.kind == "product" and x.kind == "product" then list[#list + 1] = { k, about = x } end
  end
  return list
end

function M.joined(state, edge)
  local k = edge[1]
  local found = found_in(edge.about)
  if not found or not makers(state, found.inside) or not state.may(state:owner(found.scores) or state:owner(found.first), k, true) then return nil end
  found.copies = copies(state, found, edge.about)
  local within = lists.copy(found.inside)
  for y in pairs(found.copies) do within[y] = true end
  local one = { kind = "attend", roots = k.roots, members = { edge.about }, attend = found, within = within }
  return generators.accepts(one, state.options) and one
end

function M.settle(state, edge, one)
  local gone = makers(state, one.attend.inside)
  for y, maker in pairs(one.attend.copies) do
    gone[#gone + 1], y.stored, y.strides = maker, nil, nil
  end
  gone[#gone + 1] = edge[1]
  for y in pairs(one.attend.inside) do y.stored, y.strides = nil, nil end
  state:replace(gone, one)
end

return M
