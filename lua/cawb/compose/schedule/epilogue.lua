-- epilogue: epilogue fusion. Streams that read the result of an anchor (a scan, a sort, a product, a window) become a part of its
-- kernel, if the anchor's generator can write their results. So do partial sums over the result (split/partial.lua). The anchor's
-- own result is then not stored unless somebody else reads it.

local fuse = require "cawb.compose.schedule.fuse"
local generators = require "cawb.compose.schedule.generators"

local M = {}

local takes = { stream = true, partial = true }

-- The places in the list of the kernels that read a node, in order, by node.
local function readers_of(kernels)
  local by = {}
  for place, k in ipairs(kernels) do
    for _, x in ipairs(fuse.reads(k)) do
      by[x] = by[x] or {}
      table.insert(by[x], place)
    end
  end
  return by
end

-- The first place at which another kernel than a reads one of these nodes.
local function first_reader(kernels, by, a, nodes)
  local first
  for _, x in ipairs(nodes) do
    for _, place in ipairs(by[x] or {}) do
      if kernels[place] ~= a then
        first = math.min(first or place, place)
        break
      end
    end
  end
  return first
end

-- The first kernel that reads results of kernel a, if it is a stream or makes partial sums; and whether another kernel reads `x` too.
local function reader(kernels, by, a, x)
  local first, list = first_reader(kernels, by, a, a.roots), by[x] or {}
  local others = x.is_output ~= nil or first and #list > 0 and list[#list] > first
  if first and takes[kernels[first].kind] then return kernels[first], others end
end

-- Both as one, at b's place; nil where the generator refuses. `stays`: x is stored all the same, for other readers.
local function joined(a, b, x, stays, options)
  local roots = {}
  for _, root in ipairs(a.roots) do
    if root ~= x or stays then roots[#roots + 1] = root end
  end
  for _, root in ipairs(b.roots) do table.insert(roots, b.kind == "partial" and 1 or #roots + 1, root) end
  local both = { kind = a.kind, roots = roots, members = { x }, attend = a.attend, within = { [x] = true } }
  if not generators.accepts(both, options) then return nil end
  x.stored = stays or nil
  return both
end

-- `last`: the anchors that no more is joined to.
local function once(kernels, options, last)
  local by = readers_of(kernels)
  for _, a in ipairs(kernels) do
    local x, b, stays = a.members[1] or a.roots[1], nil, nil
    if generators.is_anchor(a) and not last[a] then b, stays = reader(kernels, by, a, x) end
    if b then
      local both = joined(a, b, x, stays, options)
      if both then return fuse.replaced(kernels, a, b, both) end
      last[a] = true                             -- kernels behind b may need it first
    end
  end
end

--- The kernels, with streams joined to anchors where one generator makes both; `options` as those of generators.generate.
function M.join(kernels, options)
  local again, last = kernels, {}
  while again do
    kernels = again
    again = once(kernels, options, last)
  end
  return kernels
end

return M
