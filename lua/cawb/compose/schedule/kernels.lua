-- kernels: the kernels of a lowering while they are joined: each behind those that it reads from. They know who stores a node and who
-- reads it.

local graphs = require "cawb.compose.ir.graph"
local lists = require "cawb.base.lists"

local M = {}

---@class cawb.Kernels
local Kernels = {}
Kernels.__index = Kernels

-- What a kernel stores, and what it computes on the way.
local function nodes_of(kernel) return lists.joined(kernel.roots, kernel.members) end

--- The same as a set.
function M.inside(kernel) return lists.set(nodes_of(kernel)) end

-- The nodes below a kernel's own at which `ends(x)` holds.
local function below(kernel, ends)
  local found, own = {}, M.inside(kernel)
  local function is_end(x) return not own[x] and ends(x) end
  graphs.walk(nodes_of(kernel), function(x) if is_end(x) then found[#found + 1] = x end end, is_end)
  return found
end

local function is_stored(x) return x.stored end

local function is_in_memory(x) return x.stored or x.kind == "leaf" and x.source:find ":" end

--- What a kernel begins with: the stored nodes and the leaves in memory that it loads.
function M.loads(kernel) return below(kernel, is_in_memory) end

--- The stored nodes that a kernel reads. A list stays valid: a fused kernel is a new one, and nodes that are no longer stored had no
--- other readers.
function M.reads(kernel)
  kernel.below = kernel.below or below(kernel, is_stored)
  return kernel.below
end

--- Whether a convolution's kernel begins sums over its results (split/partial.lua).
function M.begins_sums(kernel) return lists.any(kernel.roots, function(x) return x.kind == "partial" end) end

--- The node that a kernel is about: what its generator computes first.
function M.anchor(kernel) return kernel.members[1] or kernel.roots[1] end

-- Notes what a kernel stores and reads. Places are numbers that grow along the list.
local function add(self, k, place)
  self.places[k], self.from = place, math.min(self.from, place)
  for _, x in ipairs(k.roots) do self.owners[x] = k end
  for _, x in ipairs(M.reads(k)) do
    local list = self.read_by[x] or {}
    local at = #list + 1
    while at > 1 and self.places[list[at - 1]] > place do at = at - 1 end
    table.insert(list, at, k)
    self.read_by[x] = list
  end
end

local function take_away(list, k)
  for at, other in ipairs(list) do
    if other == k then return table.remove(list, at) end
  end
end

local function remove(self, k)
  for _, x in ipairs(k.roots) do
    if self.owners[x] == k then self.owners[x] = nil end
  end
  for _, x in ipairs(M.reads(k)) do take_away(self.read_by[x], k) end
  self.places[k] = nil
  take_away(self.list, k)
end

local function note(self)
  self.owners, self.read_by, self.places, self.from = {}, {}, {}, 1
  for place, k in ipairs(self.list) do add(self, k, place) end
end

-- Whether this holds of a kernel that makes x, or of one that makes a slice of x.
local function any_maker(self, x, holds)
  if not x.slices then return self.owners[x] ~= nil and holds(self.owners[x]) end
  return lists.any(x.slices, function(part) return any_maker(self, part, holds) end)
end

-- Whether a kernel is behind those that it reads from.
local function is_behind(self, k)
  local function is_late(maker) return self.places[maker] > self.places[k] end
  return not lists.any(M.reads(k), function(x) return any_maker(self, x, is_late) end)
end

-- Each kernel behind those that it reads from.
local function sort(self)
  local list, state = {}, {}
  local function visit(k)
    if state[k] then return end
    state[k] = true
    local from = { table.unpack(M.reads(k)) }
    table.sort(from, function(p, q) return p.id < q.id end)
    for _, x in ipairs(from) do any_maker(self, x, visit) end
    list[#list + 1] = k
  end
  for _, k in ipairs(self.list) do visit(k) end
  self.list = list
end

-- Sorts where one of these is not behind those that it reads from.
local function settle(self, list)
  if lists.all(list, function(k) return is_behind(self, k) end) then return end
  sort(self)
  note(self)
end

--- Of a list of kernels. `may(a, b, first)`: whether two may be one.
function M.new(list, options, may)
  local self = setmetatable({ options = options, may = may, list = list }, Kernels)
  note(self)
  settle(self, list)
  return self
end

--- The kernel that stores a node.
function Kernels:owner(x) return self.owners[x] end

--- The kernels that read a node, in order.
function Kernels:readers(x) return self.read_by[x] or {} end

--- Gives one kernel after the other, in order, from the first one on that changed since it was given here.
function Kernels:changed()
  local at = 1
  while self.list[at] and self.places[self.list[at]] < self.from do at = at + 1 end
  return function()
    local k = self.list[at]
    at, self.from = at + 1, k and self.places[k] or math.huge
    return k
  end
end

--- Whether others than these two read a node, or it is an output.
function Kernels:is_read_beside(x, a, b)
  return x.is_output ~= nil or lists.any(self:readers(x), function(k) return k ~= a and k ~= b end)
end

--- Whether kernel b needs a result of kernel a, directly or through others; with `around`, through others.
function Kernels:needs(a, b, around)
  local seen, from = {}, self.places[a]
  local function visit(kernel)
    if seen[kernel] or self.places[kernel] <= from then return false end
    seen[kernel] = true
    local function leads(maker)
      if maker == a then return not (around and kernel == b) end
      return visit(maker)
    end
    return lists.any(M.reads(kernel), function(x) return any_maker(self, x, leads) end)
  end
  return visit(b)
end

--- One kernel in place of the last of these; without it, they are gone.
function Kernels:replace(gone, both)
  local last = gone[#gone]
  local place = self.places[last]
  for at, k in ipairs(self.list) do
    if k == last then self.list[at] = both or k break end
  end
  for _, k in ipairs(gone) do remove(self, k) end
  if not both then return note(self) end
  add(self, both, place)
  local concerned = { both }
  for _, x in ipairs(both.roots) do
    while x do                             -- who reads the whole reads a slice
      lists.append(concerned, self:readers(x))
      x = x.slice_of
    end
  end
  settle(self, concerned)
end

return M
