-- cawb bench/verdicts.lua [DEVICE] [N]: how often a verdict is wrong. N times a kernel is
-- measured against itself, where "faster" and "slower" are both wrong, and N times
-- against one that takes 2% longer, which should be called so. Two kernels spend their
-- time on a chain of multiply-adds (2% more of them take 2% longer), one on memory.
-- Prints one JSON object last.

local core = require "cawb.core"
local cawb = require "cawb"
local display = require "cawb.base.display"
local stats = require "cawb.base.stats"

local name, count = ... or "cuda:0", tonumber((select(2, ...)) or 200)
local root = arg[0]:match "^(.*)/" or "."
local device <close> = assert(cawb.device(name))
assert(not device.info.modelled, "modelled times do not vary: this benchmark is for a GPU")

local function candidate(folder, length)
  local c = assert(cawb.candidate(root .. "/" .. folder))
  return cawb.candidate { source = c.source, plan = c.plan, name = ("%s %s"):format(folder, length or ""),
                          defines = length and { LENGTH = length } or nil }
end

local function open(n)
  return assert(cawb.task(root .. "/chain/task.py", { device = device, task = n and { n = n } or nil }))
end

-- The length of chain that takes about `seconds`.
local function length_for(task, seconds)
  local probe = 20000
  local t = assert(cawb.measure(task, candidate("chain", probe), { against = {}, samples = 20 }))
  return math.floor(probe * seconds / t.time_s.median)
end

-- `count` measurements: how often each verdict, the pooled ratio, and what they took.
local function trials(task, subject, rival)
  local calls, ratios, took = {}, {}, {}
  rival = setmetatable({ name = "rival" }, { __index = rival })
  for _ = 1, count do
    local from = core.clock.now()
    local m = assert(cawb.measure(task, subject, { against = { rival } }))
    assert(m.ok, m.reason)
    local s = m.speedup.rival
    calls[s.verdict] = (calls[s.verdict] or 0) + 1
    ratios[#ratios + 1], took[#took + 1] = s.median, core.clock.now() - from
  end
  return { verdicts = calls, ratio = stats.summary(ratios), took = stats.summary(took) }
end

local rows, data = {}, { device = device.info, count = count, version = cawb.version,
  when = os.date "!%Y-%m-%d", results = {} }

local function add(what, time, result)
  local v = result.verdicts
  rows[#rows + 1] = { what, display.time(time), tostring(v.faster or 0), tostring(v.slower or 0),
    tostring(v.same or 0), tostring(v.undecided or 0),
    ("%.4f [%.4f, %.4f]"):format(result.ratio.median, result.ratio.lo, result.ratio.hi),
    display.time(result.took.median) }
  io.stderr:write(table.concat(rows[#rows], "  "), "\n")
  result.what, result.time_s = what, time
  data.results[#data.results + 1] = result
end

local function time_of(task, c)
  return assert(cawb.measure(task, c, { against = {}, samples = 50 })).time_s.median
end

do
  local task <close> = open()
  for _, seconds in ipairs { 20e-6, 4e-3 } do
    local length = length_for(task, seconds)
    local one, longer = candidate("chain", length), candidate("chain", math.floor(length * 1.02 + 0.5))
    local time = time_of(task, one)
    add("chain against itself", time, trials(task, one, one))
    add("chain 2% longer against it", time, trials(task, longer, one))
  end
end
do
  local task <close> = open(5 << 20)             -- 20 MiB each way: about 20 us
  local one = candidate "double"
  add("copy and double against itself", time_of(task, one), trials(task, one, one))
end

print(("%s, driver %s, cawb %s, %s: %d measurements each"):format(device.info.model,
  device.info.driver, data.version, data.when, count))
for _, line in ipairs(display.table({ "", "time", "faster", "slower", "same", "undecided",
  "ratio [95% interval]", "took" }, rows)) do print(line) end
print(core.json.encode(data))
