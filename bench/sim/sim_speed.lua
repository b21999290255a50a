-- cawb bench/sim/sim_speed.lua [SIZE] [N] [THREADS,...]: how many warp instructions a second the simulated
-- device executes, counting, and counting and looking for errors, on the last rungs of the float32
-- matrix product, on so many threads. By the clock, which a busy machine slows down: the median of N
-- runs, the least and the most. And in a second of a processor, which it hardly does: of one thread
-- the median too, of several all runs' instructions by all threads' seconds. Prints a table and one
-- JSON object.

local core = require "cawb.core"
local cawb = require "cawb"
local execute = require "cawb.judge.worker.execute"
local families = require "cawb.run.families"
local display = require "cawb.base.display"
local stats = require "cawb.base.stats"

local size, count = math.tointeger(tonumber(arg[1] or 512)), math.tointeger(tonumber(arg[2] or 5))
local root = arg[0]:match "^(.*)/" or "."
local numbers = {}
for n in (arg[3] or "1,2"):gmatch "%d+" do numbers[#numbers + 1] = math.tointeger(tonumber(n)) end

-- Seconds that a process's first thread has computed so far, in user code and in the kernel.
local function computed(pid)
  local file <close> = assert(io.open("/proc/" .. pid .. "/schedstat"))
  return file:read "n" / 1e9
end

-- Of all its threads, those that have ended included; to a hundredth.
local function computed_by_all(pid)
  local file <close> = assert(io.open("/proc/" .. pid .. "/stat"))
  local fields = file:read "a":match "%) (.*)"            -- behind the name: state is the third field
  local list = {}
  for field in fields:gmatch "%S+" do list[#list + 1] = field end
  return (tonumber(list[12]) + tonumber(list[13])) / 100    -- fields 14 and 15: user, system
end

local function rates(device, task, rung)
  local clock, processor, instructions, from = {}, {}, 0, computed_by_all(device.worker:pid())
  for _ = 1, count do
    local before, busy = computed(device.worker:pid()), device.busy
    local ran = assert(execute.run(task, rung, cawb.defaults))
    assert(ran.ok, ran.reason)
    instructions = ran.report.warp_instructions
    clock[#clock + 1] = instructions / (device.busy - busy)
    processor[#processor + 1] = instructions / (computed(device.worker:pid()) - before)
  end
  local whole = computed_by_all(device.worker:pid()) - from
  return clock, processor, instructions, instructions * count / whole
end

local rows, data = {}, {}

local function millions(v) return ("%.0f"):format(v / 1e6) end

-- One mode: each rung N times for warmth (it is compiled and loaded), N times measured.
local function measure(mode, sanitize, threads)
  local device <close> = assert(cawb.device("sim:h100", { simulate = {
    memory = cawb.defaults.simulate.memory, blocks = 0, sanitize = sanitize, threads = threads } }))
  local task <close> = assert(cawb.task(root .. "/../../examples/matmul.py",
    { device = device, task = { m = size, n = size, k = size } }))
  local family = assert(families.match(task))
  for n = 3, #family.versions do
    local rung = family:rung(n, task)
    rates(device, task, rung)
    local clock, processor, instructions, whole = rates(device, task, rung)
    local s, p = stats.summary(clock), threads == 1 and stats.summary(processor) or { median = whole }
    rows[#rows + 1] = { mode, family.versions[n], tostring(threads), ("%.1f M"):format(instructions / 1e6),
      millions(s.median) .. " M/s", millions(math.min(table.unpack(clock))) .. " - " ..
      millions(math.max(table.unpack(clock))), millions(p.median) .. " M/s" }
    data[#data + 1] = { mode = mode, rung = family.versions[n], threads = threads, instructions = instructions,
      rate = s, processor = p }
  end
end

for _, threads in ipairs(numbers) do
  measure("counters", false, threads)
  measure("sanitizer", true, threads)
end
local heads = { "", "rung", "threads", "warp instructions", "a second", "least and most", "of a processor" }
for _, line in ipairs(display.table(heads, rows)) do print(line) end
print(core.json.encode { size = size, count = count, rungs = data, version = cawb.version, when = os.date "!%Y-%m-%d" })
