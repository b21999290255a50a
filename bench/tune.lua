-- What search is worth: the tuner of compose/tune.lua beside random drawing, from compose's own schedule, at equal numbers
-- of measurements, over the tasks of a suite at sizes that fit a simulated device, or in full on a GPU.
--   cawb bench/tune.lua run SUITE.jsonl BOOK.jsonl [MEASUREMENTS] [SHARD] [DEVICE] [SECONDS] [DRAWS]
--   cawb bench/tune.lua table BOOK.jsonl...
--   cawb bench/tune.lua draw SUITE.jsonl BOOK.jsonl ...      the same without the search, for records
--   cawb bench/tune.lua records BOOK.jsonl... >FILE          what was drawn, as records (compose/tune/records.lua)
-- The first form writes a line a task into BOOK, and goes on after those that are there; after SECONDS no further task begins. SHARD is
-- a part of the suite, as 3/16, or claims:FOLDER: processes with one folder, each with a book of its own, share the suite, a task each
-- in turn.
-- The second prints the table. All begin with compose's own schedule, which is the first measurement of each: it is known
-- before a search begins, and to begin without it would flatter whoever proposes it. `random` walks one to four legal edits
-- from it, `uniform` gives every option of every kernel a value at random (bench/tune/draw.lua); neither measures the same
-- kernels twice. Both draw with other seeds, `random` DRAWS times and `uniform` once, and what is compared with is the mean of these.
-- The search knows the records that cawb comes with, but for those of the task itself.

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local bench = require "cawb.suite.bench"
local schedule = require "cawb.compose.schedule"
local sight = require "cawb.compose.tune.sight"

local UNIFORM = 1          -- draws of that kind

local here = arg[0]:match "^(.*)/" or "."

local word, suite, book, measurements, shard, name, seconds, draws = ...
if word == "table" then return dofile(here .. "/tune/table.lua") { select(2, ...) } end
if word == "records" then return dofile(here .. "/tune/records.lua") { select(2, ...) } end
assert((word == "run" or word == "draw") and book, "usage: cawb bench/tune.lua run SUITE.jsonl BOOK.jsonl [MEASUREMENTS] [SHARD] [DEVICE] [SECONDS] [DRAWS]")
measurements, draws = math.tointeger(tonumber(measurements or 16)), math.tointeger(tonumber(draws or 1))
local claims = (shard or ""):match "^claims:(.+)$"
local part, parts = (claims and "1/1" or shard or "1/1"):match "^(%d+)/(%d+)$"
part, parts = assert(tonumber(part), "SHARD is as 3/16, or claims:FOLDER"), tonumber(parts)
local ends = os.time() + (tonumber(seconds) or 1e9) // 1

local draw = dofile(here .. "/tune/draw.lua")
local device <close> = assert(cawb.device(name or "sim:h100"))
local folder = os.tmpname()
os.remove(folder)
assert(core.fs.mkdir(folder))

-- The columns of KernelBench, or of what `cawb synth` wrote.
local function label_of(row) return ("%s/%s"):format(row.level or "synth", row.name or row.number) end

local host = { assert(python.start(120)) }

local function open(row, all)
  local path = ("%s/%s.py"):format(folder, (label_of(row):gsub("%W", "_")))
  local f = assert(io.open(path, "w"))
  f:write(row.code)
  f:close()
  return cawb.task(path, { device = device, options = all, host = host })
end

local function settings()
  local all = options.copy(cawb.defaults)
  if device.info.modelled then all.scale.memory, all.scale.operations = 4000000, 20000000 end
  all.deadlines.run, all.deadlines.measure = 15, 15
  return all
end

local function make_for(task)
  return function(schedule)
    return compose.make(task, { arch = device.info.arch, memory = device.info.memory, schedule = schedule })
  end
end

-- One process measures on a GPU at a time; building what is measured is nobody else's business.
local function alone(f)
  local path = bench.lock_path(device.info.name)
  local held <close> = path and core.fs.lock(path, true)
  return f()
end

local function profile(task, all, made)
  local c = cawb.candidate { source = made.source, plan = made.plan, options = made.options }
  cawb.compile { source = made.source, device = device, options = made.options }
  local p = alone(function() return cawb.profile(task, c, { options = all, set = "quick" }) end)
  return p and p.ok and p.kernels and compose.times(made, p) or nil
end

-- What was measured, by task and kernel: a kernel takes the same time in any company, so that a plan all of whose kernels ran in other
-- plans need not run. What a simulator says of a kernel it says again: BOOK.times keeps it between runs. On a GPU every plan runs.
local known, kept = {}, nil

