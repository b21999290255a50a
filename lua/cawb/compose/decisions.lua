-- decisions: the open choices of a task's schedule, as a list. A program is one value for each of them, in order; the first value is
-- the one that compose takes by itself. A policy that learns, and searches that it is compared with, see a task through this list alone.
--   { kind = "skip", what = 1, values = { "done", "skipped" } }                    a step of rewrite.lua
--   { kind = "store", what = "2.1", values = { "inline", "stored" } }              a node in memory, or in its readers
--   { kind = "cut", what = "3.1|5.2", values = { "joined", "cut" } }               a fusion
--   { kind = "knob", kernel = "5.2", by = "rows", name = "vector", values = { "auto", 1, 2, 4 } }
-- Programs of the sound language choose among these. The free language has every value of a name, whatever the kernel is
-- (M.domain), the two omissions (guards, barriers), and refuses what does not go: a program can be wrong in it.

local graphs = require "cawb.compose.ir.graph"
local rows = require "cawb.compose.emit.rows.rows"
local schedule = require "cawb.compose.schedule.schedule"

local M = {}

local MOST = { skip = 3, store = 4, cut = 4, kernels = 4 }      -- decisions of a kind; kernels that have any
local SMALL = 1024                                              -- elements of a node that is no decision

-- What is decided of a kernel, in this order; what a generator of the kind takes no part in is `auto`.
local names = {
  stream = { "vector" },
  rows = { "vector", "lanes", "block", "cluster", "hold" },
  columns = { "lanes", "across" },
  scan = { "threads", "packs", "parts" },
  window = { "outputs", "wide", "threads", "strip" },
  order = { "short" },
  product = { "loop", "tile", "splits" },
  conv = { "loop", "tile", "splits" },
}

local omissions = { "guards", "barriers" }

-- The kind that the decisions of a kernel follow from.
local function kind_of(kernel)
  if kernel.by == "tensor" or kernel.by == "library" then return kernel.kind end
  local text = kernel.made and kernel.made.text
  if kernel.by == "rows" and text and text:find("join_columns<", 1, true) then return "columns" end
  return kernel.by
end

local function values_of(kind, name)
  if name == "loop" then return schedule.loops[kind] or {} end
  return (schedule.knobs[kind == "columns" and "rows" or kind] or {})[name] or {}
end

local function choices(first, values)
  local list = { first }
  for k, value in ipairs(values) do list[k + 1] = value end
  return list
end

--- Every value that any kernel's option of this name has: what the free language may say.
function M.domain(name)
  if name == "guards" or name == "barriers" then return { true, false } end
  local list, seen = { "auto" }, { auto = true }
  for _, kind in ipairs { "stream", "rows", "scan", "window", "order", "product", "conv" } do
    for _, value in ipairs(values_of(kind, name)) do
      if not seen[value] then list[#list + 1] = value end
      seen[value] = true
    end
  end
  return list
end

-- Elements that the kernel stores, and of a row where it has rows.
local function sizes(kernel)
  local reduce = kernel.members[1]
  local row = kernel.kind == "rows" and reduce and select(2, rows.space(reduce)) or 1
  return graphs.numel(kernel.roots[1].shape), row
end

local function of_kernel(list, kernel, free)
  local kind, key = kind_of(kernel), schedule.key(kernel)
  local n, row = sizes(kernel)
  local function one(name, values)
    list[#list + 1] = { kind = "knob", kernel = key, by = kind, name = name, values = values, size = n, row = row }
  end
  for _, name in ipairs(names[kind] or {}) do one(name, free and M.domain(name) or choices("auto", values_of(kind, name))) end
  for _, name in ipairs(free and omissions or {}) do one(name, M.domain(name)) end
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

--- The decisions of what compose made by itself. `free`: those of the free language.
function M.of(made, free)
  local list, steps = {}, {}
  for step = 1, made.rewrites.matched or 0 do steps[step] = step end
  add(list, "skip", steps, { "done", "skipped" })
  add(list, "store", inlined(made), { "inline", "stored" })
  add(list, "cut", made.joins, { "joined", "cut" })
  local kernels = 0
  for _, kernel in ipairs(made.kernels) do
    if names[kind_of(kernel)] and kernels < MOST.kernels then
      kernels = kernels + 1
      of_kernel(list, kernel, free)
    end
  end
  return list
end

local fields = { skip = "skip", store = "stores", cut = "cuts" }

local function knob(s, decision, value)
  if value == "auto" or (decision.name == "guards" or decision.name == "barriers") and value == true then return end
  s.kernels = s.kernels or {}
  s.kernels[decision.kernel] = s.kernels[decision.kernel] or {}
  s.kernels[decision.kernel][decision.name] = value
end

local function is_among(values, x)
  for _, value in ipairs(values) do if value == x then return true end end
  return false
end

-- Why a program cannot be read, or nil.
local function misfit(decisions, chosen)
  for k, decision in ipairs(decisions) do
    if not is_among(decision.values, chosen[k]) then
      return ("decision %d (%s) has no value %s"):format(k, decision.name or decision.kind, tostring(chosen[k]))
    end
  end
end

--- The schedule of a program: `chosen[k]` is the value of the k-th decision. `free`: what does not go is refused. Or nil and why
--- the program cannot be read.
function M.schedule(decisions, chosen, free)
  local why = misfit(decisions, chosen)
  if why then return nil, why end
  local s = { strict = free or nil }
  for k, decision in ipairs(decisions) do
    local field = fields[decision.kind]
    if not field then knob(s, decision, chosen[k])
    elseif chosen[k] == decision.values[2] then
      s[field] = s[field] or {}
      table.insert(s[field], decision.what)
      table.sort(s[field])
    end
  end
  return s
end

return M
