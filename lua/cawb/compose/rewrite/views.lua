-- views: questions of rewrite rules about views; nodes with dimensions left out.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local prepared = require "cawb.compose.ir.prepared"
local view = require "cawb.compose.ir.view"

local M = {}

--- What a node shows of another one, where it is a view of it without guards, else of itself: { node, at = the place there of
--- an element }.
function M.shown(x)
  local piece = view.plain(x)
  if piece then return { node = x.inputs[1], at = function(i) return view.at(piece, i) end } end
  return { node = x, at = function(i) return i end }
end

--- The piece of a view that shows the element: { piece } or { fill = }; nil if it differs from element to element.
function M.piece_at(x, i)
  for _, piece in ipairs(x.pieces) do
    local least, most = 0, 0
    for _, e in ipairs(view.guards(piece, i)) do least, most = math.min(least, e.lo), math.min(most, e.hi) end
    if least >= 0 then return { piece = piece } end
    if most >= 0 then return nil end
  end
  return { fill = x.fill }
end

function M.is_sum(x) return x.kind == "reduce" and x.op == "sum" end

--- Whether a node is of float32 or float64: 16-bit numbers would be rounded in other places.
function M.is_real(x) return x.dtype == "float32" or x.dtype == "float64" end

--- The number that a node is everywhere; nil where it is none.
function M.number(x)
  local node = M.shown(x).node
  return node.kind == "leaf" and node.source == "fill" and math.type(node.value) and node.value or nil
end

