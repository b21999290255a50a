-- Sums of the elements whose key is their place: the elements are put in the order of their keys, and each place then sums those that
-- lie together. What every place would otherwise compare with every key takes as many steps as there are results.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"
local views = require "cawb.compose.ir.view"

local M = {}

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

--- For each place of a shape the sum of `terms` whose keys, along the axis, are its own there; nil where comparisons are faster, or where
--- there are fewer keys beside the axis. Terms have the shape of the keys, or are more, which do not count.
function M.sum(g, shape, keys, terms, axis)
  if not tools.is_summed(terms.dtype) or not pays(shape, keys, axis) then return nil end
  local few = without_repeats(g, keys, axis)
  local places = g:node { kind = "order", inputs = { few }, axis = axis, largest = false, shape = few.shape, dtype = "int64" }
  local sorted = g:pick(few, places, axis)
  sorted.wanted = true
  local values = g:pick(g:view(terms, keys.shape, function(i) return i end), g:broadcast(places, keys.shape), axis)
  return g:node { kind = "segment", inputs = { values, sorted }, axis = axis, shape = shape, dtype = terms.dtype }
end

return M
