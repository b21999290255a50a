-- bench/redteam_seeds: how often, over seeds, does a cheat of the corpus pass, and is its honest look-alike rejected? Each
-- fixture of a tier is judged with COUNT seeds by the strict rules.
--   cawb bench/judge/redteam_seeds.lua -- [COUNT] [JOURNAL] [PATTERN] [FIRST] [--tier 2] [--device NAME] [--step N] [--twins N]
--   cawb bench/judge/redteam_seeds.lua -- --table JOURNAL...   what several of them hold together
-- The seeds are the numbers from FIRST (1) on, each --step (1) further: `cawb redteam --seed N --only NAME` repeats a verdict. JOURNAL is
-- a file that gets a line for each fixture and seed: a run that was ended goes on with what is missing. PATTERN chooses fixtures, or
-- is their names with commas between them. --before FILE,FILE --wanted 20 --from SEED: what stands in these files counts, and of the
-- seeds that begin with SEED each fixture is judged with as many as it lacks of 20. --twins 4
-- judges tier 2's look-alikes with every fourth seed alone, --twins 0 with none.

local cawb = require "cawb"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local display = require "cawb.base.display"
local python = require "cawb.base.python"
local redteam = require "cawb.suite.redteam"
local stats = require "cawb.base.stats"

-- The words that are no flags, in order, and these by name.
local function parsed(given)
  local words, flags, i = {}, { tier = "1", device = nil }, 1
  while given[i] do
    local flag = given[i]:match "^%-%-(%l+)$"
    if flag == "table" then flags.table = true
    elseif flag then flags[flag], i = given[i + 1], i + 1
    else words[#words + 1] = given[i] end
    i = i + 1
  end
  return words, flags
end

-- A pattern, or the names in a list as a table's keys.
local function fixtures_of(text)
  if not (text and text:find ",") then return text end
  local names = {}
  for name in text:gmatch "[^,]+" do names[name] = true end
  return names
end

local function device_of(info, hello)
  return ("%s%s, cawb %s, PyTorch %s, %s"):format(info.model or info.name, (info.driver or "") ~= "" and ", driver " .. info.driver or "", cawb.version,
    hello.torch or "none", os.date "!%Y-%m-%d")
end

local words, flags = parsed(arg)
local tier, step, twins = tonumber(flags.tier), tonumber(flags.step or "1"), tonumber(flags.twins or "1")
local count, path, only, first = tonumber(words[1] or "20"), words[2], fixtures_of(words[3]), tonumber(words[4] or "1")
local rows, known = {}, {}

local function take(row)
  known[row.seed] = known[row.seed] or {}
  known[row.seed][row.name] = true
  rows[#rows + 1] = row
end

local function read(from)
  local f = io.open(from)
  for line in f and f:lines() or function() end do
    local row = core.json.decode(line)
    local wanted = row and (not only or type(only) == "table" and only[row.name] or type(only) == "string" and row.name:find(only))
    if wanted then take(row) end
  end
  if f then f:close() end
end

if flags.table then
  only = nil
  for _, journal in ipairs(words) do read(journal) end
elseif path then read(path) end
local file = path and not flags.table and assert(io.open(path, "a"))

local function keep(row)
  take(row)
  if file then
    file:write(core.json.encode(row), "\n")
    file:flush()
  end
  if not row.caught then print(("--seed %s: %s passed"):format(row.seed, row.name)) end
  if row.rejected then print(("--seed %s: the look-alike of %s was rejected: %s"):format(row.seed, row.name, row.rejected)) end
  io.stdout:flush()
end

-- How often each was judged by journals of earlier times, which count.
local before = {}
for path in (flags.before or ""):gmatch "[^,]+" do
  for line in io.lines(path) do
    local row = core.json.decode(line)
    if row then before[row.name] = (before[row.name] or 0) + 1 end
  end
end
local from, wanted = tonumber(flags.from or first), tonumber(flags.wanted or math.huge)

-- Those that are missing of a seed, in a table's keys, and whether there are any.
local function missing(device, seed)
  local left, had = {}, known[seed] or {}
  for _, f in ipairs(assert(redteam.chosen(device, tier, only))) do
    local enough = tonumber(seed) - from >= wanted - (before[f.name] or 0)
    if not had[f.name] and not enough then left[f.name] = true end
  end
  return left, next(left) ~= nil
end

-- Where the time of one went: of the cheat, and of all its look-alikes.
local function seconds_of(r)
  local all = { cheat = r.seconds, honest = {} }
  for _, h in ipairs(r.look_alikes or {}) do
    for stage, s in pairs(h.seconds or {}) do all.honest[stage] = (all.honest[stage] or 0) + s end
    h.seconds = nil                                       -- one that several cheats share was judged once
  end
  return all.cheat and all or nil
end

-- These with one seed. What could not be judged, because somebody else used the GPU, stays missing.
local function round(device, host, seed, left, alone)
  local s, message, name = redteam.run(device, { rules = "strict", only = left, seed = seed, tier = tier, host = host, alone = alone,
    say = function(r)
      if r.undecided or r.look_alike.undecided then return print(("--seed %s: %s could not be judged: %s"):format(seed, r.name, r.reason)) end
      keep { seed = seed, name = r.name, caught = r.caught, stage = r.stage, rule = r.rule, reason = r.reason, alone = alone or nil, on = host.on,
             rejected = not r.look_alike.ok and r.look_alike.reason or nil, seconds = seconds_of(r) }
    end })
  return s or name == "interrupted" or error(message, 0), name
end

local function tally()
  local by, names = {}, {}
  for _, row in ipairs(rows) do
    local t = by[row.name] or { judged = 0, passed = 0, rejected = 0, twins = 0 }
    if not by[row.name] then names[#names + 1], by[row.name] = row.name, t end
    t.judged, t.passed = t.judged + 1, t.passed + (row.caught and 0 or 1)
    t.rejected, t.twins = t.rejected + (row.rejected and 1 or 0), t.twins + (row.alone and 0 or 1)
  end
  table.sort(names)
  return by, names
end

-- How many were judged where.
local function places()
  local by, list = {}, {}
  for _, row in ipairs(rows) do
    if row.on and not by[row.on] then list[#list + 1] = row.on end
    if row.on then by[row.on] = (by[row.on] or 0) + 1 end
  end
  for i, on in ipairs(list) do list[i] = ("%d on %s"):format(by[on], on) end
  return list
end

local function share(k, n)
  local s = stats.share(k, n)
  return ("%d of %d, %.2f%% [%.2f%%, %.2f%%]"):format(k, n, 100 * s.share, 100 * s.lo, 100 * s.hi)
end

local function print_table()
  local by, names = tally()
  local total, lines = { judged = 0, passed = 0, rejected = 0, twins = 0 }, {}
  for _, name in ipairs(names) do
    local t = by[name]
    lines[#lines + 1] = { name, tostring(t.judged), tostring(t.passed), tostring(t.twins), tostring(t.rejected) }
    for key, n in pairs(t) do total[key] = total[key] + n end
  end
  for _, line in ipairs(display.table({ "fixture", "seeds", "cheat passed", "with look-alikes", "rejected" }, lines)) do print(line) end
  for _, where in ipairs(places()) do print(where) end
  print(("cheats that passed:             %s"):format(share(total.passed, total.judged)))
  print(("look-alikes that were rejected: %s"):format(share(total.rejected, total.twins)))
  print(core.json.encode(total))
  return total.passed + total.rejected
end

if flags.table then return print_table() > 0 and 1 or 0 end
local device <close> = assert(cawb.device(flags.device or tier == 2 and "cpu" or "sim:h100"))
local process, hello = assert(python.start(defaults.deadlines.start))
local on = device_of(device.info, hello)
for n = 0, count - 1 do
  local seed = tostring(first + n * step)
  local left, any = missing(device, seed)
  if any then
    local _, why = round(device, { process, hello, on = on }, seed, left, tier == 2 and (twins == 0 or n % twins > 0))
    if why == "interrupted" then break end
  end
end
process:close()
return print_table() > 0 and 1 or 0
