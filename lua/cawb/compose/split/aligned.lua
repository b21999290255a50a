-- aligned: further sums over the input of a norm's mean, such as sums of channels in a group, or of each image's channels in a
-- batch. If the norm's rows are read in parts, such a sum is made of the sums of parts, and the tensor is read once.

local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local tools = require "cawb.compose.operators.tools"
local view = require "cawb.compose.ir.view"
local views = require "cawb.compose.rewrite.views"

local M = {}

-- The place of a column of a row in the tensor that a reduce reads through a view.
local function place(x, row, column)
  local from = views.shown(x.inputs[1])
  local at = expression.merged({ inputs = x.inputs, axes = x.axes }, row, index.unravel(column, expression.axes(x)))
  return index.ravel(from.at(at), from.node.shape)
end

-- Orders of the dimensions of a shape, those of size one left out.
local function orders(shape)
  local all = { {} }
  for d, n in ipairs(shape) do
    local longer = {}
    for _, order in ipairs(n > 1 and all or {}) do
      for at = #order + 1, 1, -1 do
        local more = { table.unpack(order) }
        table.insert(more, at, d)
        longer[#longer + 1] = more
      end
    end
    all = n > 1 and longer or all
  end
  return all
end

local function number(i, shape, order)
  return index.ravel(lists.map(order, function(d) return i[d] end), lists.map(order, function(d) return shape[d] end))
end

-- The order of r's dimensions in which its rows, one after the other, are the rows of `sum`; nil where there is none.
local function order_of(r, sum)
  local n, long = tools.count(r.inputs[1].shape, r.axes), tools.count(sum.inputs[1].shape, sum.axes)
  local i, column = view.variables(r.shape), index.var("c", n)
  local own = place(r, i, column).key
  for _, order in ipairs(#r.shape <= 4 and orders(r.shape) or {}) do
    local v = index.add(column, number(i, r.shape, order), n)
    if place(sum, index.unravel(index.div(v, long), sum.shape), index.mod(v, long)).key == own then return order end
  end
end

local function fits(r, sum)
  if r == sum or not views.is_sum(r) or r.dtype ~= sum.dtype or r.about then return false end
  if views.shown(r.inputs[1]).node ~= views.shown(sum.inputs[1]).node then return false end
  local n, long = tools.count(r.inputs[1].shape, r.axes), tools.count(sum.inputs[1].shape, sum.axes)
  return n > 1 and n < long and long % n == 0 and graphs.numel(r.shape) * n == graphs.numel(sum.shape) * long
end

--- The sums of a graph, by the node that they read, to be asked below; sums that come later are seen too.
function M.sums(g)
  local self = { nodes = g.nodes, seen = 0, by = {}, means = {} }
  for _, y in ipairs(g.nodes) do
    if y.about then self.means[y.about] = true end
    if y.rest then self.means[y.rest] = true end
  end
  return self
end

local function of_node(self, node)
  for k = self.seen + 1, #self.nodes do
    local r = self.nodes[k]
    local from = views.is_sum(r) and views.shown(r.inputs[1]).node
    if from then
      self.by[from] = self.by[from] or {}
      table.insert(self.by[from], r)
    end
  end
  self.seen = #self.nodes
  return self.by[node] or {}
end

--- Sums of the same elements as `sum`, of whole parts of its rows: { { node, order, n = elements of each } }.
function M.of(self, sum)
  local list = {}
  for _, r in ipairs(of_node(self, views.shown(sum.inputs[1]).node)) do
    local order = fits(r, sum) and not self.means[r] and order_of(r, sum)
    if order then list[#list + 1] = { node = r, order = order, n = tools.count(r.inputs[1].shape, r.axes) } end
  end
  return list
end

--- Make a sum of that list from the sums of parts, of `size` elements each.
function M.take(g, one, sums, size)
  local r, shape, rank = one.node, { table.unpack(one.node.shape) }, #one.node.shape
  shape[rank + 1] = one.n // size
  r.inputs = { g:view(sums, shape, function(i)
    return index.unravel(index.add(i[rank + 1], number(i, r.shape, one.order), shape[rank + 1]), sums.shape)
  end) }
  r.axes = { [rank + 1] = true }
end

--- Whether nothing but these sums and those of the norm needs the elements: then they need not stay on a chip.
function M.are_all(g, squares, list)
  local sum = squares.about
  local set, u = { [squares] = true, [sum] = true }, views.shown(sum.inputs[1]).node
  if squares.rest then set[squares.rest] = true end
  for _, one in ipairs(list) do set[one.node] = true end
  return views.ends_in(g, u, set)
end

return M
