-- calibrate: measure a device's ceilings, with the kernels in calibrate/ and the library's
-- own means: their outputs are verified, their times taken as any candidate's. They lie
-- beside this file and not in kernels/, which holds what may be proposed for a task.

local candidate = require "cawb.judge.task.candidate"
local ceilings = require "cawb.gpu.ceilings"
local core = require "cawb.core"
local judge = require "cawb.judge.judge"
local execute = require "cawb.judge.worker.execute"
local device_kinds = require "cawb.gpu.kinds"
local manifest = require "cawb.gpu.manifest"
local needed = require "cawb.base.need"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local stats = require "cawb.base.stats"
local tasks = require "cawb.judge.task.task"

local M = {}

local need = needed.need

local folder = core.home .. "/lua/cawb/door/calibrate"

-- How much work a measurement is. A test takes less.
M.work = {
  sizes = { 1 << 20, 1 << 24, 1 << 28, 1 << 31 },  -- bytes of a copy, each way
  matrix = 8192,                                   -- rows and columns of a product
  length = 4096,                                   -- rounds of arithmetic in registers
  blocks = 4, threads = 256,                       -- of these: blocks an SM, threads a block
  launches = 50,                                   -- in a row, to know what one more costs
  samples = 20, budget = 0.1, final = 0.5,         -- of each variant, seconds; of the best, seconds
}

local function settings(work)
  local all = options.copy(require "cawb.base.defaults")
  all.verify.trials = 2
  all.verify.battery = core.json.array {}         -- these kernels are as precise as their units are
  all.tolerance.few, all.tolerance.part, all.tolerance.slight, all.tolerance.far = 0, 1e6, 1e6, 1.0
  all.sweep.samples, all.sweep.budget, all.sweep.variants = work.samples, work.budget, 16
  all.measure.against, all.measure.budget = {}, work.final
  return all
end

local function close(self) self.host[1]:close() end

-- What all measurements need, to be closed. One task host does for all of them: starting one takes seconds.
local function begin(device, work)
  local all = settings(work)
  local host = { need(python.start(all.deadlines.start)) }
  return setmetatable({ device = device, work = work, options = all, host = host }, { __close = close })
end

local function open(c, file, constants)
  return need(tasks.open(("%s/%s.py"):format(folder, file),
    { device = c.device, options = options.copy(c.options), task = constants, host = c.host }))
end

local function own(name, defines)
  local c = assert(candidate.new(("%s/%s"):format(folder, name)))
  return candidate.new { source = c.source, plan = c.plan, name = name, defines = defines }
end

local function rate_of(amount, t)
  return { median = amount / t.median, lo = amount / t.hi, hi = amount / t.lo, samples = t.samples }
end

-- The answer's entry for a kernel of ours on a task, after a sweep; a kernel that this
-- device cannot run is an entry too. `amount` is bytes or operations of one call.
local function entry(c, task, kernel, ceiling, what, amount)
  local facts = need(judge.judge(task, kernel, c.options, { confirm = false }))
  if not facts.ok then return { ceiling = ceiling, what = what, failed = facts.reason } end
  return { ceiling = ceiling, what = what, label = facts.label, clock_hz = facts.clock_hz,
           time_s = facts.time_s, rate = rate_of(amount, facts.time_s) }
end

-- ---- memory

local function generation(device) return tonumber(device.info.arch:match "%d+") or 0 end

