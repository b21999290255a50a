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

function M.inside(kernel) return lists.set(nodes_of(kernel)) end

-- The nodes below a kernel's own at which `ends(x)` holds.
local function below(kernel, ends)
  local found, own = {}, M.inside(kernel)
  local function is_end(x) return not own[x] and ends(x) end
  graphs.walk(nodes_of(kernel), function(x) if is_end(x) then found[#found + 1] = x end end, is_end)
  return found
end

--- What a kernel begins with: the stored nodes and the leaves in memory that it loads.
function M.loads(kernel) return below(kernel, function(x) return x.stored or x.kind == "leaf" and x.source:find ":" end) end

--- The stored nodes that a kernel reads. A list stays valid: a fused kernel is a new one, and nodes that are no longer stored had no
--- other readers.
function M.reads(kernel)
  kernel.below = kernel.below or below(kernel, function(x) return x.stored end)
  return kernel.below
end

--- Whether a convolution's kernel begins sums over its results (split/partial.lua).
function M.begins_sums(kernel) return lists.any(kernel.roots, function(x) return x.kind == "partial" end) end

--- The node that a kernel is about: what its generator computes first.
function M.anchor(kernel) return kernel.members[1] or kernel.roots[1] end

-- Where the first kernel stands in the list whose place is this one or behind it. Places are numbers that grow along the list.
local function index_of(self, place)
  local low, high = 1, #self.list + 1
  while low < high do
    local middle = (low + high) // 2
    if self.places[self.list[middle]] < place then low = middle + 1 else high = middle end
  end
  return low
end

-- A kernel is new, or it has other readers or makers now.
local function touch(self, k)
  self.turn = self.turn + 1
  if k then self.touches[k] = self.turn end
end

-- Notes what a kernel stores and reads.
local function add(self, k, place)
  self.places[k] = place
  touch(self, k)
  for _, x in ipairs(k.roots) do
    self.owners[x] = k
    for _, reader in ipairs(self.read_by[x] or {}) do touch(self, reader) end
  end
  for _, x in ipairs(M.reads(k)) do
    touch(self, self.owners[x])
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
  for _, x in ipairs(M.reads(k)) do
    touch(self, self.owners[x])
    take_away(self.read_by[x], k)
  end
  local at = index_of(self, self.places[k])
  if self.list[at] == k then table.remove(self.list, at) end
  self.places[k] = nil
end

local function note(self)
  self.owners, self.read_by, self.places = {}, {}, {}
  for place, k in ipairs(self.list) do add(self, k, place) end
end

-- Whether this holds of a kernel that makes x, or of one that makes a slice of x.
local function any_maker(self, x, holds)
  if not x.slices then return self.owners[x] ~= nil and holds(self.owners[x]) end
  return lists.any(x.slices, function(part) return any_maker(self, part, holds) end)
end

-- These kernels, neighbours in the list, each behind those that it reads from.
local function sorted(self, part)
  local list, waits = {}, lists.set(part)
  local function visit(k)
    if not waits[k] then return end
    waits[k] = nil
    local from = { table.unpack(M.reads(k)) }
    table.sort(from, function(p, q) return p.id < q.id end)
    for _, x in ipairs(from) do any_maker(self, x, visit) end
    list[#list + 1] = k
  end
  for _, k in ipairs(part) do visit(k) end
  return list
end

-- Puts kernels into the places of these, which are the same in another order.
local function exchange(self, at, part, list)
  local places, read = lists.map(part, function(k) return self.places[k] end), {}
  for n, k in ipairs(list) do
    self.list[at + n - 1], self.places[k] = k, places[n]
    for _, x in ipairs(M.reads(k)) do read[x] = true end
  end
  for x in pairs(read) do table.sort(self.read_by[x], function(p, q) return self.places[p] < self.places[q] end) end
end

-- The kernels from this place to that one, and where they begin in the list.
local function between(self, first, last)
  local part, at = {}, index_of(self, first)
  while self.list[at + #part] and self.places[self.list[at + #part]] <= last do part[#part + 1] = self.list[at + #part] end
  return part, at
end

-- Sorts what lies between a kernel and those of its makers that are behind it, and of its readers that are ahead of it.
local function settle(self, kernel, readers)
  local first, last = self.places[kernel], self.places[kernel]
  for _, k in ipairs(readers) do first = math.min(first, self.places[k]) end
  for _, x in ipairs(M.reads(kernel)) do
    any_maker(self, x, function(maker) last = math.max(last, self.places[maker]) end)
  end
  if first == last then return end
  local part, at = between(self, first, last)
  exchange(self, at, part, sorted(self, part))
end

--- Of a list of kernels. `may(a, b, first)`: whether two may be one.
function M.new(list, options, may)
  local self = setmetatable({ options = options, may = may, list = list, touches = {}, turn = 0, given = {}, rows_made = {}, widths = {}, compared = {} }, Kernels)
  note(self)
  self.list = sorted(self, list)
  note(self)
  return self
end

function Kernels:owner(x) return self.owners[x] end

--- The kernels that read a node, in order.
function Kernels:readers(x) return self.read_by[x] or {} end

--- Gives one kernel after the other, in order, that is new or has other readers or makers since it was given to this rule.
function Kernels:touched(rule)
  local at, given = 0, self.given[rule] or {}
  self.given[rule] = given
  return function()
    repeat
      at = at + 1
      local k = self.list[at]
    until not k or given[k] ~= self.touches[k]
    local k = self.list[at]
    if k then given[k] = self.touches[k] end
    return k
  end
end

--- Whether others than these two read a node, or it is an output, or anybody reads the whole that it is a slice of: the whole is read from memory.
function Kernels:is_read_beside(x, a, b)
  if x.is_output or x.slice_of and self:is_read_beside(x.slice_of) then return true end
  return lists.any(self:readers(x), function(k) return k ~= a and k ~= b end)
end

--- The kernel that alone reads a node, which needs no memory if the kernel computes it; nil where there is none.
function Kernels:only_reader(x)
  local k = self:readers(x)[1]
  return k and not self:is_read_beside(x, k) and k or nil
end

--- Whether kernel b needs a result of kernel a, directly or through others; with `around`, through others, or in a whole that the result is
--- a slice of. One kernel that writes a slice and reads the whole would read what its other threads are about to write.
function Kernels:needs(a, b, around)
  local seen, from, visit = {}, self.places[a], nil
  local function is_way(maker) return maker == a or visit(maker) end
  function visit(kernel)
    if seen[kernel] or self.places[kernel] <= from then return false end
    seen[kernel] = true
    return lists.any(M.reads(kernel), function(x)
      local is_allowed = around and kernel == b and self.owners[x] == a
      return not is_allowed and any_maker(self, x, is_way)
    end)
  end
  return visit(b)
end

--- One kernel in place of the last of these; without it, they are gone.
function Kernels:replace(gone, both)
  local last = gone[#gone]
  local place = self.places[last]
  if both then self.list[index_of(self, place)], self.places[both] = both, place end
  for _, k in ipairs(gone) do remove(self, k) end
  if not both then return note(self) end
  add(self, both, place)
  local readers = {}
  for _, x in ipairs(both.roots) do
    while x do                             -- who reads the whole reads a slice
      lists.append(readers, self:readers(x))
      x = x.slice_of
    end
  end
  settle(self, both, readers)
end

return M
