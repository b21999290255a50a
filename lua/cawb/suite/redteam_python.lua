-- redteam_python: the red team's corpus of tier 2, Python candidates: what is in the files of tests/judge/cheats/tier2, which
-- redteam_file.lua reads. Honest look-alikes must pass.

local candidates = require "cawb.judge.task.candidate"
local core = require "cawb.core"
local judge = require "cawb.judge.judge"
local kinds = require "cawb.gpu.kinds"
local redteam_file = require "cawb.suite.redteam_file"

local M = {}

-- By the first word of a name, as in the catalogue of redteam.lua.
local families = { output = "A", cache = "B", time = "C", work = "D", precision = "E", overfit = "F", judge = "G",
                   jail = "G" }

-- The fixtures of all files of a folder, with family and layer; or nil, message.
local function fixtures_in(folder)
  local entries, message = core.fs.list(folder)
  if not entries then return nil, message end
  local list = {}
  for _, entry in ipairs(entries) do
    local path = ("%s/%s"):format(folder, entry)
    local fixtures = {}
    if entry:find "%.py$" then fixtures, message = redteam_file.read(path) end
    if not fixtures then return nil, message end
    for _, f in ipairs(fixtures) do
      f.file, f.task, f.device = path, f.head.task, f.head.device
      f.family, f.layer = families[f.name:match "^%a*"], (f.head["caught by"] or ""):match "^%a+"
      f.path = ("%s/tasks/%s.py"):format(folder, f.task)
      if not f.family then return nil, ("%s: %s: a fixture's name begins with its family"):format(path, f.name) end
      list[#list + 1] = f
    end
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

-- Give each cheat the look-alikes that name it.
local function marry(list, by_name)
  for _, h in ipairs(list) do
    for name in (h.head["looks like"] or ""):gmatch "[%w_]+" do
      local cheat = by_name[name]
      if not cheat or not cheat.look_alikes or cheat.task ~= h.task then
        return nil, ("%s: %s: it looks like '%s', which is no cheat on the task %s"):format(h.file, h.name, name, h.task)
      end
      table.insert(cheat.look_alikes, h)
    end
  end
  return true
end

--- The cheats of a folder by task, each with `look_alikes`; or nil, message.
function M.fixtures(folder)
  local list, message = fixtures_in(folder)
  if not list then return nil, message end
  local cheats, by_name = {}, {}
  for _, f in ipairs(list) do
    if by_name[f.name] then return nil, ("%s: %s: %s has one of that name"):format(f.file, f.name, by_name[f.name].file) end
    by_name[f.name] = f
    if not f.head["looks like"] then f.look_alikes, cheats[#cheats + 1] = {}, f end
  end
  local ok
  ok, message = marry(list, by_name)
  if not ok then return nil, message end
  for _, f in ipairs(cheats) do
    if #f.look_alikes == 0 then return nil, ("%s: %s: no look-alike names it"):format(f.file, f.name) end
  end
  table.sort(cheats, function(a, b)
    if a.task ~= b.task then return a.task < b.task end
    return a.name < b.name
  end)
  return cheats
end

--- Small limits: what does not end is to be stopped, and what fills a disk to see its end.
function M.options(all, device)
  local gpu = kinds.of(device).gpu                     -- its libraries are large, and slow to load
  all.deadlines.python = gpu and 60.0 or 30.0
  all.tier2.disk, all.tier2.processes, all.tier2.memory = 64 << 20, 0, (gpu and 16 or 4) << 30
  all.tier2.jail = os.getenv "CAWB_TEST_JAIL" or all.tier2.jail
end

local function evaluated(task, fixture, all, seed)
  task:reseed(("%s:%s"):format(seed, fixture.name))
  return judge.judge(task, candidates.new { python = fixture.python, name = fixture.name }, all,
    { confirm = false, samples = 8, budget = 0.2, against = {} })
end

-- Nobody can be judged while somebody else uses the GPU: that is neither caught nor passed.
local function undecided(facts) return facts.name == "shared" or nil end

-- A look-alike is judged once in a run, on the task of the cheat that comes first.
local function honest_of(task, h, all, seed)
  if h.device and h.device ~= task.device.info.name then return nil end
  task.look_alikes = task.look_alikes or {}
  if not task.look_alikes[h.name] then
    local facts, message, name = evaluated(task, h, all, seed)
    if not facts then return nil, message, name end
    task.look_alikes[h.name] = { ok = facts.ok, name = h.name, says = h.head.what, stage = facts.stage,
                                 rule = facts.rule, reason = facts.reason, undecided = undecided(facts), seconds = facts.seconds }
  end
  return task.look_alikes[h.name]
end

--- One cheat and those that look like it (not where it is judged `alone`); of these the first that is rejected counts.
--- Secrets follow from the seed and from a candidate's name.
function M.judge(task, fixture, all, seed, alone)
  local r = { name = fixture.name, family = fixture.family, task = fixture.task, layer = fixture.layer,
              look_alikes = core.json.array {} }
  local facts, message, name = evaluated(task, fixture, all, seed)
  if not facts then return nil, message, name end
  r.caught = not facts.ok
  r.stage, r.rule, r.reason, r.jail = facts.stage, facts.rule, facts.reason, facts.jail
  r.undecided, r.seconds = undecided(facts), facts.seconds
  for _, h in ipairs(alone and {} or fixture.look_alikes) do
    local found
    found, message, name = honest_of(task, h, all, seed)
    if not found and message then return nil, ("%s: %s"):format(h.name, message), name end
    table.insert(r.look_alikes, found)
    if found and (not r.look_alike or not found.ok) then r.look_alike = found end
  end
  r.look_alike = r.look_alike or { ok = true, says = alone and "not judged" or "none on this device" }
  return r
end

return M
