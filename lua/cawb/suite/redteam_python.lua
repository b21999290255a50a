-- redteam_python: the red team's corpus of tier 2, Python candidates. tests/cheats/tier2 has a
-- file for each cheat and files NAME_honest.py, look-alikes that must pass. Comments at the
-- head: `what`, `met by`, `caught by: LAYER: how` (rules, judge, jail, numbers), `task`, and for
-- a look-alike `looks like`, the cheats that it resembles; `device` where it is about one only.

local candidates = require "cawb.task.candidate"
local core = require "cawb.core"
local evaluate = require "cawb.run.evaluate"
local file = require "cawb.base.file"
local kinds = require "cawb.device.kinds"
local needed = require "cawb.base.need"

local M = {}

local need = needed.need

-- By the first word of a name, as in the catalogue of redteam.lua.
local families = { output = "A", cache = "B", time = "C", work = "D", precision = "E", overfit = "F", judge = "G",
                   jail = "G" }

--- The comments at the head of a fixture: { what =, ["caught by"] =, task =, ... }.
function M.header(text)
  local fields = {}
  for line in text:gmatch "[^\n]*" do
    local key, value = line:match "^# ([%a ]+): (.+)$"
    if not key then break end
    fields[key] = value
  end
  return fields
end

local function load_fixture(folder, entry)
  local path = ("%s/%s"):format(folder, entry)
  local text = need(file.read(path))
  local head = M.header(text)
  for _, key in ipairs { "what", "expect", "task" } do
    need(head[key], ("%s: its head has no line '# %s: ...'"):format(path, key))
  end
  local name = entry:match "^(.*)%.py$"
  local family = need(families[name:match "^%a+"], ("%s: a fixture's name begins with its family"):format(path))
  return { name = name, family = family, head = head, python = text, task = head.task, device = head.device,
           path = ("%s/tasks/%s.py"):format(folder, head.task), layer = (head["caught by"] or ""):match "^%a+" }
end

-- Give each cheat the look-alikes that name it.
local function marry(cheats, honest)
  for _, h in ipairs(honest) do
    for name in (h.head["looks like"] or ""):gmatch "[%w_]+" do
      local cheat = cheats[name]
      need(cheat and cheat.task == h.task, ("%s: it looks like '%s', which is not there on the task %s"):format(h.name, name, h.task))
      table.insert(cheat.look_alikes, h)
    end
  end
end

local function fixtures_of(folder)
  local cheats, honest, list = {}, {}, {}
  for _, entry in ipairs(need(core.fs.list(folder))) do
    if entry:find "%.py$" then
      local one = load_fixture(folder, entry)
      if one.head.expect == "pass" then
        honest[#honest + 1] = one
      else
        one.look_alikes = {}
        cheats[one.name], list[#list + 1] = one, one
      end
    end
  end
  table.sort(honest, function(a, b) return a.name < b.name end)
  marry(cheats, honest)
  for _, f in ipairs(list) do need(#f.look_alikes > 0, f.name .. ": no look-alike names it") end
  table.sort(list, function(a, b)
    if a.task ~= b.task then return a.task < b.task end
    return a.name < b.name
  end)
  return list
end

--- The cheats of a folder by task, each with `look_alikes`; or nil, message.
function M.fixtures(folder) return needed.caught(fixtures_of, folder) end

--- Small limits: what does not end is to be stopped, and what fills a disk to see its end.
function M.options(all, device)
  local gpu = kinds.of(device).gpu                     -- its libraries are large, and slow to load
  all.deadlines.python = gpu and 60.0 or 30.0
  all.tier2.disk, all.tier2.processes, all.tier2.memory = 64 << 20, 0, (gpu and 16 or 4) << 30
  all.tier2.jail = os.getenv "CAWB_TEST_JAIL" or all.tier2.jail
end

local function evaluated(task, fixture, all, seed)
  task:reseed(("%s:%s"):format(seed, fixture.name))
  return need(evaluate.candidate(task, candidates.new { python = fixture.python, name = fixture.name }, all,
    { samples = 8, budget = 0.2, against = {} }))
end

-- Nobody can be judged while somebody else uses the GPU: that is neither caught nor passed.
local function undecided(facts) return facts.name == "shared" or nil end

-- A look-alike is judged once in a run, on the task of the cheat that comes first.
local function honest_of(task, h, all, seed)
  if h.device and h.device ~= task.device.info.name then return nil end
  task.look_alikes = task.look_alikes or {}
  if not task.look_alikes[h.name] then
    local facts, message, name = needed.caught(evaluated, task, h, all, seed)
    if not facts then needed.fail(("%s: %s"):format(h.name, message), name) end
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
  local facts = evaluated(task, fixture, all, seed)
  r.caught = not facts.ok
  r.stage, r.rule, r.reason, r.jail = facts.stage, facts.rule, facts.reason, facts.jail
  r.undecided, r.seconds = undecided(facts), facts.seconds
  for _, h in ipairs(alone and {} or fixture.look_alikes) do
    local found = honest_of(task, h, all, seed)
    table.insert(r.look_alikes, found)
    if found and (not r.look_alike or not found.ok) then r.look_alike = found end
  end
  r.look_alike = r.look_alike or { ok = true, says = alone and "not judged" or "none on this device" }
  return r
end

return M
