-- recurrent: `wave`: layers of a recurrent net above one another become one kernel where that should be faster. A step of a layer waits only for
-- the same step of the layer below. The product of a layer's input weights with the layer below is then a part of the kernel.
-- `cells`: recurrent layers that need nothing of each other, as the two directions of one, become one kernel: their steps are done at the
-- same time.

local cell = require "cawb.compose.emit.cell.kernel"
local graphs = require "cawb.compose.ir.graph"
local lists = require "cawb.base.lists"

local M = { wave = {}, cells = {} }

local function alike(x, y) return x.op == y.op and x.dtype == y.dtype and graphs.same(x.shape, y.shape) end

-- The kernels of layers, each list from the lowest on.
local function chains(state)
  local found, of = {}, {}
  for _, k in ipairs(state.list) do
    local x = k.kind == "cell" and #k.roots == 1 and k.roots[1]
    local list = x and x.below and of[x.below.cell]
    if x and list and alike(x, x.below.cell) and #x.below.weight.shape == 2 and state.may(list[#list], k) then
      list[#list + 1], of[x] = k, list
    elseif x then
      of[x] = { k }
      found[#found + 1] = of[x]
    end
  end
  return found
end

local function together(list, first, last)
  local roots = lists.map({ table.unpack(list, first, last) }, function(k) return k.roots[1] end)
  return { kind = "cell", wave = #roots > 1 or nil, roots = roots, members = {} }
end

-- The fastest grouping of layers: for each number of layers, how many of the last ones run at the same time.
local function fastest(list, options)
  local best, many = { [0] = 0 }, {}
  for last = 1, #list do
    for n = 1, last do
      local time = cell.estimate(together(list, last - n + 1, last), options)
      if time and (not best[last] or best[last - n] + time < best[last]) then best[last], many[last] = best[last - n] + time, n end
    end
    if not best[last] then return nil end
  end
  return many
end

-- The kernels whose results nobody reads.
local function unread(state)
  local function is_read(x) return state:is_read_beside(x) end
  return lists.filter(state.list, function(k) return not lists.any(k.roots, is_read) end)
end

--- The layers that should run at the same time.
function M.wave.edges(state)
  local edges = {}
  for _, list in ipairs(chains(state)) do
    local many, last = #list > 1 and fastest(list, state.options), #list
    while many and last > 0 do
      local first = last - many[last] + 1
      if first < last then edges[#edges + 1] = { table.unpack(list, first, last) } end
      last = first - 1
    end
  end
  return edges
end

function M.wave.joined(state, edge)
  local both = together(edge, 1, #edge)
  return cell.accepts(both, nil, state.options.chip) and both
end

--- From here on a layer computes its product with the layer below by itself; nobody reads the separate product.
function M.wave.settle(state, edge, both)
  for l = 2, #both.roots do
    local x = both.roots[l]
    x.inputs = { x.below.weight, table.unpack(x.inputs, 2) }
    x.inputs[#x.inputs + 1] = x.below.bias
  end
  state:replace(edge, both)
  local gone = unread(state)
  while #gone > 0 do
    state:replace(gone)
    gone = unread(state)
  end
end

-- ---- cells

local function are_apart(a, b) return b.kind == "cell" and not a.wave and not b.wave and alike(a.roots[1], b.roots[1]) end

function M.cells.edges(state)
  local list = {}
  for i, a in ipairs(state.list) do
    for j = i + 1, a.kind == "cell" and #state.list or 0 do
      local b = state.list[j]
      if are_apart(a, b) then list[#list + 1] = { b, a } end
    end
  end
  return list
end

-- Both as one; nil where a block for each sequence does it.
function M.cells.joined(state, edge)
  local b, a = edge[1], edge[2]
  if state:needs(a, b) or not state.may(a, b) then return nil end
  local both = { kind = "cell", roots = lists.joined(a.roots, b.roots), members = {} }
  return cell.accepts(both, nil, state.options.chip) and both
end

return M
