-- kernels: the kernels of a lowering while they are joined: each behind those that it reads from. They know who stores a node and who
-- reads it.

local M = {}

---@class cawb.Kernels
local Kernels = {}
Kernels.__index = Kernels

local function inside(kernel)
  local set = {}
  for _, list in ipairs { kernel.roots, kernel.members } do
    for _, x in ipairs(list) do set[x] = true end
  end
  return set
end

-- The nodes below a kernel's own at which `ends(x)` holds.
local function below(kernel, ends)
  local found, seen, own = {}, {}, inside(kernel)
  local function visit(x)
    if seen[x] then return end
    seen[x] = true
    if not own[x] and ends(x) then
      found[#found + 1] = x
      return
    end
    for _, input in ipairs(x.inputs) do visit(input) end
  end
  for _, list in ipairs { kernel.roots, kernel.members } do
    for _, x in ipairs(list) do visit(x) end
  end
  return found
end

local function is_stored(x) return x.stored end

local function is_in_memory(x) return x.stored or x.kind == "leaf" and x.source:find ":" end

--- What a kernel begins with: the stored nodes and the leaves in memory that it loads.
function M.loads(kernel) return below(kernel, is_in_memory) end

local known = setmetatable({}, { __mode = "k" })

--- The stored nodes that a kernel reads. A list stays valid: a fused kernel is a new one, and nodes that are no longer stored had no
--- other readers.
function M.reads(kernel)
  known[kernel] = known[kernel] or below(kernel, is_stored)
  return known[kernel]
end

--- The node that a kernel is about: what its generator computes first.
function M.anchor(kernel) return kernel.members[1] or kernel.roots[1] end

-- Notes who stores and who reads each node, and the place of each kernel.
local function note(self)
  self.owners, self.read_by, self.places = {}, {}, {}
  for place, k in ipairs(self.list) do
    self.places[k] = place
    for _, x in ipairs(k.roots) do self.owners[x] = k end
    for _, x in ipairs(M.reads(k)) do
      self.read_by[x] = self.read_by[x] or {}
      table.insert(self.read_by[x], k)
    end
  end
end

local function is_sorted(self)
  for place, k in ipairs(self.list) do
    for _, x in ipairs(M.reads(k)) do
      if (self.places[self.owners[x]] or 0) > place then return false end
    end
  end
  return true
end

-- Each kernel behind those that it reads from.
local function sort(self)
  local list, state = {}, {}
  local function visit(k)
    if state[k] then return end
    state[k] = true
    local from = { table.unpack(M.reads(k)) }
    table.sort(from, function(p, q) return p.id < q.id end)
    for _, x in ipairs(from) do
      if self.owners[x] then visit(self.owners[x]) end
    end
    list[#list + 1] = k
  end
  for _, k in ipairs(self.list) do visit(k) end
  self.list = list
end

local function set(self, list)
  self.list = list
  note(self)
  if is_sorted(self) then return end
  sort(self)
  note(self)
end

--- Of a list of kernels. `may(a, b, first)`: whether two may be one.
function M.new(list, options, may)
  local self = setmetatable({ options = options, may = may }, Kernels)
  set(self, list)
  return self
end

--- The kernel that stores a node.
function Kernels:owner(x) return self.owners[x] end

--- The kernels that read a node, in order.
function Kernels:readers(x) return self.read_by[x] or {} end

--- Whether others than these two read a node, or it is an output.
function Kernels:is_read_beside(x, a, b)
  for _, k in ipairs(self:readers(x)) do
    if k ~= a and k ~= b then return true end
  end
  return x.is_output ~= nil
end

--- Whether kernel b needs a result of kernel a, directly or through others; with `around`, through others.
function Kernels:needs(a, b, around)
  local seen, from = {}, self.places[a]
  local function visit(kernel)
    if seen[kernel] or self.places[kernel] <= from then return false end
    seen[kernel] = true
    for _, x in ipairs(M.reads(kernel)) do
      local owner = self.owners[x]
      if owner == a and not (around and kernel == b) or owner and owner ~= a and visit(owner) then return true end
    end
    return false
  end
  return visit(b)
end

--- One kernel in place of the last of these; without it, they are gone.
function Kernels:replace(gone, both)
  local is_gone, list = {}, {}
  for _, k in ipairs(gone) do is_gone[k] = true end
  for _, k in ipairs(self.list) do
    if k == gone[#gone] then list[#list + 1] = both elseif not is_gone[k] then list[#list + 1] = k end
  end
  set(self, list)
end

return M
