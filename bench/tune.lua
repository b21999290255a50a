-- What search is worth: the tuner of compose/tune.lua beside random drawing, from compose's own schedule, at equal numbers
-- of measurements, over the tasks of a suite at sizes that fit a simulated device, or in full on a GPU.
--   cawb bench/tune.lua SUITE.jsonl [MEASUREMENTS] [PATTERN of names] [DEVICE] [SECONDS]
-- Prints the geometric mean of compose's time over the best so far, after each number of measurements, and the paired
-- ratio of both searches with its 95% interval over tasks. After SECONDS no further task begins: every seventh is taken
-- first, so that those that remain are of all kinds.

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local display = require "cawb.display"
local options = require "cawb.base.options"
local python = require "cawb.base.python"

local suite, measurements, pattern, name, seconds = ...
assert(suite, "usage: cawb bench/tune.lua SUITE.jsonl [MEASUREMENTS] [PATTERN] [DEVICE] [SECONDS]")
measurements = math.tointeger(tonumber(measurements or 16))
local ends = os.time() + (tonumber(seconds) or 1e9) // 1

local device <close> = assert(cawb.device(name or "sim:h100"))
local folder = os.tmpname()
os.remove(folder)
assert(core.fs.mkdir(folder))

local function open(row, all)
  local path = ("%s/%s_%s.py"):format(folder, row.level, row.name)
  local f = assert(io.open(path, "w"))
  f:write(row.code)
  f:close()
  return cawb.task(path, { device = device, options = all, host = { python.start(120) } })
end

local function settings()
  local all = options.copy(cawb.defaults)
  if device.info.modelled then all.scale.memory, all.scale.operations = 4000000, 20000000 end
  all.deadlines.run, all.deadlines.measure = 60, 60
  return all
end

-- Both curves of one task, as times that compose's own is of the best so far; nil where it cannot be made.
local function curves(task, all, seed)
  local function make(schedule)
    return compose.make(task, { arch = device.info.arch, memory = device.info.memory, schedule = schedule })
  end
  local function measure(made)
    local c = cawb.candidate { source = made.source, plan = made.plan, options = made.options }
    local profile = cawb.profile(task, c, { options = all, set = "quick" })
    return profile and profile.ok and profile.kernels and compose.times(made, profile) or nil
  end
  local found = {}
  for _, how in ipairs { "search", "random" } do
    local best, curve = compose.tune[how]({}, { make = make, measure = measure, measurements = measurements, seed = seed })
    if not best then return nil end
    for n = 1, measurements do curve[n] = curve[n] or curve[n - 1] end
    found[how], found[how .. "_best"] = curve, compose.schedule.text(best.schedule)
  end
  return found
end

local function label_of(row) return ("%s/%s"):format(row.level, row.name) end

-- The rows of the suite that are meant, every seventh first.
local function rows_of()
  local list, mixed = {}, {}
  for line in io.lines(suite) do
    local row = core.json.decode(line)
    if label_of(row):find(pattern or ".") then list[#list + 1] = row end
  end
  for first = 1, 7 do
    for k = first, #list, 7 do mixed[#mixed + 1] = list[k] end
  end
  return mixed
end

local all_curves, tasks = {}, 0
for _, row in ipairs(rows_of()) do
  local label = label_of(row)
  if os.time() < ends then
    local all = settings()
    local task <close> = open(row, all)
    local both = task and curves(task, all, 7919 + tasks)
    if both then
      tasks = tasks + 1
      all_curves[tasks] = both
      io.stderr:write(("%s  search %.2fx  random %.2fx  %s\n"):format(label, both.search[1] / both.search[measurements],
        both.random[1] / both.random[measurements], both.search_best))
    end
  end
end
assert(tasks > 0, "no task of the suite could be made")

-- Logarithms of what `f` says of each task.
local function logs(f)
  local list = {}
  for i, c in ipairs(all_curves) do list[i] = math.log(f(c)) end
  return list
end

local function mean(list)
  local sum = 0.0
  for _, x in ipairs(list) do sum = sum + x end
  return sum / #list
end

-- The 95% interval of a mean, by a thousand resamples of the tasks.
local function interval(list)
  local means = {}
  for k = 1, 1000 do
    local sum = 0.0
    for _ = 1, #list do sum = sum + list[math.random(#list)] end
    means[k] = sum / #list
  end
  table.sort(means)
  return means[25], means[975]
end

math.randomseed(1)
print(("cawb %s, %s%s, %s, %d tasks of %s"):format(core.version, device.info.model, device.info.modelled and ", modelled" or "",
  os.date "!%Y-%m-%d", tasks, suite:match "[^/]+$"))
local rows = {}
for n = 1, measurements do
  if n <= 4 or n % 4 == 0 or n == measurements then
    local ratio = logs(function(c) return c.random[n] / c.search[n] end)
    local lo, hi = interval(ratio)
    rows[#rows + 1] = { tostring(n), ("%.3fx"):format(math.exp(mean(logs(function(c) return c.search[1] / c.search[n] end)))),
      ("%.3fx"):format(math.exp(mean(logs(function(c) return c.random[1] / c.random[n] end)))),
      ("%.3fx [%.3f, %.3f]"):format(math.exp(mean(ratio)), math.exp(lo), math.exp(hi)) }
  end
end
for _, text in ipairs(display.table({ "measurements", "search", "random", "search over random" }, rows)) do print(text) end