-- Every kernel on a task of every size. `moved` = bytes a call for each byte of input.
local function streams(c, ceiling, file, kernels, moved)
  local list = {}
  for _, size in ipairs(c.work.sizes) do
    local task <close> = open(c, file, { n = size // 4 })
    for _, kernel in ipairs(kernels) do
      local what = ("%s of %g MiB, %s"):format(ceiling, size / 2 ^ 20, kernel[2])
      local one = entry(c, task, own(kernel[1]), ceiling, what, moved * size)
      one.bytes = moved * size
      list[#list + 1] = one
    end
  end
  return list
end

local function copies(c)
  local kernels = { { "copy", "16 bytes at a time" } }
  if generation(c.device) >= 90 then kernels[2] = { "copy_bulk", "by the copy engine of an SM" } end
  return streams(c, "copy", "copy", kernels, 2)
end

local function reads(c)
  return streams(c, "read", "read", { { "read", "16 bytes at a time" } }, 1)
end

-- ---- arithmetic in registers

local formats = {       -- operations of one instruction of a warp: 2 x 16 x 8 x its depth
  { "tf32", shape = "m16n8k8", operations = 2048, one = "0x3f800000u", sign = "0x80000000u" },
  { "bf16", shape = "m16n8k16", operations = 4096, one = "0x3f803f80u", sign = "0x80008000u" },
  { "fp16", shape = "m16n8k16", operations = 4096, one = "0x3c003c00u", sign = "0x80008000u" },
}

local function arithmetic(c)
  local w = c.work
  local n = c.device.info.sms * w.blocks * w.threads
  local task <close> = open(c, "copy", { n = n, whole = true })
  local list = { entry(c, task, own("fma", { LENGTH = w.length }), "fp32",
    "float32 multiply-adds in registers", 2.0 * 8 * w.length * n) }
  for _, f in ipairs(generation(c.device) >= 80 and formats or {}) do
    list[#list + 1] = entry(c, task, own("mma", { LENGTH = w.length, SHAPE = f.shape,
        FORMAT = f[1] == "fp16" and "f16" or f[1], ONE = f.one, SIGN = f.sign }),
      f[1], f[1] .. " products in registers (mma.sync)", 2.0 * 8 * w.length * f.operations * n / 32)
  end
  return list
end

-- ---- matrix products of PyTorch: what its library reaches, memory and all

local kinds = { { "fp32", "float32", "eager" }, { "tf32", "float32", "eager_tf32" },
                { "bf16", "bfloat16", "eager" }, { "fp16", "float16", "eager" } }

local function product(c, task, ceiling, kind)
  local n = c.work.matrix
  local reply = need(task:ask { op = "baselines", order = { kind },
    samples = c.work.samples, budget = 2 * c.work.final, seed = task.next_seed "baselines" })
  local one = { ceiling = ceiling, what = ("%s product of %d x %d, PyTorch"):format(ceiling, n, n) }
  if not reply.batches[1] then
    one.failed = reply.kinds[kind].failed or "it was not timed"
    return one
  end
  one.time_s = stats.summary(reply.batches[1].samples)
  one.rate = rate_of(2.0 * n ^ 3, one.time_s)
  return one
end

local function products(c)
  local list = {}
  for _, k in ipairs(kinds) do
    local task <close> = open(c, "matmul", { n = c.work.matrix, dtype = k[2] })
    list[#list + 1] = product(c, task, k[1], k[3])
  end
  return list
end

-- ---- launches

-- An empty kernel writes nothing that could be judged: it is timed and no more.
local calls = 50

local function empties(c, task, count)
  local how = { op = "time", warmup = 5, samples = 200, budget = c.options.measure.budget,
                slowest = c.options.measure.slowest, launch_calls = calls }
  local kernel = own "empty":with { count = count }
  local ran = need(execute.call(task, kernel, c.options, how, "calibrate", c.options.deadlines.measure))
  return need(ran.ok and ran, "an empty kernel: " .. tostring(ran.reason), ran.name)
end

local function launches(c)
  local task <close> = open(c, "copy", { n = 1 << 10 })
  local one, many = empties(c, task, 1), empties(c, task, c.work.launches)
  local a, b, between = stats.summary(one.samples), stats.summary(many.samples), c.work.launches - 1
  local call = one.launch_bound            -- the median of as many calls
  return { { ceiling = "launch", what = "one empty kernel, graph replay", time_s = a },
    { ceiling = "step", what = ("each further kernel of a graph, of %d"):format(c.work.launches),
      time_s = { median = (b.median - a.median) / between, lo = (b.lo - a.hi) / between,
                 hi = (b.hi - a.lo) / between, samples = b.samples } },
    { ceiling = "call", what = "one empty kernel, launched and waited for by its host",
      time_s = call and { median = call, lo = call, hi = call, samples = calls } } }
end

-- ---- all of it

-- The best of each kind is the ceiling; of times, the shortest.
local function best_of(list)
  local best = {}
  for _, one in ipairs(list) do
    local estimate, had = one.rate or one.time_s, best[one.ceiling]
    local value = estimate and estimate.median
    if value and (not had or one.rate and value > had or not one.rate and value < had) then
      best[one.ceiling] = value
    end
  end
  return best
end
M.best_of = best_of

M.parts = { { "copying", copies }, { "reading", reads }, { "arithmetic", arithmetic },
            { "matrix products", products }, { "launches", launches } }

local function run_parts(c, say)
  local all = {}
  for _, part in ipairs(M.parts) do
    if say then say(part[1]) end
    local list, message, name = needed.caught(part[2], c)
    if not list then needed.fail(("%s: %s"):format(part[1], message), name) end
    table.move(list, 1, #list, #all + 1, all)
  end
  return all
end

--- Measure one part of it, an entry of M.parts, on any device. Returns a list of { ceiling =,
--- what =, rate = or time_s = { median, lo, hi, samples }, clock_hz =, label =, failed = why
--- there is none }, or nil, message, name.
function M.part(device, measure, work)
  return needed.caught(function()
    local c <close> = begin(device, setmetatable(work or {}, { __index = M.work }))
    return measure(c)
  end)
end

local function measure(device, say)
  local from = core.clock.now()
  local c <close> = begin(device, M.work)
  local all = run_parts(c, say)
  local result = best_of(all)
  result.source, result.date, result.details = "measured", os.date "!%Y-%m-%d", all
  result.manifest = manifest.of(device, c.host[2])
  result.manifest_key = manifest.key(manifest.of(device))
  result.seconds = core.clock.now() - from
  return result
end

--- Measure a real device. `say(text)` is told what is done. Returns what ceilings.of returns,
--- not kept yet; or nil, message, name.
function M.measure(device, say)
  local none, unsupported = device_kinds.refusal(device, "ceilings")
  if none then return nil, none, unsupported end
  if device_kinds.of(device).ceilings == "model" then
    return nil, device.info.name .. " is simulated: its ceilings are its model's", "unsupported"
  end
  return needed.caught(measure, device, say)
end

--- A device's ceilings, measured and kept first where nobody has, which takes up to a minute. `lock`
--- is a file to hold meanwhile. As ceilings.of returns them, or nil, message, name.
function M.known(device, lock, say)
  local held <close> = lock and core.fs.lock(lock, true)    -- whom it waits for may be at it
  local known, none, never = ceilings.of(device)
  if known or never then return known, none, never end
  say(("measuring once what %s can do at most, as cawb doctor --calibrate does"):format(device.info.name))
  return needed.caught(function()
    local measured = need(M.measure(device))
    need(ceilings.keep(measured))
    return measured
  end)
end

return M