local function remember(key, seconds)
  if known[key] ~= nil then return end
  known[key] = seconds or false
  if kept then kept:write(core.json.encode { key = key, seconds = seconds or nil }, "\n") end
end

local function recall()
  if not device.info.modelled then return end
  local path = book .. ".times"
  for text in (core.fs.kind(path) and io.lines(path) or function() end) do
    local one = core.json.decode(text)
    if one then known[one.key] = one.seconds or false end
  end
  kept = assert(io.open(path, "a"))
  kept:setvbuf "line"
end

local function key_of(label, text) return label .. " " .. core.hash.sha256(text):sub(1, 24) end

-- Of each kernel the key of what is known, and its seconds where they are.
local function known_of(label, made)
  local keys, times, count = {}, {}, 0
  for k, kernel in ipairs(made.kernels) do
    keys[k] = key_of(label, sight.of(kernel) or schedule.key(kernel) .. made.source .. made.plan)
    times[k] = known[keys[k]] or nil
    count = count + (times[k] and 1 or 0)
  end
  return keys, count == #made.kernels and times or nil
end

-- Seconds of each kernel of what was made, or nil; every asking counts for him who asks.
local function measure_for(task, all, label)
  local once = device.info.modelled
  return function(made)
    local plan, keys, times = key_of(label, made.source .. made.plan), known_of(label, made)
    if once and times then return times end
    if once and known[plan] == false then return nil end
    times = profile(task, all, made)
    if not times then remember(plan, false) end
    for k, seconds in ipairs(times or {}) do remember(keys[k], seconds) end
    return times
  end
end

-- One way of searching, with what it asked for: a list of { schedule's text, seconds or nothing }.
local function searched(how, make, measure, seed, records)
  local asked = core.json.array {}
  local function noted(made)
    local times, sum = measure(made), 0.0
    for _, t in ipairs(times or {}) do sum = sum + t end
    asked[#asked + 1] = { compose.schedule.text(made.schedule), times and sum or nil, times and core.json.array(times) or nil }
    return times
  end
  local from = core.clock.now()
  local best, curve = how({}, { make = make, measure = noted, measurements = measurements, seed = seed, records = records })
  return best and asked, core.clock.now() - from, curve
end

-- What each kernel of compose's own is.
local function kernels_of(made)
  local list = core.json.array {}
  for k, kernel in ipairs(made.kernels) do list[k] = { key = compose.schedule.key(kernel), about = compose.records.about(kernel) } end
  return list
end

-- The line of a task, or nil where it cannot be made or measured.
local function line_of(row, task, all, number)
  local make = make_for(task)
  local measure, first = measure_for(task, all, label_of(row)), make {}
  if not first or not measure(first) then return nil end
  local line = { task = label_of(row), device = device.info.model, modelled = device.info.modelled or nil, version = core.version,
    when = os.date "!%Y-%m-%d", kernels = kernels_of(first), edits = #compose.schedule.legal(first), random = core.json.array {},
    uniform = core.json.array {} }
  if word == "run" then
    line.search, line.took, line.curve = searched(compose.tune.search, make, measure, 7919 + number, compose.records.shipped(line.task))
  end
  for k = 1, draws do
    line.random[k] = searched(compose.tune.random, make, measure, 7919 + number + 1000 * k)
    if k <= UNIFORM then line.uniform[k] = searched(draw.uniform, make, measure, 7919 + number + 1000 * k) end
  end
  return line
end

local done = {}
for text in (core.fs.kind(book) and io.lines(book) or function() end) do
  local line = core.json.decode(text)
  if line then done[line.task] = true end
end

-- Whether a task is this process's: of those that share a folder of claims the first that asks has it.
local held = {}
local function is_mine(label)
  if not claims then return true end
  local lock = core.fs.lock(("%s/%s"):format(claims, (label:gsub("%W", "_"))), false)
  held[#held + 1] = lock
  return lock ~= nil
end

recall()
local out = assert(io.open(book, "a"))
out:setvbuf "line"
local number = 0
for text in io.lines(suite) do
  local row = core.json.decode(text)
  number = number + 1
  if number % parts == part % parts and not done[label_of(row)] and os.time() < ends and not core.clock.asked() and is_mine(label_of(row)) then
    local all = settings()
    local task <close>, why = open(row, all)
    local line
    if task then line = line_of(row, task, all, number) end
    if line and not core.clock.asked() then out:write(core.json.encode(line), "\n") end
    io.stderr:write(("%s: %s\n"):format(label_of(row), line and ("%d seconds"):format(line.took // 1) or "not made: " .. tostring(why)))
  end
end
