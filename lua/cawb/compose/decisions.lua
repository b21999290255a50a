-- decisions: the decisions of a task, as a list. A program is one value for each of them, in order; the first value of a decision is what
-- compose takes by itself, and whatever is chosen computes the same.
--   { kind = "skip", what = 1, values = { "done", "skipped" } }                    a step of rewrite.lua
--   { kind = "store", what = "2.1", values = { "inline", "stored" } }              a node in memory, or in its readers
--   { kind = "cut", what = "3.1|5.2", values = { "joined", "cut" } }               a fusion
--   { kind = "knob", kernel = "5.2", by = "rows", name = "vector", values = { "auto", 1, 2, 4 } }

local graphs = require "cawb.compose.ir.graph"
local lists = require "cawb.base.lists"
local records = require "cawb.compose.tune.records"
local schedule = require "cawb.compose.schedule.schedule"

local M = {}

local MOST = { skip = 3, store = 4, cut = 4, kernels = 4 }      -- decisions of a kind; kernels that have any
local SMALL = 1024                                              -- elements of a node that is no decision

-- The decisions about a kernel, in this order. A decision that its generator does not have is `auto`.
local names = {
  stream = { "vector" },
  rows = { "vector", "lanes", "block", "cluster", "hold" },
  columns = { "lanes", "across" },
  scan = { "threads", "packs", "parts" },
  window = { "outputs", "wide", "threads", "strip" },
  order = { "short" },
  segment = { "lanes" },
  product = { "loop", "tile", "splits" },
  conv = { "loop", "tile", "splits" },
}

local function values_of(kind, name)
  if name == "loop" then return schedule.loops[kind] end
  return schedule.knobs[kind == "columns" and "rows" or kind][name]
end

-- `size`: elements that the kernel stores; `row`: of a row where it has rows.
local function of_kernel(list, kernel)
  local kind, size = records.kind(kernel), graphs.numel(kernel.roots[1].shape)
  for _, name in ipairs(names[kind]) do
    list[#list + 1] = { kind = "knob", kernel = schedule.key(kernel), by = kind, name = name, values = { "auto", table.unpack(values_of(kind, name)) },
                        size = size, row = records.row(kernel) }
  end
end

local function inlined(made)
  local nodes = lists.filter(made.graph.nodes, function(x)
    return x.kind == "map" and not x.stored and not x.is_output and x.label and graphs.numel(x.shape) >= SMALL
  end)
  return lists.map(nodes, function(x) return x.label end)
end

local function add(list, kind, all, values)
  for k = 1, math.min(MOST[kind], #all) do list[#list + 1] = { kind = kind, what = all[k], values = values } end
end

--- The decisions of what compose made by itself.
function M.of(made)
  local list = {}
  add(list, "skip", lists.times(made.rewrites.matched or 0, function(step) return step end), { "done", "skipped" })
  add(list, "store", inlined(made), { "inline", "stored" })
  add(list, "cut", made.joins, { "joined", "cut" })
  local kernels = lists.filter(made.kernels, function(kernel) return names[records.kind(kernel)] end)
  for k = 1, math.min(MOST.kernels, #kernels) do of_kernel(list, kernels[k]) end
  return list
end

return M
