-- ceilings: the most that a device was seen to do. Measured once by `cawb doctor
-- --calibrate` and kept with the manifest of the stack; of a simulated device they are
-- its model's. What a kernel reaches is a share of them.

local candidate = require "cawb.candidate"
local core = require "cawb.core"
local evaluate = require "cawb.evaluate"
local manifest = require "cawb.manifest"
local measure = require "cawb.measure"
local options = require "cawb.options"
local shelf = require "cawb.shelf"
local tasks = require "cawb.task"

local M = {}

local folder = core.home .. "/lua/cawb/calibrate"
local sizes = { 1 << 20, 1 << 24, 1 << 28, 1 << 31 }      -- bytes each way
local matrix = 8192                                       -- rows and columns of a product
local length, blocks, threads = 4096, 1056, 256           -- of the multiply-adds

local function of_model(info)
  return { copy = info.rates.dram, fp32 = info.rates.fp32, launch = info.rates.launch,
           source = "modelled" }
end

--- What is known of a device: { copy = bytes/s read plus written, fp32 =, tf32 =, bf16 =,
--- fp16 = FLOP/s, launch = s, call = s, source = "measured"|"modelled", when =, details = }, or nil
--- and why there is nothing.
function M.of(device)
  if device.info.modelled then return of_model(device.info) end
  local now = manifest.of(device)
  local kept = shelf.get("ceilings", manifest.key(now))
  if kept then return kept end
  for _, other in ipairs(shelf.all "ceilings") do
    if other.manifest and other.manifest.uuid == now.uuid then
      return nil, ("its ceilings were measured on another stack (%s): run cawb doctor --calibrate")
        :format(table.concat(manifest.changes(now, other.manifest), "; "))
    end
  end
  return nil, "its ceilings are not known: run cawb doctor --calibrate"
end

local function open(device, file, constants)
  local all = options.copy(require("cawb").defaults)
  all.sweep.samples, all.sweep.budget = 50, 0.3
  return tasks.open(("%s/%s"):format(folder, file), { device = device, options = all, task = constants })
end

local function own(name, defines)
  local c = assert(candidate.new(("%s/%s"):format(folder, name)))
  return candidate.new { source = c.source, plan = c.plan, name = name, defines = defines }
end

-- The facts of a kernel of ours, swept; nothing to compare with.
local function timed(task, c)
  task.options.measure.against = {}
  local facts, message, name = evaluate.candidate(task, c)
  if facts and not facts.ok then return nil, c.name .. ": " .. facts.reason, "candidate" end
  return facts, message, name
end

local function rate(time, amount)
  return { median = amount / time.median, lo = amount / time.hi, hi = amount / time.lo,
           samples = time.samples }
end

-- Each measurement: its name, and a function of the device that returns a list of
-- { ceiling =, what =, rate = or time =, clock_hz = }, or nil, message, name.

local function copies(device)
  local list = {}
  for _, size in ipairs(sizes) do
    local task <close>, message, name = open(device, "copy.py", { n = size // 4 })
    if not task then return nil, message, name end
    local facts
    facts, message, name = timed(task, own "copy")
    if not facts then return nil, message, name end
    list[#list + 1] = { ceiling = "copy", what = ("copy of %d MiB, %s"):format(size >> 20, facts.label),
                        rate = rate(facts.time_s, 2 * size), clock_hz = facts.clock_hz }
  end
  return list
end

local function multiply_adds(device)
  local task <close>, message, name = open(device, "copy.py", { n = 1 << 16 })
  if not task then return nil, message, name end
  local facts
  facts, message, name = timed(task, own("fma", { LENGTH = length }))
  if not facts then return nil, message, name end
  return { { ceiling = "fp32", what = "float32 multiply-adds in registers", clock_hz = facts.clock_hz,
             rate = rate(facts.time_s, 2.0 * 8 * length * blocks * threads) } }
end

local function products(device)
  local list = {}
  for _, one in ipairs { { "fp32", "float32", "eager" }, { "tf32", "float32", "eager_tf32" },
                         { "bf16", "bfloat16", "eager" }, { "fp16", "float16", "eager" } } do
    local task <close>, message, name = open(device, "matmul.py", { n = matrix, dtype = one[2] })
    if not task then return nil, message, name end
    local reply
    reply, message, name = task:ask { op = "baselines", order = { one[3] }, samples = 20, budget = 2,
                                      seed = task.next_seed "baselines" }
    if not reply then return nil, message, name end
    if not reply.batches[1] then return nil, reply.kinds[one[3]].failed, "unsupported" end
    local time = require("cawb.stats").summary(reply.batches[1].samples)
    list[#list + 1] = { ceiling = one[1], rate = rate(time, 2.0 * matrix ^ 3),
      what = ("PyTorch, %s product of %d x %d"):format(one[1], matrix, matrix) }
  end
  return list
end

local function launches(device)
  local task <close>, message, name = open(device, "copy.py", { n = 4 })
  if not task then return nil, message, name end
  local c = own("copy", { UNROLL = 1 }):with { unroll = 1, block = 256 }
  local m
  m, message, name = measure.measure(task, c, { against = {}, samples = 50, launches = 50 })
  if not m then return nil, message, name end
  if not m.ok then return nil, m.reason, "candidate" end
  return { { ceiling = "launch", what = "one kernel in a graph", time = m.time_s },
    { ceiling = "call", what = "one kernel, launched and waited for by the host",
      time = { median = m.launch_bound_s, lo = m.launch_bound_s, hi = m.launch_bound_s, samples = 50 } } }
end

-- The best of each kind is the ceiling; of launches, the shortest.
local function best_of(list)
  local best = {}
  for _, one in ipairs(list) do
    local value = one.rate and one.rate.median or one.time.median
    local had = best[one.ceiling]
    if not had or one.rate and value > had or one.time and value < had then best[one.ceiling] = value end
  end
  return best
end

--- Measure a real device. `say(text)` is told what is done. Returns what M.of returns, not
--- stored yet; or nil, message, name.
function M.measure(device, say)
  if device.info.modelled then
    return nil, device.info.name .. " is simulated: its ceilings are its model's", "unsupported"
  end
  local all = {}
  for _, part in ipairs { { "copying", copies }, { "multiply-adds", multiply_adds },
                          { "matrix products", products }, { "launches", launches } } do
    if say then say(part[1]) end
    local list, message, name = part[2](device)
    if not list then return nil, ("%s: %s"):format(part[1], message), name end
    table.move(list, 1, #list, #all + 1, all)
  end
  local result = best_of(all)
  result.source, result.when, result.details = "measured", os.date "!%Y-%m-%d", all
  result.manifest = manifest.of(device)
  return result
end

--- Keep them for this stack. Returns true, or nil, message, name.
function M.keep(ceilings)
  return shelf.put("ceilings", manifest.key(ceilings.manifest), ceilings)
end

return M
