-- fusion: one pass joins kernels. A rule of fusion lists the kernels that it might join (`edges`), says which one kernel they would be
-- (`joined`, a predicate: nothing changes, no text is generated; nil where that is not legal or not worth it), and changes the nodes
-- (`settle`, where there is more to do than to replace kernels) once it is done. Of all edges the first legal one of the first rule is
-- taken. So the order of rules says which fusion comes first where two want the same kernel.

local kernels = require "cawb.compose.schedule.kernels"
local over_rows = require "cawb.compose.schedule.over_rows"
local prepared = require "cawb.compose.ir.prepared"
local recurrent = require "cawb.compose.schedule.recurrent"

local M = {}

local rules = { over_rows.behind, over_rows.beside, over_rows.ahead, require "cawb.compose.schedule.epilogue", recurrent.wave, recurrent.cells }
for _, name in ipairs { "attention", "packing", "concatenation", "streams" } do rules[#rules + 1] = require("cawb.compose.schedule." .. name) end

-- Which kernels may be one, as far as `options` allow it.
local function choice_of(options)
  local may = options.choice
  return function(a, b, first) return prepared.together(a, b) and (not may or may(a, b, first)) end
end

-- Whether an edge was looked at; from now on it was.
local function is_known(tried, edge)
  local first, last = edge.about or edge[1], edge[#edge]
  tried[first] = tried[first] or {}
  if tried[first][last] then return true end
  tried[first][last] = true
end

-- An iterator over edges, which are a list or one already.
local function each(edges)
  if type(edges) == "function" then return edges end
  local k = 0
  return function()
    k = k + 1
    return edges[k]
  end
end

-- Does the first fusion of a rule that is legal; whether there was one.
local function step(rule, state, tried)
  for edge in each(rule.edges(state)) do
    local both = not is_known(tried, edge) and rule.joined(state, edge)
    if both and (not both.roots or prepared.may(both)) then
      if rule.settle then rule.settle(state, edge, both) else state:replace(edge, both) end
      return true
    end
  end
end

--- The kernels, joined where that is legal and worth it. `options` as those of generators.generate, and choice(a, b): whether two may be one; attend,
--- concatenate, false: without these.
function M.apply(list, options)
  local state, tried = kernels.new(list, options, choice_of(options)), {}
  local number = 1
  while rules[number] do
    local rule = rules[number]
    tried[rule] = tried[rule] or {}
    number = step(rule, state, tried[rule]) and 1 or number + 1
  end
  return state.list
end

return M