--- Whether factors have the same dimensions ahead of their rows and columns.
function M.is_batched_alike(...)
  local function ahead(x) return { table.unpack(x.shape, 1, #x.shape - 2) } end
  local first = ahead(...)
  return lists.all({ ... }, function(x) return graphs.same(ahead(x), first) end)
end

--- Sums y of `count` results each of a convolution x, with its bias as often.
function M.biased(g, x, y, count)
  local bias = x.inputs[3]
  return bias and g:map("A + B * C", x.dtype, { y, g:vector(bias, 2, #y.shape), g:fill(count, {}, x.dtype) }) or y
end

-- Inner dimension d of a view with the outer ones whose variables its place has, in a lot; false where they are in two.
local function add(x, at, d, of, list)
  local used = lists.filter(lists.times(#x.shape, function(e) return e end), function(e) return index.uses(at[d], "r" .. e) end)
  local lot = of[lists.first(used, function(e) return of[e] end)]
  if lists.any(used, function(e) return of[e] and of[e] ~= lot end) then return false end
  if not lot then
    lot = { inner = {}, outer = {} }
    list[#list + 1] = lot
  end
  lot.inner[#lot.inner + 1] = d
  for _, e in ipairs(used) do
    if not of[e] then lot.outer[#lot.outer + 1] = e end
    of[e] = lot
  end
  return true
end

-- Whether a lot shows each of its elements once, in order.
local function is_whole(lot, x, at, i)
  table.sort(lot.outer)
  local function of(list, numbers) return lists.map(numbers, function(d) return list[d] end) end
  local inner, outer = of(x.inputs[1].shape, lot.inner), of(x.shape, lot.outer)
  local a, b = index.ravel(of(at, lot.inner), inner), index.ravel(of(i, lot.outer), outer)
  return graphs.numel(inner) == graphs.numel(outer) and a.key == b.key
end

--- For a view that only regroups dimensions and shows all elements equally often: the groups of dimensions that belong together,
--- { inner = { dimensions of the tensor below }, outer = { the view's own } }. Dimensions of one element are in no group. Nil for any
--- other view.
function M.lots(x)
  if not view.plain(x) then return nil end
  local i, at, of, list = view.variables(x.shape), x.pieces[1].at, {}, {}
  local function is_in_lot(n, d)
    if n == 1 then return index.number(at[d]) == 0 end
    return n == 0 or add(x, at, d, of, list)
  end
  local regroups = lists.all(x.inputs[1].shape, is_in_lot) and lists.all(list, function(lot) return is_whole(lot, x, at, i) end)
  return regroups and list or nil
end

--- Whether a list of expressions has none of the variables of the axes.
function M.free(expressions, axes)
  return not lists.any(expressions, function(e)
    for d in pairs(axes) do if index.uses(e, "r" .. d) then return true end end
  end)
end

--- Whether a node is the same all along the axes.
function M.is_constant(x, axes)
  local is_long = lists.any(x.shape, function(n, d) return axes[d] and n > 1 end)
  if not is_long or x.kind == "leaf" and x.source == "fill" then return true end
  if x.kind == "map" then return lists.all(x.inputs, function(input) return M.is_constant(input, axes) end) end
  if x.kind ~= "view" or #x.pieces ~= 1 then return false end
  return M.free(x.pieces[1].at, axes) and M.free(x.pieces[1].guards, axes)
end

--- The numbers of the operands that vary along the axes.
function M.varying(x, axes)
  return table.unpack(lists.filter(lists.times(#x.inputs, function(k) return k end), function(k) return not M.is_constant(x.inputs[k], axes) end))
end

--- Whether a node follows from parameters and numbers alone. `known`: a table that keeps what was found, of a graph that does not change.
function M.is_fixed(x, known)
  known = known or {}
  if known[x] == nil then
    known[x] = x.kind ~= "leaf" or not x.source:find "^input:"
    for _, y in ipairs(x.inputs) do known[x] = known[x] and M.is_fixed(y, known) end
  end
  return known[x]
end

--- Whether nothing but parameters and constants is below a node: it may be known before the first call.
function M.is_given(x) return M.is_fixed(x) and graphs.all(x, function(y) return y.kind == "leaf" or prepared.kinds[y.kind] end) end

--- Whether only these reduces read x, directly or through views and maps.
function M.ends_in(g, x, set)
  return not lists.any(g.outputs, function(output) return output == x end) and lists.all(x.users, function(user)
    return set[user] or (user.kind == "view" or user.kind == "map") and M.ends_in(g, user, set)
  end)
end

-- The elements of a list, as a shape, beside those along the axes.
local function left(shape, axes) return lists.filter(shape, function(_, d) return not axes[d] end) end

--- Indices of `rank` dimensions, the first along the axes, where those of the others are these.
function M.first_along(axes, rank, i)
  local j, k = {}, 0
  for d = 1, rank do
    k = k + (axes[d] and 0 or 1)
    j[d] = axes[d] and index.const(0) or i[k]
  end
  return j
end

--- The first element along each of the axes, which are gone then.
function M.dropped(g, x, axes)
  if not next(axes) then return x end
  return g:view(x, left(x.shape, axes), function(i) return M.first_along(axes, #x.shape, i) end)
end

--- Sums over the axes of a view: the set of inner dimensions that are summed, and how often each element is counted. Nil if only a
--- part of a group were summed.
function M.inner(x, list, axes)
  local gone, times, seen = {}, 1, {}
  for _, lot in ipairs(list) do
    local lost = lists.sum(lot.outer, function(e) return axes[e] and 1 or 0 end)
    for _, e in ipairs(lot.outer) do seen[e] = true end
    if lost > 0 and lost < #lot.outer then return nil end
    for _, d in ipairs(lost > 0 and lot.inner or {}) do gone[d] = true end
  end
  for e in pairs(axes) do
    if not seen[e] then times = times * x.shape[e] end
  end
  return gone, times
end

--- View x of `sum` in place of the tensor below x. `sum` lacks the dimensions `gone`, and the view lacks its `axes`.
function M.spread(g, sum, x, axes, gone)
  return g:view(sum, left(x.shape, axes), function(i) return left(view.at(x.pieces[1], M.first_along(axes, #x.shape, i)), gone) end)
end

return M
