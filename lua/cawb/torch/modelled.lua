-- modelled: PyTorch's time on a simulated device, from the task's operator graph and
-- the device's published rates. Modelled, never measured: eager starts one kernel for each
-- operator, or what kernels.lua says; what torch.compile starts, torch_compile.lua says. bench/torch/baselines.lua holds it against an
-- H100: its constants are fitted to half of those tasks.

local compiled = require "cawb.torch.torch_compile"
local core = require "cawb.core"
local eager = require "cawb.torch.eager"
local fused = require "cawb.torch.fused"
local single = require "cawb.torch.single"
local tensors = require "cawb.torch.tensors"

local M = {}

M.least = 5e-7                       -- seconds of any of eager's kernels
M.next = 1.3e-6                      -- the launch of one that follows another

local function launches(count, rates) return rates.launch + (count - 1) * math.min(M.next, rates.launch) end

-- Bytes that kernels, each a list of operators, touch for the first time, and those that they write.
local function touched(groups)
  local seen, fetched, stored = {}, 0, 0
  for _, group in ipairs(groups) do
    local made = compiled.made(group)
    for _, op in ipairs(group) do
      for _, input in ipairs(op.inputs) do
        if not seen[input.source] then fetched = fetched + math.min(tensors.bytes(input), single.bytes_read(op)) end
        seen[input.source] = true
      end
      seen["op:" .. op.number] = true
    end
    fetched, stored = fetched + made, stored + made
  end
  return fetched, stored
end

-- A timed call finds an L2 that something else left dirty, as a candidate's does, and leaves what it wrote last there.
local function left_over(groups, rates)
  if not rates.dirty then return 0 end
  local fetched, stored = touched(groups)
  return core.times.left_over(rates.cache, rates.dirty, fetched, stored) / rates.dram
end

local function begun(groups, rates) return launches(#groups, rates) + left_over(groups, rates) end

--- What eager PyTorch takes, and what each operator does: { { name, seconds }, ... }. `places`: an operator's entry in a task's memory.
function M.eager(graph, rates, places)
  graph = fused.graph(graph, function(op) return (places(op) or {}).line end)
  local groups, sum, parts = {}, 0, {}
  for i, op in ipairs(graph) do
    local seconds = math.max(eager.seconds(op, rates, places(op)), M.least)
    sum, parts[i], groups[i] = sum + seconds, { op.name, seconds }, { op }
  end
  return begun(groups, rates) + sum, parts
end

local function compile(graph, rates, places)
  local groups = compiled.kernels(graph)
  local sum = 0
  for i, group in ipairs(groups) do
    sum = sum + math.max(compiled.seconds(group, i == #groups, rates, places(group[1])), compiled.least)
  end
  return begun(groups, rates) + sum
end

--- { eager = seconds, compile = seconds, parts = of eager, an operator each } for a graph without its views; {} for one that then has
--- nothing in it. `rates` are the device's, `sms` its multiprocessors; `memory`, where it is known: where tensors lie, as a task has it.
function M.times(graph, rates, sms, memory)
  if #graph == 0 then return {} end
  rates = setmetatable({ sms = sms }, { __index = rates })
  local where = memory and memory.operators or {}
  local function places(op) return where[op.number] end
  local seconds, parts = M.eager(graph, rates, places)
  return { eager = seconds, compile = compile(graph, rates, places), parts = parts }
end

return M
