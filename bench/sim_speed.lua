-- cawb bench/sim_speed.lua [SIZE] [N]: how many warp instructions a second the simulated device
-- executes on one core, counting and looking for errors, on the last rungs of the float32 matrix
-- product. The worker's own time (user, of /proc), so that a busy machine counts for less; N runs
-- each, the median of them. Prints a table and one JSON object.

local core = require "cawb.core"
local cawb = require "cawb"
local execute = require "cawb.execute"
local families = require "cawb.families"
local report = require "cawb.report"
local stats = require "cawb.stats"

local size, count = math.tointeger(tonumber(arg[1] or 512)), math.tointeger(tonumber(arg[2] or 5))
local root = arg[0]:match "^(.*)/" or "."
local TICK = 100                -- of /proc: one in a hundredth of a second

local device <close> = assert(cawb.device "sim:h100")
local task <close> = assert(cawb.task(root .. "/../examples/matmul.py",
  { device = device, task = { m = size, n = size, k = size } }))
local family = assert(families.match(task))

-- Seconds that a process has computed so far.
local function computed(pid)
  local file <close> = assert(io.open("/proc/" .. pid .. "/stat"))
  local fields = {}
  for word in file:read("a"):match("%) (.*)"):gmatch "%S+" do fields[#fields + 1] = word end
  return tonumber(fields[12]) / TICK
end

local function rates(rung)
  local list, instructions = {}, 0
  for _ = 1, count do
    local before = computed(device.worker:pid())
    local ran = assert(execute.run(task, rung))
    assert(ran.ok, ran.reason)
    instructions = ran.report.warp_instructions
    list[#list + 1] = instructions / math.max(computed(device.worker:pid()) - before, 1 / TICK)
  end
  return list, instructions
end

local rows, data = {}, {}
for n = 3, #family.versions do
  local rung = family:rung(n, task)
  rates(rung)                   -- compiled and loaded
  local list, instructions = rates(rung)
  local s = stats.summary(list)
  rows[#rows + 1] = { family.versions[n], ("%.1f M"):format(instructions / 1e6), ("%.0f M/s"):format(s.median / 1e6),
    ("%.0f - %.0f"):format(math.min(table.unpack(list)) / 1e6, math.max(table.unpack(list)) / 1e6) }
  data[family.versions[n]] = { instructions = instructions, rate = s }
end
for _, line in ipairs(report.table({ "rung", "warp instructions", "a second", "least and most" }, rows)) do print(line) end
print(core.json.encode { size = size, count = count, rungs = data, version = cawb.version, when = os.date "!%Y-%m-%d" })
