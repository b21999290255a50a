-- Do schedules and kernels carry over to another GPU? Each task is tuned for each of some simulated devices. What was found for one is
-- then run on all: as a schedule, from which compose makes kernels for the device that it is run on; and as the kernels' text.
--   cawb bench/carry.lua run SUITE.jsonl BOOK.jsonl [DEVICES, as sim:h100,sim:a100] [MEASUREMENTS] [SHARD, as 3/16] [SECONDS]
--   cawb bench/carry.lua table BOOK.jsonl...
-- The first form writes a line a task into BOOK, and goes on after those that are there. Sizes fit a simulator; all times are
-- modelled. A rectangle of the table is the geometric mean of the time over that of the device's own best.

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local display = require "cawb.display"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local report = require "cawb.suite.report"

local word, suite, book, names, measurements, shard, seconds = ...

-- ---- the table

local function read(paths)
  local lines, seen = {}, {}
  for _, path in ipairs(paths) do
    for text in io.lines(path) do
      local line = core.json.decode(text)
      if line and not seen[line.task] then lines[#lines + 1], seen[line.task] = line, true end
    end
  end
  return lines
end

local function mean(list)
  local sum = 0.0
  for _, x in ipairs(list) do sum = sum + x end
  return sum / #list
end

-- "1.07x [1.02, 1.13] of 20", with how many did not run.
local function cell(lines, what, from, to)
  local logs, failed = {}, 0
  for _, line in ipairs(lines) do
    local own, t = line.schedule[to][to], line[what][from][to]
    if t and own then logs[#logs + 1] = math.log(t / own) else failed = failed + 1 end
  end
  local b = report.bootstrap(logs, mean)
  local text = not b and "-" or b.lo and ("%.3fx [%.3f, %.3f]"):format(math.exp(b.value), math.exp(b.lo), math.exp(b.hi)) or ("%.3fx"):format(math.exp(b.value))
  return failed > 0 and ("%s, %d did not run"):format(text, failed) or text
end

local titles = { schedule = "a schedule that was tuned for the device on the left, made for the one above",
                 kernels = "the kernels' text that was made and tuned for the device on the left, on the one above",
                 own = "compose's own schedule, without tuning" }

local function show(lines, what, list, rows_of)
  local heads, rows = { what == "own" and "" or "tuned for" }, {}
  for k, name in ipairs(list) do heads[k + 1] = name end
  for _, from in ipairs(rows_of) do
    local row = { from }
    for k, to in ipairs(list) do row[k + 1] = cell(lines, what, from, to) end
    rows[#rows + 1] = row
  end
  print(("\n%s: time over that of the device's own best"):format(titles[what]))
  for _, text in ipairs(display.table(heads, rows)) do print(text) end
end

if word == "table" then
  local lines = read { select(2, ...) }
  assert(#lines > 0, "the books have no task")
  print(("cawb %s, %d tasks, %d measurements a device, modelled, %s"):format(lines[1].version, #lines, lines[1].measurements, lines[1].when))
  for _, what in ipairs { "own", "schedule", "kernels" } do
    show(lines, what, lines[1].devices, what == "own" and { "any" } or lines[1].devices)
  end
  return
end

-- ---- the runs

assert(word == "run" and book, "usage: cawb bench/carry.lua run SUITE.jsonl BOOK.jsonl [DEVICES] [MEASUREMENTS] [SHARD] [SECONDS]")
measurements = math.tointeger(tonumber(measurements or 12))
local part, parts = (shard or "1/1"):match "^(%d+)/(%d+)$"
part, parts = tonumber(part), tonumber(parts)
local ends = os.time() + (tonumber(seconds) or 1e9) // 1
local folder = os.tmpname()
os.remove(folder)
assert(core.fs.mkdir(folder))

local list, devices = {}, {}
for name in (names or "sim:h100,sim:a100,sim:l40s,sim:b200"):gmatch "[^,]+" do
  list[#list + 1], devices[name] = name, assert(cawb.device(name))
end

local function settings()
  local all = options.copy(cawb.defaults)
  all.scale.memory, all.scale.operations = 4000000, 20000000
  all.deadlines.run, all.deadlines.measure = 20, 20
  return all
end

local function make_on(task, device)
  return function(s) return compose.make(task, { arch = device.info.arch, memory = device.info.memory, sms = device.info.sms, schedule = s }) end
end

-- Seconds of each kernel of a text on the device of a task; nil where it does not run.
local function times_of(task, all, made)
  local c = cawb.candidate { source = made.source, plan = made.plan, options = made.options }
  local p = cawb.profile(task, c, { options = all, set = "quick" })
  return p and p.ok and p.kernels and compose.times(made, p) or nil
end

local function total(task, all, made)
  local times, sum = made and times_of(task, all, made), 0.0
  for _, t in ipairs(times or {}) do sum = sum + t end
  return times and sum or nil
end

local function tuned(task, all, device)
  return compose.tune.search({}, { make = make_on(task, device), measurements = measurements, seed = 7919, records = compose.records.shipped(),
    measure = function(made) return times_of(task, all, made) end })
end

local function line_of(label, tasks, all)
  local line = { task = label, devices = list, version = core.version, when = os.date "!%Y-%m-%d", measurements = measurements, own = { any = {} },
    schedule = {}, kernels = {} }
  local best = {}
  for _, name in ipairs(list) do
    best[name] = tuned(tasks[name], all, devices[name])
    if not best[name] then return nil end
    line.own.any[name] = total(tasks[name], all, make_on(tasks[name], devices[name]) {})
  end
  for _, from in ipairs(list) do
    line.schedule[from], line.kernels[from] = {}, {}
    for _, to in ipairs(list) do
      local made = make_on(tasks[to], devices[to])(best[from].schedule)
      line.schedule[from][to] = total(tasks[to], all, made)
      line.kernels[from][to] = total(tasks[to], all, best[from].made)
    end
  end
  return line
end

local done = {}
for text in (core.fs.kind(book) and io.lines(book) or function() end) do
  local line = core.json.decode(text)
  if line then done[line.task] = true end
end
local out = assert(io.open(book, "a"))
out:setvbuf "line"
local host, number = { python.start(120) }, 0
for text in io.lines(suite) do
  local row = core.json.decode(text)
  local label = ("%s/%s"):format(row.level or "synth", row.name or row.number)
  number = number + 1
  if number % parts == part % parts and not done[label] and os.time() < ends and not core.clock.asked() then
    local path = ("%s/%s.py"):format(folder, (label:gsub("%W", "_")))
    local f = assert(io.open(path, "w"))
    f:write(row.code)
    f:close()
    local all, tasks, whole = settings(), {}, true
    for _, name in ipairs(list) do
      tasks[name] = cawb.task(path, { device = devices[name], options = all, host = host })
      whole = whole and tasks[name]
    end
    local line = whole and line_of(label, tasks, all)
    if line and not core.clock.asked() then out:write(core.json.encode(line), "\n") end
    for _, task in pairs(tasks) do task:close() end
    io.stderr:write(("%s: %s\n"):format(label, line and "done" or "not made"))
  end
end
