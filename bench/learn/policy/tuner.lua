-- What the tuner of compose/tune.lua finds at sizes that a policy learns on: its best modelled time after each measurement, of which the
-- first is of compose's own schedule. bench/learn/policy.py --tuner reads it.
--   cawb bench/learn/policy/tuner.lua SUITE.jsonl OUT.jsonl [MEASUREMENTS] [SHARD, as 3/16] [SECONDS] [BYTES] [OPERATIONS]
-- A line a task: { task, curve }. It goes on after those that are there; after SECONDS no further task begins.

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local options = require "cawb.base.options"
local python = require "cawb.base.python"

local suite, to, measurements, shard, seconds, bytes, operations = ...
assert(to, "usage: cawb bench/learn/policy/tuner.lua SUITE.jsonl OUT.jsonl [MEASUREMENTS] [SHARD] [SECONDS] [BYTES] [OPERATIONS]")
local part, parts = (shard or "1/1"):match "^(%d+)/(%d+)$"
part, parts = assert(math.tointeger(tonumber(part)), "SHARD is as 3/16"), math.tointeger(tonumber(parts))
local ends = core.clock.now() + (tonumber(seconds) or 1e9)

local device <close> = assert(cawb.device "sim:h100")
local host = { assert(python.start(240)) }
local folder = os.tmpname()
os.remove(folder)
assert(core.fs.mkdir(folder))

local function settings()
  local all = options.copy(cawb.defaults)
  all.scale.memory, all.scale.operations = tonumber(bytes) or 131072, tonumber(operations) or 1000000
  all.deadlines.run, all.deadlines.measure = 60, 60
  return all
end

local function open(row, all)
  local path = ("%s/%s.py"):format(folder, (row.name:gsub("%W", "_")))
  local f = assert(io.open(path, "w"))
  f:write(row.code)
  f:close()
  return cawb.task(path, { device = device, options = all, host = host })
end

-- The best seconds after each measurement, or nil and why there is none.
local function curve_of(task, all, number)
  local how = { measurements = math.tointeger(tonumber(measurements or 8)), seed = 7919 + number }
  function how.make(schedule)
    return compose.make(task, { arch = device.info.arch, memory = device.info.memory, schedule = schedule })
  end
  function how.measure(made)
    local c = cawb.candidate { source = made.source, plan = made.plan, options = made.options }
    cawb.compile { source = made.source, device = device, options = made.options }
    local p = cawb.profile(task, c, { options = all, set = "quick" })
    return p and p.ok and p.kernels and compose.times(made, p) or nil
  end
  local _, curve = compose.tune.search({}, how)
  return curve, not curve and "its first schedule was not measured" or nil
end

local done = {}
for text in (core.fs.kind(to) and io.lines(to) or function() end) do
  local line = core.json.decode(text)
  if line then done[line.task] = true end
end
local out = assert(io.open(to, "a"))
out:setvbuf "line"
local number = 0
for text in io.lines(suite) do
  local row, all = core.json.decode(text), settings()
  local label = ("%s/%s"):format(row.level, row.name)
  number = number + 1
  if number % parts == part % parts and not done[label] and core.clock.now() < ends then
    local task <close>, why = open(row, all)
    local curve
    if task then curve, why = curve_of(task, all, number) end
    if curve then out:write(core.json.encode { task = label, curve = core.json.array(curve) }, "\n") end
    io.stderr:write(("%s: %s\n"):format(label, curve and #curve .. " measurements" or tostring(why)))
  end
end
