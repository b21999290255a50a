-- cawb bench/verdicts.lua -- [DEVICE] [N] [--tier 2 [ROWS]]: how often a verdict is wrong.
--   On a GPU N times a kernel is measured against itself, where "faster" and "slower" are both
-- wrong, and N times against one that takes 2% longer, which should be called so. Two kernels spend
-- their time on a chain of multiply-adds (2% more of them take 2% longer), one on memory.
--   On a simulated device (sim:h100) times are modelled: there a kernel against itself must be
-- exactly as fast.
--   With --tier 2 a Python candidate that is the task's own Model under another name is measured
-- against eager PyTorch, each time in processes of its own, on a processor (cpu) too.
-- Prints one JSON object last.

local core = require "cawb.core"
local cawb = require "cawb"
local display = require "cawb.base.display"
local evaluate = require "cawb.run.evaluate"
local options = require "cawb.base.options"
local stats = require "cawb.base.stats"

local words, tier = {}, 1
do
  local given, i = { ... }, 1
  while given[i] do
    if given[i] == "--tier" then tier, i = tonumber(given[i + 1]), i + 2
    else words[#words + 1], i = given[i], i + 1 end
  end
end
local name, count = words[1] or "cuda:0", tonumber(words[2] or 200)
local root = arg[0]:match "^(.*)/" or "."
local device <close> = assert(cawb.device(name))

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

-- How busy the machine was: the least and the most of its load averages over a minute.
local load_least, load_most = math.huge, 0.0
local function note_load()
  local load = tonumber((assert(io.open "/proc/loadavg"):read "a"):match "^%S+")
  load_least, load_most = math.min(load_least, load), math.max(load_most, load)
end

-- The task's own Model as a Python candidate, `count` times; each time in new processes of both.
local function again(rows)
  local all = options.copy(cawb.defaults)
  all.task, all.rules = { rows = rows, cols = 1024 }, "off"
  local path = root .. "/../examples/softmax.py"
  local source = assert(io.open(path)):read "a":gsub("class Model%(", "class ModelNew(")
  local calls, ratios, took, time = {}, {}, {}, 0.0
  for _ = 1, count do
    local task <close> = assert(cawb.task(path, { device = device, options = all }))
    local from = core.clock.now()
    local facts = assert(evaluate.candidate(task, cawb.candidate { python = source }, all,
      { trials = 1, battery = {}, against = { "eager" } }))
    assert(facts.ok, facts.reason)
    local s = facts.speedup.eager
    calls[s.verdict] = (calls[s.verdict] or 0) + 1
    ratios[#ratios + 1], took[#took + 1], time = s.median, core.clock.now() - from, facts.time_s.median
    note_load()
    io.stderr:write(("%s %.3f [%.3f, %.3f] in %d rounds, %d processes each\n"):format(s.verdict, s.median, s.lo, s.hi or math.huge,
      s.rounds, s.processes))
  end
  return time, { verdicts = calls, ratio = stats.summary(ratios), took = stats.summary(took) }
end

-- A kernel beside itself, where times are modelled.
local function modelled()
  local task <close> = open(1 << 16)
  local one, calls, ratios, took = candidate "double", {}, {}, {}
  for _ = 1, count do
    local from = core.clock.now()
    local m = assert(cawb.measure(task, one, { against = { setmetatable({ name = "rival" }, { __index = one }) } }))
    assert(m.ok, m.reason)
    local s = m.speedup.rival
    local verdict = s.lo > 1 and "faster" or s.hi < 1 and "slower" or "same"
    calls[verdict] = (calls[verdict] or 0) + 1
    ratios[#ratios + 1], took[#took + 1] = s.median, core.clock.now() - from
    note_load()
  end
  return time_of(task, one), { verdicts = calls, ratio = stats.summary(ratios), took = stats.summary(took) }
end

if tier == 2 then
  local rows = tonumber(words[3])
  for _, rows in ipairs(rows and { rows } or device.info.name == "cpu" and { 256, 2048 } or { 1024, 65536 }) do
    add(("softmax of %d x 1024 in Python against eager"):format(rows), again(rows))
  end
elseif device.info.modelled then
  add("copy and double against itself", modelled())
end
if tier == 1 and not device.info.modelled then
  local task <close> = open()
  for _, seconds in ipairs { 20e-6, 4e-3 } do
    local length = length_for(task, seconds)
    local one, longer = candidate("chain", length), candidate("chain", math.floor(length * 1.02 + 0.5))
    local time = time_of(task, one)
    add("chain against itself", time, trials(task, one, one))
    add("chain 2% longer against it", time, trials(task, longer, one))
  end
end
if tier == 1 and not device.info.modelled then
  local task <close> = open(5 << 20)             -- 20 MiB each way: about 20 us
  local one = candidate "double"
  add("copy and double against itself", time_of(task, one), trials(task, one, one))
end

data.load = { least = load_least < math.huge and load_least or nil, most = load_most }
print(("%s, driver %s, cawb %s, %s: %d measurements each, load %.1f to %.1f"):format(device.info.model or name,
  device.info.driver or "none", data.version, data.when, count, load_least < math.huge and load_least or 0, load_most))
for _, line in ipairs(display.table({ "", "time", "faster", "slower", "same", "undecided",
  "ratio [95% interval]", "took" }, rows)) do print(line) end
print(core.json.encode(data))
