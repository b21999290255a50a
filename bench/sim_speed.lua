-- cawb bench/sim_speed.lua [SIZE] [N]: how many warp instructions a second the simulated device
-- executes on one core, counting, and counting and looking for errors, on the last rungs of the float32 matrix
-- product. The worker's own seconds of a processor, so that a busy machine counts for less; N runs
-- each, the median of them. Prints a table and one JSON object.

local core = require "cawb.core"
local cawb = require "cawb"
local execute = require "cawb.execute"
local families = require "cawb.families"
local report = require "cawb.report"
local stats = require "cawb.stats"

local size, count = math.tointeger(tonumber(arg[1] or 512)), math.tointeger(tonumber(arg[2] or 5))
local root = arg[0]:match "^(.*)/" or "."


-- Seconds that a process has computed so far, in user code and in the kernel.
local function computed(pid)
  local file <close> = assert(io.open("/proc/" .. pid .. "/schedstat"))
  return file:read "n" / 1e9
end

local function rates(device, task, rung)
  local list, instructions = {}, 0
  for _ = 1, count do
    local before = computed(device.worker:pid())
    local ran = assert(execute.run(task, rung))
    assert(ran.ok, ran.reason)
    instructions = ran.report.warp_instructions
    list[#list + 1] = instructions / (computed(device.worker:pid()) - before)
  end
  return list, instructions
end

local rows, data = {}, {}

-- One mode: each rung N times for warmth (it is compiled and loaded), N times measured.
local function measure(mode, sanitize)
  local device <close> = assert(cawb.device("sim:h100",
    { simulate = { memory = cawb.defaults.simulate.memory, blocks = 0, sanitize = sanitize } }))
  local task <close> = assert(cawb.task(root .. "/../examples/matmul.py",
    { device = device, task = { m = size, n = size, k = size } }))
  local family = assert(families.match(task))
  data[mode] = {}
  for n = 3, #family.versions do
    local rung = family:rung(n, task)
    rates(device, task, rung)
    local list, instructions = rates(device, task, rung)
    local s = stats.summary(list)
    rows[#rows + 1] = { mode, family.versions[n], ("%.1f M"):format(instructions / 1e6),
      ("%.0f M/s"):format(s.median / 1e6),
      ("%.0f - %.0f"):format(math.min(table.unpack(list)) / 1e6, math.max(table.unpack(list)) / 1e6) }
    data[mode][family.versions[n]] = { instructions = instructions, rate = s }
  end
end

measure("counters", false)
measure("sanitizer", true)
local heads = { "", "rung", "warp instructions", "a second", "least and most" }
for _, line in ipairs(report.table(heads, rows)) do print(line) end
print(core.json.encode { size = size, count = count, rungs = data, version = cawb.version, when = os.date "!%Y-%m-%d" })
