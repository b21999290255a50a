-- What search is worth: the tuner of compose/tune.lua beside random drawing, from compose's own schedule, at equal numbers
-- of measurements, over the tasks of a suite at sizes that fit a simulated device, or in full on a GPU.
--   cawb bench/compose/tune.lua run SUITE.jsonl BOOK.jsonl [MEASUREMENTS] [SHARD] [DEVICE] [SECONDS] [DRAWS] [BLOCKS]
--   cawb bench/compose/tune.lua table BOOK.jsonl...
--   cawb bench/compose/tune.lua draw SUITE.jsonl BOOK.jsonl ...      the same without the search, for records
--   cawb bench/compose/tune.lua records BOOK.jsonl... >FILE          what was drawn, as records (compose/tune/records.lua)
-- The first form writes a line a task into BOOK, and goes on after those that are there; after SECONDS no further task begins. SHARD is
-- a part of the suite, as 3/16, or claims:FOLDER: processes with one folder, each with a book of its own, share the suite, a task each
-- in turn.
-- The second prints the table. All begin with compose's own schedule, which is the first measurement of each: it is known
-- before a search begins, and to begin without it would flatter whoever proposes it. `random` walks one to four legal edits
-- from it, `uniform` gives every option of every kernel a value at random (bench/compose/tune/draw.lua); neither measures the same
-- kernels twice. Both draw DRAWS times with other seeds, and what is compared with is the mean of these.
-- With BLOCKS a simulated device models tasks at their own sizes by so many blocks of each launch: those tasks whose plan has 60 legal edits
-- or more and whose own schedule is modelled in 2 seconds of a core. What else it leaves out is counted. What takes 8 seconds later fails.
-- The search knows the records that cawb comes with, but for those of the task itself.

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local bench = require "cawb.suite.bench"
local schedule = require "cawb.compose.schedule.schedule"
local cache_key = require "cawb.compose.tune.cache_key"

-- At tasks' own sizes: legal edits at least; seconds of a core in which its own schedule is made, compiled and modelled; seconds of a core
-- for what is modelled at once later, and how long it is waited for.
local EDITS, OWN, LATER, WAIT = 60, 2, 8, 60

local here = arg[0]:match "^(.*)/" or "."

local word, suite, book, measurements, shard, name, seconds, draws, blocks = ...
if word == "table" then return dofile(here .. "/tune/table.lua") { select(2, ...) } end
if word == "records" then return dofile(here .. "/tune/records.lua") { select(2, ...) } end
assert((word == "run" or word == "draw") and book, "usage: cawb bench/compose/tune.lua run SUITE.jsonl BOOK.jsonl [MEASUREMENTS] [SHARD] [DEVICE] [SECONDS] [DRAWS] [BLOCKS]")
blocks = math.tointeger(tonumber(blocks or 0))
measurements, draws = math.tointeger(tonumber(measurements or 16)), math.tointeger(tonumber(draws or 1))
local claims = (shard or ""):match "^claims:(.+)$"
local part, parts = (claims and "1/1" or shard or "1/1"):match "^(%d+)/(%d+)$"
part, parts = assert(tonumber(part), "SHARD is as 3/16, or claims:FOLDER"), tonumber(parts)
local ends = os.time() + (tonumber(seconds) or 1e9) // 1

local draw, part_of = dofile(here .. "/tune/draw.lua"), dofile(here .. "/tune/part.lua").of
local core_seconds = dofile(here .. "/tune/core_seconds.lua")

local function settings()
  local all = options.copy(cawb.defaults)
  all.deadlines.run, all.deadlines.measure = 15, 15
  if blocks > 0 then
    all.scale.mode, all.simulate.blocks, all.simulate.threads = "full", blocks, 1
    all.deadlines.run, all.deadlines.measure = WAIT, WAIT
  elseif not name or name:find "^sim:" then all.scale.memory, all.scale.operations = 4000000, 20000000 end
  return all
end

