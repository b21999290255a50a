-- partition: which nodes are stored, and which kernel computes them. Products, scans and sorts are
-- kernels of their own. A reduce over long rows is one that others over the same rows join (over_rows.lua), and so
-- do maps over these rows. Everything else is a stream, computed into its readers where that is cheap.

local cost = require "cawb.compose.ir.tree.cost"
local graphs = require "cawb.compose.ir.graph"
local lists = require "cawb.base.lists"
local prepared = require "cawb.compose.ir.prepared"
local rows = require "cawb.compose.emit.rows.rows"
local types = require "cawb.torch.types"

local M = {}

local alone = { product = true, conv = true, scan = true, order = true, segment = true, cell = true, partial = true }

-- Those that compute their operands.
local inlines = { scan = true, partial = true, segment = true }

local WINDOW = 64       -- elements that one thread may join where they are needed
local FEW, LANES = 8192, 16   -- results, each of so many elements, that lanes join all the same
local TRIP = 24         -- cost of a trip to memory, in instructions
local LAUNCH = 3e7      -- cost of another kernel, in instructions of all threads
local MOST = 2000       -- instructions of one element that is computed again
local LIGHT = 8         -- operations for each byte, below which a product is bound by memory
local DEEP = 160        -- nodes that are computed in one place, at most

local function numel(x) return graphs.numel(x.shape) end

-- Instructions for one element, with those of nodes below it that are not stored.
local function cost_of(x)
  if x.stored or x.kind == "leaf" then return x.source == "fill" and 0 or 4 end
  local own = x.kind == "map" and cost.of(x.expression) or 1
  for _, input in ipairs(x.inputs) do own = own + (input.cost or 4) end
  if x.kind == "reduce" then
    local _, n = rows.space(x)
    own = own * n
  end
  return own
end

local function size_of(x)
  return 1 + lists.sum(x.inputs, function(input) return (input.stored or input.kind == "leaf") and 0 or input.deep or 1 end)
end

-- How often each element of x is asked for.
local function demand(x)
  return lists.sum(x.users, function(user)
    local times = (user.stored or alone[user.kind]) and 1 or user.demand
    return (user.kind == "view" or user.kind == "pick") and times * numel(user) / math.max(1, numel(x)) or times
  end)
end

-- Whether all that follows a node is a kernel's last step, one element for each of its own; `ending`: of which users that holds.
local function ends(x, ending)
  return lists.all(x.users, function(user)
    local follows = (user.kind == "map" or user.kind == "view") and numel(user) == numel(x) and (user.stored or ending[user])
    return follows or alone[user.kind] and not inlines[user.kind]
  end)
end

local function reads(x) return not graphs.all(x, function(y) return y.kind ~= "leaf" or not y.source:find ":" end) end

-- Of few results each thread would join many elements while most of the GPU idles: lanes join these, where that is no kernel more.
local function is_window(x, is_ending)
  local _, n = rows.space(x)
  return n <= WINDOW and not (n >= LANES and numel(x) <= FEW and is_ending and reads(x))
end

-- Whether a reader of the node, through views, must find it in memory.
local function feeds_alone(x)
  return lists.any(x.users, function(user)
    return alone[user.kind] and not inlines[user.kind] or user.kind == "view" and not user.stored and feeds_alone(user)
  end)
end

-- In reverse: users are decided before the nodes that they use.
local function decide(g)
  local ending = {}
  for k = #g.nodes, 1, -1 do
    local x = g.nodes[k]
    x.demand, ending[x] = demand(x), ends(x, ending)
    if x.kind ~= "leaf" then
      x.stored = x.is_output or alone[x.kind] or (x.kind == "reduce" and not (is_window(x, ending[x]) and x.demand <= 1))
        or (x.kind ~= "view" and feeds_alone(x)) or nil
    end
  end
end

-- Whether a concatenation has many parts or is read more than once: each element would look for its part.
local function is_joined(x)
  if x.kind ~= "view" or #x.pieces < 2 then return false end
  local phases = lists.sum(x.users, function(user) return user.kind == "reduce" and 2 or 1 end)
  return #x.pieces > 4 or phases > 1 or x.demand > 1
end

local function bytes(x) return numel(x) * types.size(x.dtype) end

-- The most bytes of a tensor in memory that a node is made of.
local function widest(x)
  return (x.stored or x.kind == "leaf") and bytes(x) or math.max(0, table.unpack(lists.map(x.inputs, widest)))
end

