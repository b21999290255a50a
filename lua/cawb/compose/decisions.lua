-- decisions: the decisions of a task, as a list. A program is one value for each of them, in order; the first value of a decision is what
-- compose takes by itself, and whatever is chosen computes the same.
--   { kind = "skip", what = 1, values = { "done", "skipped" } }                    a step of rewrite.lua
--   { kind = "store", what = "2.1", values = { "inline", "stored" } }              a node in memory, or in its readers
--   { kind = "cut", what = "3.1|5.2", values = { "joined", "cut" } }               a fusion
--   { kind = "knob", kernel = "5.2", by = "rows", name = "vector", values = { "auto", 1, 2, 4 } }

local graphs = require "cawb.compose.ir.graph"
local rows = require "cawb.compose.emit.rows.rows"
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

-- The kind that the decisions of a kernel follow from.
local function kind_of(kernel)
  if kernel.by == "tensor" or kernel.by == "library" then return kernel.kind end
  if kernel.by == "rows" and kernel.made and kernel.made.columns then return "columns" end
  return kernel.by
end

local function values_of(kind, name)
  if name == "loop" then return schedule.loops[kind] end
  return schedule.knobs[kind == "columns" and "rows" or kind][name]
end

-- Elements that the kernel stores, and of a row where it has rows.
local function sizes(kernel)
  local reduce = kernel.members[1]
  local row = kernel.kind == "rows" and reduce and select(2, rows.space(reduce)) or 1
  return graphs.numel(kernel.roots[1].shape), row
end

local function of_kernel(list, kernel)
  local kind, key = kind_of(kernel), schedule.key(kernel)
  local n, row = sizes(kernel)
  for _, name in ipairs(names[kind]) do
    list[#list + 1] = { kind = "knob", kernel = key, by = kind, name = name, values = { "auto", table.unpack(values_of(kind, name)) }, size = n, row = row }
  end
end

local function inlined(made)
  local list = {}
  for _, x in ipairs(made.graph.nodes) do
    if x.kind == "map" and not x.stored and not x.is_output and x.label and graphs.numel(x.shape) >= SMALL then
      list[#list + 1] = x.label
    end
  end
  return list
end

local function add(list, kind, all, values)
  for k = 1, math.min(MOST[kind], #all) do list[#list + 1] = { kind = kind, what = all[k], values = values } end
end

--- The decisions of what compose made by itself.
function M.of(made)
  local list, steps = {}, {}
  for step = 1, made.rewrites.matched or 0 do steps[step] = step end
  add(list, "skip", steps, { "done", "skipped" })
  add(list, "store", inlined(made), { "inline", "stored" })
  add(list, "cut", made.joins, { "joined", "cut" })
  local kernels = 0
  for _, kernel in ipairs(made.kernels) do
    if names[kind_of(kernel)] and kernels < MOST.kernels then
      kernels = kernels + 1
      of_kernel(list, kernel)
    end
  end
  return list
end

return M