local device <close> = assert(cawb.device(name or "sim:h100", settings()))
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
  local from = core_seconds()
  local p = alone(function() return cawb.profile(task, c, { options = all, set = "quick" }) end)
  if not (p and p.ok and p.kernels) or blocks > 0 and core_seconds() - from > LATER then return nil end
  if made.ahead then table.remove(p.kernels, 1) end
  return compose.times(made, p)
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

-- Of each kernel the key of what is known, its seconds where they are, and the numbers of those that are not known.
local function known_of(label, made)
  local keys, times, fresh = {}, {}, {}
  for k, kernel in ipairs(made.kernels) do
    keys[k] = key_of(label, cache_key.of(kernel) or schedule.key(kernel) .. made.source .. made.plan)
    times[k] = known[keys[k]] or nil
    if not times[k] then fresh[k] = true end
  end
  return keys, times, fresh
end

-- Whether kernels that are not known got a time. They run by themselves; where these fail together, each alone, so that the one that
-- fails is known too.
local function fill(task, all, made, keys, times, fresh)
  local part = part_of(made, fresh)
  local some = part and profile(task, all, part)
  for n, k in ipairs(some and part.numbers or {}) do
    remember(keys[k], some[n])
    times[k] = known[keys[k]]
  end
  if some or not part then return some ~= nil end
  local count, failed = 0, false
  for _ in pairs(fresh) do count = count + 1 end
  for k in pairs(fresh) do
    if count == 1 then remember(keys[k], false) else failed = not fill(task, all, made, keys, times, { [k] = true }) or failed end
  end
  return count > 1 and not failed
end

local function has_failed(keys)
  for _, key in ipairs(keys) do if known[key] == false then return true end end
  return false
end

local function whole(task, all, made, keys)
  local times = profile(task, all, made)
  for k, seconds in ipairs(times or {}) do
    remember(keys[k], seconds)
    if device.info.modelled then times[k] = known[keys[k]] end
  end
  return times
end

-- Seconds of each kernel of what was made, or nil; every asking counts for him who asks.
local function measure_for(task, all, label)
  local once = device.info.modelled
  return function(made, is_first)
    local plan, keys, times, fresh = key_of(label, made.source .. made.plan), known_of(label, made)
    if not once then return whole(task, all, made, keys) end
    if not next(fresh) then return times end
    if known[plan] == false or has_failed(keys) then return nil end
    if blocks == 0 or is_first then times = whole(task, all, made, keys)
    elseif not fill(task, all, made, keys, times, fresh) then times = nil end
    if not times then remember(plan, false) end
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

-- Why a task is none to be searched, or nil. At its own sizes: one with few edits, or whose own schedule takes too long.
local function unfit(make, measure)
  local from = core_seconds()
  local first = make {}
  if not first then return "not made" end
  if blocks > 0 and #compose.schedule.legal(first) < EDITS then return ("fewer than %d legal edits"):format(EDITS) end
  local times = measure(first, true)
  if blocks > 0 and core_seconds() - from > OWN then return ("its own schedule takes more than %d s of a core to model"):format(OWN) end
  return not times and "not measured" or nil
end

-- The line of a task.
local function line_of(row, task, all, number)
  local make = make_for(task)
  local measure = measure_for(task, all, label_of(row))
  local why = unfit(make, measure)
  if why then return { task = label_of(row), unfit = why } end
  local first = make {}
  local line = { task = label_of(row), device = device.info.model, modelled = device.info.modelled or nil, version = core.version,
    when = os.date "!%Y-%m-%d", kernels = kernels_of(first), edits = #compose.schedule.legal(first), measurements = measurements, random = core.json.array {},
    uniform = core.json.array {} }
  if word == "run" then
    line.search, line.took, line.curve = searched(compose.tune.search, make, measure, 7919 + number, compose.records.shipped(line.task))
  end
  for k = 1, draws do
    line.random[k] = searched(draw.walks, make, measure, 7919 + number + 1000 * k)
    line.uniform[k] = searched(draw.uniform, make, measure, 7919 + number + 1000 * k)
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
    io.stderr:write(("%s: %s\n"):format(label_of(row), line and (line.unfit or ("%d seconds"):format(line.took // 1)) or "no task: " .. tostring(why)))
  end
end