-- Whether a call computes something of a node, through views.
local function is_called(x)
  return lists.any(x.users, function(user) return not prepared.is(user) or user.kind == "view" and is_called(user) end)
end

-- Whether a map of parameters alone is read sooner than it is computed. It is made ahead of the first call, so it costs no launch, and its
-- readers are built in less time: each has the map's text, division and root once for each element of a thread.
local function is_better_read(x)
  return prepared.is(x) and x.cost > TRIP and x.demand > 1 and is_called(x) and (numel(x) <= FEW or bytes(x) <= widest(x))
end

-- Forward: a node that is read often, costs much or became large is stored after all, unless its maker forbids it (`is_light`).
local function settle(g)
  for _, x in ipairs(g.nodes) do
    x.cost, x.deep = cost_of(x), size_of(x)
    local again = (x.demand - 1) * x.cost - TRIP
    local repeated = again > 0 and (again * numel(x) > LAUNCH or x.cost > MOST) or is_better_read(x)
    if not x.stored and not x.is_light and (x.kind == "map" and (repeated or x.deep > DEEP) or is_joined(x)) then
      x.stored = true
      x.cost, x.deep = 4, 1
    end
  end
end

-- Whether memory takes longer than the operations of a product: then a copy of an operand, for a library, is most of it.
local function is_light(x)
  if x.kind ~= "product" or x.inputs[3] then return false end
  local a, rank = x.inputs[1], #x.shape
  local m, n, k = x.shape[rank - 1], x.shape[rank], a.shape[#a.shape]
  return m * n * k <= LIGHT * 2 * (m * k + k * n + m * n)
end

local SHARE = 4          -- an operand of less than one in so many of a product's numbers is cheap to copy

-- Whether an operand is a view that no library reads as it lies, and that a copy would take long for.
local function is_turned(g, x)
  local all = numel(x) + lists.sum(x.inputs, numel)
  return lists.any(x.inputs, function(input)
    return input.kind == "view" and not input.stored and not g.strided(x, input) and SHARE * numel(input) >= all
  end)
end

-- Stores operands of products, unless they lie in memory with strides, seen through views.
local function operands(g)
  for _, x in ipairs(g.nodes) do
    if alone[x.kind] and not inlines[x.kind] then
      if is_light(x) and is_turned(g, x) then x.own = true end
      for _, input in ipairs(x.inputs) do
        if input.kind == "view" and not input.stored and not g.strided(x, input) then input.stored = true end
        if input.kind == "leaf" and (input.source == "fill" or input.source == "const" or input.source == "iota") then
          input.wanted = true
        end
      end
    end
  end
end

-- An output is a tensor of its own: leaves, and nodes that are returned twice, are copied.
local function claim(g)
  local taken = {}
  for k, x in ipairs(g.outputs) do
    if taken[x] or x.kind == "leaf" then
      x = g:view(x, x.shape, function(i) return i end)
      g.outputs[k] = x
    end
    taken[x] = true
  end
  g:clean()
  for k, x in ipairs(g.outputs) do x.is_output = k end
end

-- Copies leaves that a library cannot read: without memory, or in an order that it does not take, as expanded tensors.
local function materialise(g)
  for _, x in ipairs({ table.unpack(g.nodes) }) do
    local called = x.kind == "product" or x.kind == "conv"
    for k, input in ipairs(alone[x.kind] and x.inputs or {}) do
      if input.kind == "leaf" and (not input.source:find ":" or called and not g.strided(x, input)) then
        local copy = g:map("A", input.dtype, { input })
        copy.wanted = true
        x.inputs[k] = copy
      end
    end
  end
end

-- The kernel of a stored node, which lies in order unless it has strides.
local function kernel_for(x)
  x.strides = x.strides or graphs.contiguous(x.shape)
  if x.kind == "reduce" then return { kind = "rows", roots = { x }, members = { x } } end
  return { kind = alone[x.kind] and x.kind or "stream", roots = { x }, members = {} }
end

--- The kernels of a graph, in order, before any is fused (fusion.lua). `strided(x, input)`: can x's library read this view as it lies?
function M.kernels(g, strided)
  g.strided = strided
  claim(g)
  materialise(g)
  g:clean()
  decide(g)
  for _, x in ipairs(g.nodes) do
    if x.wanted then x.stored = true end
  end
  operands(g)
  settle(g)
  return lists.map(lists.filter(g.nodes, function(x) return x.stored and x.kind ~= "leaf" end), kernel_for)
end

return M
