-- streams: horizontal fusion of streams. Two over the same shape that need nothing of each other become one kernel.

local generators = require "cawb.compose.schedule.generators"
local graphs = require "cawb.compose.ir.graph"
local over_rows = require "cawb.compose.schedule.over_rows"

local M = {}

local MOST = 8          -- outputs of a kernel

function M.edges(state)
  return over_rows.neighbours(state, "stream", function(k) return table.concat(k.roots[1].shape, ",") end)
end

-- The neighbours that a thread of a stream's kernel computes; nil where another family makes the kernel.
local function width(state, kernel)
  local found = generators.accepts(kernel, state.options)
  return found and found.by == "stream" and found.accepted.v or nil
end

-- Each keeps its width: a thread of the one kernel loads and stores as much at once.
function M.joined(state, edge)
  local a, b = edge[1], edge[2]
  if #a.roots + #b.roots > MOST or not over_rows.is_worth_it(a, b, graphs.numel(a.roots[1].shape)) then return nil end
  if state:needs(a, b) or not state.may(a, b) then return nil end
  local both = { kind = "stream", roots = over_rows.all(a.roots, b.roots), members = over_rows.all(a.members, b.members) }
  local v = width(state, both)
  return v and width(state, a) == v and width(state, b) == v and both
end

return M
