-- fuse: kernels over the same rows become one, one behind the other or side by side (horizontal fusion). So does a stream ahead of
-- rows, whose values stay on the chip (prologue fusion).

local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local rows = require "cawb.compose.emit.rows.rows"

local M = {}

local SMALL = 1 << 16   -- elements of a kernel that takes no longer than its launch
local NEAR = 4          -- kernels over the same rows that one is compared with

local function numel(x) return graphs.numel(x.shape) end

local function read_by(kernel)
  local found, seen, inside = {}, {}, {}
  for _, list in ipairs { kernel.roots, kernel.members } do
    for _, x in ipairs(list) do inside[x] = true end
  end
  local function visit(x)
    if seen[x] then return end
    seen[x] = true
    if x.stored and not inside[x] then
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

local known = setmetatable({}, { __mode = "k" })

--- The stored nodes that a kernel reads. A list stays valid: a fused kernel is a new one, and nodes that are no longer stored had no
--- other readers.
local function reads(kernel)
  known[kernel] = known[kernel] or read_by(kernel)
  return known[kernel]
end
M.reads = reads

-- Is there a way from kernel a to kernel b through others?
local function detour(owner, a, b)
  local seen = {}
  local function visit(kernel)
    if seen[kernel] then return false end
    seen[kernel] = true
    for _, x in ipairs(reads(kernel)) do
      local from = owner[x]
      if from == a and kernel ~= b then return true end
      if from and from ~= a and visit(from) then return true end
    end
    return false
  end
  return visit(b)
end

