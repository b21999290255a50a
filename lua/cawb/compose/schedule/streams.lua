-- streams: horizontal fusion of streams. Two over the same shape that need nothing of each other become one kernel.

local generators = require "cawb.compose.schedule.generators"
local graphs = require "cawb.compose.ir.graph"
local lists = require "cawb.base.lists"
local over_rows = require "cawb.compose.schedule.over_rows"
local prepared = require "cawb.compose.ir.prepared"
local repeated = require "cawb.compose.schedule.repeated"

local M = {}

local MOST = 8          -- outputs of a kernel

function M.edges(state)
  return over_rows.neighbours(state, "stream", function(k) return table.concat(k.roots[1].shape, ",") end)
end

-- The neighbours that a thread of a stream's kernel computes; false where another family makes the kernel. Of equal ones it is asked once.
local function width(state, kernel)
  local known, key = state.widths, repeated.key(kernel, state.options.kernels and state.options.kernels(kernel))
  if known[key] == nil then
    local found = generators.accepts(kernel, state.options)
    known[key] = found and found.by == "stream" and found.accepted.v or false
  end
  return known[key]
end

-- Each keeps its width: a thread of the one kernel loads and stores as much at once. Kernels ahead of the first call run once, and apart they have
-- one text (plan/merge.lua).
function M.joined(state, edge)
  local a, b = edge[1], edge[2]
  if lists.all(a.roots, prepared.is) or #a.roots + #b.roots > MOST then return nil end
  if not over_rows.is_worth_it(a, b, graphs.numel(a.roots[1].shape)) then return nil end
  if state:needs(a, b) or not state.may(a, b) then return nil end
  local both = { kind = "stream", roots = over_rows.all(a.roots, b.roots), members = over_rows.all(a.members, b.members) }
  local v = width(state, a)
  return v and width(state, b) == v and width(state, both) == v and both
end

return M
