-- cells: recurrent layers that need nothing of each other, as the two directions of one, become one kernel: their steps are
-- done at the same time.

local cell = require "cawb.compose.emit.cell.kernel"
local graphs = require "cawb.compose.ir.graph"
local lists = require "cawb.base.lists"

local M = {}

local function alike(a, b)
  local x, y = a.roots[1], b.roots[1]
  return b.kind == "cell" and not a.wave and not b.wave and x.op == y.op and x.dtype == y.dtype and graphs.same(x.shape, y.shape)
end

function M.edges(state)
  local list = {}
  for i, a in ipairs(state.list) do
    for j = i + 1, a.kind == "cell" and #state.list or 0 do
      local b = state.list[j]
      if alike(a, b) then list[#list + 1] = { b, a } end
    end
  end
  return list
end

-- Both as one; nil where a block for each sequence does it.
function M.joined(state, edge)
  local b, a = edge[1], edge[2]
  if state:needs(a, b) or not state.may(a, b) then return nil end
  local both = { kind = "cell", roots = lists.joined(a.roots, b.roots), members = {} }
  return cell.accepts(both, nil, state.options.chip) and both
end

return M
