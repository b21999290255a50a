-- cells: recurrent layers that need nothing of each other, as the two directions of one, become one kernel: their steps are
-- done at the same time.

local cell = require "cawb.compose.emit.cell.kernel"
local fuse = require "cawb.compose.schedule.fuse"
local graphs = require "cawb.compose.ir.graph"
local partition = require "cawb.compose.schedule.partition"

local M = {}

local function alike(a, b)
  local x, y = a.roots[1], b.roots[1]
  return a.kind == "cell" and b.kind == "cell" and not a.wave and not b.wave and x.op == y.op and x.dtype == y.dtype and graphs.same(x.shape, y.shape)
end

-- Both as one; nil where a block for each sequence does it.
local function joined(a, b, options)
  local roots = { table.unpack(a.roots) }
  for _, x in ipairs(b.roots) do roots[#roots + 1] = x end
  local both = { kind = "cell", roots = roots, members = {} }
  return cell.accepts(both, nil, options.chip) and both
end

local function once(kernels, options, choice)
  local owner = fuse.owners(kernels)
  for i, a in ipairs(kernels) do
    for j = i + 1, a.kind == "cell" and #kernels or 0 do
      local b = kernels[j]
      local may = alike(a, b) and not fuse.needs(owner, a, b) and not fuse.needs(owner, b, a) and choice(a, b)
      local both = may and joined(a, b, options)
      if both then
        local list = { table.unpack(kernels) }
        list[i] = both
        table.remove(list, j)
        return partition.ordered(list)
      end
    end
  end
end

--- The kernels, with such layers joined, in order; `options` as those of generators.generate, `choice(a, b)`: may these be one?
function M.join(kernels, options, choice)
  local again = kernels
  while again do
    kernels = again
    again = once(kernels, options, choice)
  end
  return kernels
end

return M
