-- Long texts of compose, with kernels that differ in whole numbers alone as one (lua/cawb/compose/plan/merge.lua), and each for itself: bytes,
-- kernels, seconds to build, and time on a device, taken in turns.
--   cawb bench/compose_shared.lua SUITE.jsonl [DEVICE] [PATTERN of names] [ROUNDS (3)]

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local display = require "cawb.base.display"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local suites = require "cawb.suite.suite"

local path, name, pattern, rounds = ...
assert(path, "usage: cawb bench/compose_shared.lua SUITE.jsonl [DEVICE] [PATTERN] [ROUNDS]")
rounds = math.tointeger(tonumber(rounds or 3))

local all = options.copy(cawb.defaults)
all.deadlines.run, all.deadlines.compile, all.deadlines.measure, all.measure.budget = 120, 300, 300, 0.5
local device <close> = assert(cawb.device(name or "auto", { simulate = all.simulate, deadlines = all.deadlines }))
local folder = os.tmpname()
os.remove(folder)
local host = { assert(python.start(cawb.defaults.deadlines.start)) }

local NEVER = 1 << 40           -- bytes: no text is so long

local function timed(f, ...)
  local from = core.clock.now()
  local made, why = f(...)
  return core.clock.now() - from, made, why
end

-- One way of making a task, built anew: what it is, as { about, candidate }; or nil and why not.
local function made_by(task, about, long)
  local wrote, made, why = timed(compose.make, task, { arch = device.info.arch, memory = device.info.memory, long = long })
  if not made then return nil, why end
  local source = ("// %s %.6f\n%s"):format(os.date "!%Y-%m-%d %H:%M:%S", core.clock.now(), made.source)
  local built, b = timed(cawb.compile, { source = source, device = device, options = made.options })
  if not b.ok then return nil, b.reason end
  print(("  %-7s %4d kernels %7d bytes  written in %5.2f s  built in %5.2f s"):format(about, select(2, source:gsub("__global__", "")), #source, wrote, built))
  io.stdout:flush()
  return { about = about, candidate = cawb.candidate { source = source, plan = made.plan, options = made.options } }
end

local function time_of(task, way)
  local m, message = cawb.measure(task, way.candidate, { against = {}, options = all })
  return m and m.ok and display.interval(m.time_s) or m and m.reason or message
end

local function one(entry)
  local task <close>, message = cawb.task(assert(suites.file(entry, folder)), { device = device, options = all, host = host })
  if not task then return print("  " .. message) end
  local ways = { made_by(task, "shared", nil), made_by(task, "apart", NEVER) }
  for _, way in ipairs(ways) do
    local v = assert(cawb.verify(task, way.candidate, { trials = 1, repeats = 0, battery = {}, options = all }))
    print(("  %-7s %s"):format(way.about, v.ok and "right" or ("%s: %s"):format(v.stage, v.reason)))
  end
  for _ = 1, rounds do
    for _, way in ipairs(ways) do print(("  %-7s %s"):format(way.about, time_of(task, way))) end
  end
end

for _, entry in ipairs(assert(suites.load(path))) do
  if entry.key:find(pattern or "^3/7_") then
    print(entry.key)
    one(entry)
  end
end
host[1]:close()
os.execute("rm -rf '" .. folder .. "'")
