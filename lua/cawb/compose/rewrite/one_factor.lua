-- one_factor: products of one tensor with several matrices of parameters, as those of queries, keys and values, are one product with these
-- matrices beside each other, which is made before the first call. A small product has too few tiles for the device, and each is a
-- launch of its own. No result changes: each is a sum of the same terms.

local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local store = require "cawb.compose.ir.store"
local views = require "cawb.compose.rewrite.views"

local M = { says = "products of one factor are one product" }

local SMALL = 1 << 20        -- results of a product, up to which it is joined with others: a larger one fills the device
local MOST = 1 << 25         -- numbers of the matrices, which are stored a second time

local function is_fit(x)
  local a, b, bias = x.inputs[1], x.inputs[2], x.inputs[3]
  return x.kind == "product" and x.dtype:find "float" and a.dtype == x.dtype and #x.shape == 2 and x.shape[1] * x.shape[2] <= SMALL
    and views.is_given(b) and not views.is_given(a) and (not bias or #bias.shape == 1 and bias.dtype == x.dtype and views.is_given(bias))
end

-- Equal for products of one factor that are made alike.
local function key(x)
  local a = x.inputs[1]
  return table.concat({ a.kind == "view" and store.view(a) or "%" .. a.id, table.concat(a.shape, " "), x.dtype, tostring(x.own) }, ";")
end

local function columns(x) return x.shape[2] end

--- Lists of products that may be one, in the order of the graph.
function M.groups(g)
  return lists.filter(lists.groups(lists.filter(g.nodes, is_fit), key), function(group)
    return #group > 1 and lists.sum(group, columns) * group[1].inputs[1].shape[2] <= MOST
  end)
end

local function beside(g, group, side, axis, width)
  local parts = lists.map(group, function(x) return x.inputs[side] or g:fill(0, { x.shape[2] }, x.dtype) end)
  local all = g:concatenate(parts, axis, index.with(parts[1].shape, axis, width))
  all.wanted = true                    -- as a library takes it
  return all
end

--- What each product of a group becomes: its columns of the one product.
function M.joined(g, group)
  local first, width, past = group[1], lists.sum(group, columns), 0
  local has_bias = lists.any(group, function(x) return x.inputs[3] end)
  local both = g:product(first, first.inputs[1], beside(g, group, 2, 2, width), has_bias and beside(g, group, 3, 1, width) or nil)
  return lists.map(group, function(x)
    past = past + x.shape[2]
    return g:slice(both, 2, past - x.shape[2], x.shape[2])
  end)
end

return M
