-- sizes: those at which a promotion opens a task, and what its candidate is there.

local candidates = require "cawb.judge.task.candidate"
local families = require "cawb.run.families"
local file = require "cawb.base.file"
local needed = require "cawb.base.need"
local options = require "cawb.base.options"
local tasks = require "cawb.judge.task.task"
local variants = require "cawb.compose.variants"

local M = {}

local need = needed.need

M.most = 4            -- as many times the bytes and operations that a run takes by default, a simulated device executes in full
local whole = 10      -- as many times as long may a kernel take there

--- How many times as long a kernel may take where the processor executes it: other work there takes turns with it.
function M.patience(text)
  local load = tonumber((text or file.read "/proc/loadavg" or ""):match "^([%d.]+)")
  return math.max(1, load or 1)
end

-- The run's options under the strict rules.
local function strict(was, modelled)
  local all = options.copy(was.options)
  all.rules = "strict"
  if modelled then all.deadlines.run = all.deadlines.run * M.patience() end
  return all
end

-- The same for one shape. A run that verified small sizes and timed the task's own is promoted at its own, in full.
local function options_for(was, overrides, modelled)
  local all = strict(was, modelled)
  if all.scale.mode == "both" then
    all.scale.mode = "none"
    if modelled then all.deadlines.run = all.deadlines.run * whole end
  end
  needed.sound(options.overlay(all, { task = overrides }, "--shape"))
  return all
end

function M.bytes_of(specs)
  local total = 0
  for _, s in ipairs(specs) do total = total + (s.bytes or 0) end
  return total
end

-- Why a simulated device cannot execute a task in full, or nil.
local function too_large(task, scale)
  local bytes, operations = M.bytes_of(task.inputs) + M.bytes_of(task.outputs) + M.bytes_of(task.params), 0.0
  for _, op in ipairs(task.graph) do operations = operations + op.flops end
  if bytes <= M.most * scale.memory and operations <= M.most * scale.operations then return nil end
  return ("%.3g MB and %.3g operations are too much to be executed in full without a GPU; promote the run on a machine with one, or run "
    .. "the task at a smaller size: --set task.NAME=value"):format(bytes / 1e6, operations)
end

--- The task at the run's sizes with `overrides`, in the task host that all of them share, to be closed, and the options. Or nil,
--- the shapes alone, and why it cannot be judged here.
function M.open(was, dev, host, overrides)
  local all = options_for(was, overrides, dev.info.modelled)
  if M.apart(was, dev) then
    local shapes <close> = need(tasks.open(was.run.task, { device = dev, options = options.copy(all), host = host, look = true }))
    local why = too_large(shapes, all.scale)
    if why then return nil, { inputs = shapes.inputs }, why end
  end
  return need(tasks.open(was.run.task, { device = dev, options = all, host = host })), all
end

--- Whether a run verified small sizes, and its candidate is executed at others on a simulated device: there, little is judged.
function M.apart(was, dev) return dev.info.modelled and was.options.scale.mode == "both" end

--- The task at the sizes that such a run verified, and the options; nil for other runs.
function M.small(was, dev, host)
  if not M.apart(was, dev) then return nil end
  local all = strict(was, true)
  return need(tasks.open(was.run.task, { device = dev, options = all, host = host })), all
end

--- What the run has for its own sizes, with the tunables that were chosen there.
function M.own(was)
  if was.options.scale.mode ~= "both" then return was.candidate end
  local text, chosen = was.candidate.own or was.candidate, (was.result.fitted or {}).own_tunables
  return chosen and next(chosen) and text:with(chosen) or text
end

--- The candidate at further sizes of the task. What was composed holds for one shape: the task is lowered again, the same way.
--- A family tells its kernels of the sizes. A kernel of somebody's own has a plan for every shape.
function M.moved(task, candidate, all)
  local variant = variants.of(candidate)
  if not variant then return families.moved(candidate, task) end
  local made = needed.sound(variants.make(task, all, variant))
  return candidates.new { source = made.source, plan = made.plan, options = made.options, name = variant.name }
end

-- The constants of the task's file, as they stand there.
local function constants_of(was, dev, host)
  local all = options.copy(was.options)
  all.task, all.scale.mode = {}, "none"
  local shapes <close> = need(tasks.open(was.run.task, { device = dev, options = all, host = host, look = true }))
  return shapes.info.constants
end

--- A sentence on the run's sizes where the task's file has others; or nil.
function M.remark(was, dev, host)
  if not next(was.options.task) then return nil end
  local there, words, shape = constants_of(was, dev, host), {}, {}
  for name, value in pairs(was.options.task) do
    if type(value) == "number" and there[name] ~= value then
      words[#words + 1], shape[#shape + 1] = ("%s is %s there, and %s here"):format(name, there[name], value), ("%s=%s"):format(name, there[name])
    end
  end
  table.sort(words)
  table.sort(shape)
  return #words > 0 and ("the run had other sizes than its task's file: %s; --shape %s checks the file's too"):format(
    table.concat(words, ", "), table.concat(shape, ",")) or nil
end

return M
