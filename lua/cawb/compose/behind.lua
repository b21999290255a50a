-- behind: streams that read what an anchor makes (a scan, a sort, a product, a window) become a part of its
-- kernel, so that it is never stored, where the anchor's generator can write what they make.

local expression = require "cawb.compose.expression"
local partition = require "cawb.compose.partition"

local M = {}

-- The kernels that read a node.
local function readers(kernels, x)
  local list = {}
  for _, k in ipairs(kernels) do
    for _, y in ipairs(partition.reads(k)) do
      if y == x then list[#list + 1] = k end
    end
  end
  return list
end

-- Both as one, b's roots being what is written; nil where the generator refuses.
local function joined(a, b, generator)
  local x = a.roots[#a.roots]
  local members = { table.unpack(a.members) }
  members[#members + 1] = x
  local both = { kind = a.kind, name = "trial", roots = b.roots, members = members }
  x.stored = nil
  if expression.attempt(generator.generate, both) then return both end
  x.stored = true
end

local function replaced(kernels, a, b, both)
  local list = {}
  for _, k in ipairs(kernels) do
    if k == b then list[#list + 1] = both elseif k ~= a then list[#list + 1] = k end
  end
  return list
end

local function once(kernels, generators)
  for _, a in ipairs(kernels) do
    local generator, x = generators[a.kind], a.roots[1]
    if generator and #a.roots == 1 and not x.is_output then
      local all = readers(kernels, x)
      local both = #all == 1 and all[1].kind == "stream" and joined(a, all[1], generator)
      if both then return replaced(kernels, a, all[1], both) end
    end
  end
end

--- The kernels, with streams joined to those anchors whose kind has one of these generators.
function M.join(kernels, generators)
  local again = kernels
  while again do
    kernels = again
    again = once(kernels, generators)
  end
  return kernels
end

return M
