-- longer_product: a weighted sum over the products of a batch becomes one product with longer sums. The batch dimension joins the summed
-- dimension, and the weights multiply one factor. So the products of the batch are not stored. Terms of the sum that are no
-- products stay beside it with their weights, so that a NaN stays.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local match = require "cawb.compose.ir.tree.match"
local view = require "cawb.compose.ir.view"
local views = require "cawb.compose.rewrite.views"

local M = { says = "a weighted sum of products is one product of longer sums" }

local LIGHT = 8        -- multiplications for each number of factors and result, up to which memory bounds a product
local MOST, REST = 64, 2        -- products of a sum, and its other terms, at most

-- The element that a node has at indices, through views that nobody else reads: { product, at = indices there } or { fill = number }.
local function seen(g, x, i)
  while x.kind == "view" do
    if #x.users > 1 or g.shown[x] then return nil end
    local one = views.piece_at(x, i)
    if not one or one.fill then return one end
    if not one.piece then return nil end
    x, i = x.inputs[one.piece.input], view.at(one.piece, i)
  end
  if x.kind == "product" then return #x.users == 1 and not g.shown[x] and not x.inputs[3] and { product = x, at = i } or nil end
  return x.source == "fill" and { fill = x.value } or nil
end

-- Which elements along the axis are products, as { first, count }, and of the others { place, fill }.
local function parts_of(g, x, axis, i)
  local first, count, rest = nil, 0, {}
  for c = 0, x.shape[axis] - 1 do
    local one = seen(g, x, index.with(i, axis, index.const(c)))
    if not one then return nil end
    if one.fill then rest[#rest + 1] = { place = c, fill = one.fill }
    else
      first = first or c
      if c ~= first + count then return nil end
      count = count + 1
    end
  end
  if count < 2 or #rest > REST then return nil end
  return { first = first, count = count, rest = rest }
end

local function uses_any(list, first, last, name)
  return lists.any({ table.unpack(list, first, last) }, function(e) return index.uses(e, name) end)
end

-- The dimensions that number the batches of the sum, and those of a product: { outer, inner }; nil where one is both.
local function dimensions(x, axis, p)
  local rank, outer, inner, size = #p.product.shape, {}, {}, 1
  if uses_any(p.at, rank - 1, rank, "q") then return nil end
  for d, n in ipairs(x.shape) do
    local is_outer, is_inner = uses_any(p.at, 1, rank - 2, "r" .. d), uses_any(p.at, rank - 1, rank, "r" .. d)
    if is_outer and is_inner then return nil end
    if d ~= axis and is_outer then outer[#outer + 1] = d
    elseif d ~= axis and n > 1 then inner[d], size = true, size * n end
  end
  local shape = p.product.shape
  if size ~= shape[rank - 1] * shape[rank] then return nil end
  return { outer = outer, inner = inner }
end

-- Which factor takes the weights: one that is known before the first call, or else the smaller one where that is small beside the results.
local function weighted(p, w)
  local a, b = p.inputs[1], p.inputs[2]
  local small = graphs.numel(a.shape) < graphs.numel(b.shape) and 1 or 2
  for _, k in ipairs { small, 3 - small } do
    if views.is_given(w) and views.is_given(p.inputs[k]) then return k end
  end
  return 2 * graphs.numel(p.inputs[small].shape) < graphs.numel(p.shape) and small or nil
end

-- One factor as the longer product has it: `side` 1 is (.., m, k), 2 is (.., k, n). `about` = { p, parts, outer, axis, shape of the sum }.
local function factor(g, about, side)
  local p, rank = about.p, #about.p.product.shape
  local x, long = p.product.inputs[side], #about.outer + (side == 1 and 2 or 1)
  local k = p.product.inputs[1].shape[rank]
  local shape = lists.map(about.outer, function(d) return about.shape[d] end)
  shape[#about.outer + 1], shape[#about.outer + 2] = x.shape[rank - 1], x.shape[rank]
  shape[long] = about.parts.count * k
  return g:view(x, shape, function(i)
    local values = { q = i[long] // k }
    for n, d in ipairs(about.outer) do values["r" .. d] = i[n] end
    local j = lists.times(rank - 2, function(d) return index.bind(p.at[d], values) end)
    j[rank - 1], j[rank] = i[#i - 1], i[#i]
    j[side == 1 and rank or rank - 1] = i[long] % k
    return j
  end), long
end

-- The weights of such a factor.
local function weights(g, about, w, like, long)
  local k = about.p.product.inputs[1].shape[#about.p.product.shape]
  return g:view(w, like.shape, function(i)
    local j = lists.times(#w.shape, function() return index.const(0) end)
    for n, d in ipairs(about.outer) do j[d] = i[n] end
    j[about.axis] = i[long] // k + about.parts.first
    return j
  end)
end

local function longer(g, x, about, w, k)
  local sides, rank = {}, #about.outer + 2
  for side = 1, 2 do
    local view, long = factor(g, about, side)
    sides[side] = side == k and g:map("A * B", x.dtype, { view, weights(g, about, w, view, long) }) or view
  end
  local shape = { table.unpack(sides[1].shape) }
  shape[rank] = sides[2].shape[rank]
  local m, n, terms = shape[rank - 1], shape[rank], sides[1].shape[rank]
  if m * n * terms > LIGHT * 2 * (m * terms + terms * n + m * n) then return nil end
  return g:node { kind = "product", own = true, inputs = sides, shape = shape, dtype = x.dtype }
end

-- The sum as a view of the longer product, plus the terms that are no products.
local function shown(g, x, about, w, y)
  local at, p, axis = about.p.at, about.p.product, about.axis
  local all = g:view(y, x.shape, function(i)
    local values = {}
    for d in ipairs(about.shape) do if d ~= axis then values["r" .. d] = i[d < axis and d or d - 1] end end
    local j = lists.map(about.outer, function(d) return values["r" .. d] end)
    for k = #p.shape - 1, #p.shape do j[#j + 1] = index.bind(at[k], values) end
    return j
  end)
  for _, one in ipairs(about.parts.rest) do
    local weight = g:view(w, x.shape, function(i)
      local j = { table.unpack(i) }
      table.insert(j, axis, index.const(one.place))
      return j
    end)
    all = g:map("A + B * C", x.dtype, { all, weight, g:fill(one.fill, {}, x.dtype) })
  end
  return all
end

-- The sum of v times w along the axis, where v shows products.
local function attempt(g, x, v, w, axis)
  local i = view.variables(v.shape)
  local parts = parts_of(g, v, axis, i)
  local p = parts and seen(g, v, index.with(i, axis, index.plus(index.var("q", parts.count), parts.first)))
  if not p or not p.product or p.product.dtype ~= x.dtype then return nil end
  local d = dimensions(v, axis, p)
  if not d or #d.outer == 0 or not views.is_constant(w, d.inner) then return nil end
  if not views.is_batched_alike(p.product.inputs[1], p.product.inputs[2]) then return nil end
  local k = weighted(p.product, w)
  local about = { p = p, parts = parts, outer = d.outer, axis = axis, shape = v.shape }
  local y = k and longer(g, x, about, w, k)
  return y and shown(g, x, about, w, y)
end

function M.apply(g, x)
  local map = views.is_sum(x) and not x.about and x.inputs[1]
  local axis = map and next(x.axes)
  if not axis or next(x.axes, axis) or #x.shape ~= #map.shape - 1 or map.shape[axis] > MOST then return nil end
  if map.kind ~= "map" or not match.is(map.expression, "A * B") or #map.users > 1 or g.shown[map] or not views.is_real(x) then return nil end
  for k, input in ipairs(map.inputs) do
    if input.dtype ~= x.dtype then return nil end
    local y = input.kind == "view" and attempt(g, x, input, map.inputs[3 - k], axis)
    if y then return y end
  end
end

return M