local function all(list, more)
  local out = { table.unpack(list) }
  for _, x in ipairs(more) do out[#out + 1] = x end
  table.sort(out, function(p, q) return p.id < q.id end)
  return out
end

-- Kernel b after a, in one; nil where no generator makes it.
local function joined(a, b, chip)
  local both = { kind = "rows", roots = all(a.roots, b.roots), members = all(a.members, b.members) }
  return rows.accepts(both, nil, chip) and both
end

-- The nodes that other kernels than `own` read, and outputs, as a set.
local function read_outside(kernels, own)
  local set = {}
  for _, k in ipairs(kernels) do
    for _, y in ipairs(k ~= own and reads(k) or {}) do set[y] = true end
  end
  for _, x in ipairs(own.roots) do set[x] = set[x] or x.is_output end
  return set
end

-- A member that nobody else reads is not written.
local function trim(kernel, kernels)
  local roots, outside = {}, read_outside(kernels, kernel)
  for _, x in ipairs(kernel.roots) do
    local member = false
    for _, m in ipairs(kernel.members) do member = member or m == x end
    if outside[x] then
      roots[#roots + 1] = x
    elseif not member then
      roots[#roots + 1] = x
      x.only_here = true
    end
  end
  local left = {}
  for _, x in ipairs(roots) do
    if x.only_here then x.stored = nil else left[#left + 1] = x end
    x.only_here = nil
  end
  for _, m in ipairs(kernel.members) do
    local is_left = false
    for _, x in ipairs(left) do is_left = is_left or x == m end
    m.stored = is_left or nil
  end
  kernel.roots = left
end

--- The kernels with one in place of two, where b was.
local function replaced(kernels, a, b, both)
  local list = {}
  for _, k in ipairs(kernels) do
    if k == b then list[#list + 1] = both elseif k ~= a then list[#list + 1] = k end
  end
  return list
end

M.replaced = replaced

--- Which kernel stores a node, by node.
local function owners(kernels)
  local owner = {}
  for _, k in ipairs(kernels) do
    for _, x in ipairs(k.roots) do owner[x] = k end
  end
  return owner
end
M.owners = owners

local function fits(a, b)
  local r, n = rows.space(a.members[1])
  for _, m in ipairs(b.members) do
    local s, t = rows.space(m)
    if s ~= r or t ~= n then return false end
  end
  for _, x in ipairs(b.roots) do
    if x.kind ~= "reduce" and numel(x) ~= r and numel(x) ~= r * n then return false end
  end
  return true
end

-- Kernels over the same rows become one if each reads the other's results only on its own row.
local function merge(kernels, choice, chip)
  local again = true
  while again do
    again = false
    local owner = owners(kernels)
    for _, b in ipairs(kernels) do
      for _, x in ipairs((b.kind == "rows" or b.kind == "stream") and reads(b) or {}) do
        local a = owner[x]
        if a and a ~= b and a.kind == "rows" and not (b.refused and b.refused[a]) and fits(a, b)
          and not detour(owner, a, b) and choice(a, b) then
          local both = joined(a, b, chip)
          if both then
            kernels = replaced(kernels, a, b, both)
            trim(both, kernels)
            again = true
            break
          end
        end
        if a then
          b.refused = b.refused or {}
          b.refused[a] = true
        end
      end
      if again then break end
    end
  end
  return kernels
end

-- Whether kernel b needs a result of kernel a, directly or through others.
local function needs(owner, a, b)
  local seen = {}
  local function visit(kernel)
    if kernel == a then return true end
    if seen[kernel] then return false end
    seen[kernel] = true
    for _, x in ipairs(reads(kernel)) do
      if owner[x] and visit(owner[x]) then return true end
    end
    return false
  end
  return visit(b)
end
M.needs = needs

-- The nodes that a kernel loads, with leaves, as a set.
local function loads(kernel)
  local found, seen, inside = {}, {}, {}
  for _, x in ipairs(kernel.members) do inside[x] = true end
  local function visit(x)
    if seen[x] then return end
    seen[x] = true
    if x.kind == "leaf" and x.source:find ":" or x.stored and not inside[x] then found[x] = true return end
    for _, input in ipairs(x.inputs) do visit(input) end
  end
  for _, x in ipairs(kernel.members) do visit(x) end
  return found
end

-- Kernels over the same rows, in lists, in order.
local function alike(kernels)
  local lists, by = {}, {}
  for _, k in ipairs(kernels) do
    if k.kind == "rows" then
      local first = k.members[1]
      local key = table.concat(first.shape, ",") .. ";" .. table.concat(expression.axes(first), ",")
      if not by[key] then
        by[key] = {}
        lists[#lists + 1] = by[key]
      end
      table.insert(by[key], k)
    end
  end
  return lists
end

-- Whether one kernel for two is better: they load a tensor of their rows' size both, or a launch takes longer than they do.
local function is_better(a, b)
  if not fits(a, b) or not fits(b, a) then return false end
  local r, n = rows.space(a.members[1])
  if r * n <= SMALL then return true end
  local other = loads(b)
  for x in pairs(loads(a)) do
    if other[x] and numel(x) >= r * n then return true end
  end
  return false
end

local function pair(kernels, choice, chip)
  local owner = owners(kernels)
  for _, list in ipairs(alike(kernels)) do
    for i, a in ipairs(list) do
      for j = i + 1, math.min(#list, i + NEAR) do
        local b = list[j]
        if is_better(a, b) and not needs(owner, a, b) and not needs(owner, b, a) and choice(a, b) then
          local both = joined(a, b, chip)
          if both then return a, b, both end
        end
      end
    end
  end
end

-- Horizontal fusion: kernels that need nothing of each other become one where that is better.
local function horizontal(kernels, choice, chip)
  local a, b, both = pair(kernels, choice, chip)
  while both do
    kernels = replaced(kernels, a, b, both)
    trim(both, kernels)
    a, b, both = pair(kernels, choice, chip)
  end
  return kernels
end

-- The kernel of rows that alone reads a stream's result, if it goes over the same elements.
local function only_reader(kernels, a, x)
  local found
  for _, k in ipairs(kernels) do
    for _, y in ipairs(k ~= a and reads(k) or {}) do
      if y == x and found then return nil end
      if y == x then found = k end
    end
  end
  if not found or found.kind ~= "rows" then return nil end
  local r, n = rows.space(found.members[1])
  return numel(x) == r * n and n > 1 and found or nil
end

-- Rows with a stream ahead of them, whose values stay on the chip: the rows' kernel alone has them (`within`, `held`).
local function behind(a, b, chip)
  local x = a.roots[1]
  local both = { kind = "rows", roots = b.roots, members = b.members, within = { [x] = true }, held = { [x] = true } }
  for y in pairs(b.held or {}) do both.held[y] = true end
  return rows.accepts(both, nil, chip) and both
end

-- Prologue fusion of one stream ahead of rows. It is computed once, because its values stay on the chip. Nil where they do not.
local function prologue_once(kernels, choice, chip, tried)
  for _, a in ipairs(kernels) do
    local x = a.roots[1]
    local may = a.kind == "stream" and #a.roots == 1 and x.kind ~= "reduce" and not x.is_output and not tried[a]
    local b = may and only_reader(kernels, a, x)
    if b and choice(a, b) then
      tried[a] = true
      local both = behind(a, b, chip)
      if both then
        x.stored, x.strides = nil, nil
        return replaced(kernels, a, b, both)
      end
    end
  end
end

local function prologue(kernels, choice, chip)
  local again, tried = kernels, {}
  while again do
    kernels = again
    again = prologue_once(kernels, choice, chip, tried)
  end
  return kernels
end

--- The kernels with those joined that may be: `choice(a, b)` asks for two, `chip` is the one that they are for. Raises nothing; what no
--- generator makes stays apart.
function M.kernels(kernels, choice, chip)
  kernels = merge(horizontal(merge(kernels, choice, chip), choice, chip), choice, chip)
  return prologue(kernels, choice, chip)
end

return M
