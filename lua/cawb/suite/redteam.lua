-- redteam: known ways to cheat, each with an honest look-alike, against a set of rules. Fixtures of tier 1, kernels with plans, see
-- redteam_kernels.lua; of tier 2, Python candidates, see redteam_python.lua.

local candidates = require "cawb.judge.task.candidate"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local judge = require "cawb.judge.judge"
local options = require "cawb.base.options"
local kernel_fixtures = require "cawb.suite.redteam_kernels"
local python_fixtures = require "cawb.suite.redteam_python"
local python = require "cawb.base.python"
local rules = require "cawb.judge.rules"
local sanitizer = require "cawb.judge.verify.sanitizer"
local seeds = require "cawb.base.seeds"
local strategy = require "cawb.base.strategy"
local tasks = require "cawb.judge.task.task"

local M = {}

M.families = { A = "output without the work", B = "paying once, charging many times", C = "lying about time",
               D = "not the asked kind of work", E = "precision and numerics", F = "over-fitting the test",
               G = "attacking the judge" }

M.folder, M.fixtures = kernel_fixtures.folder, kernel_fixtures.fixtures

-- Options of a run by a set of rules: its own protocol of verification goes with it.
local function options_of(set, device)
  local all = options.copy(defaults)
  all.rules = set.path
  all.measure.against, all.measure.launches = {}, 0
  -- Short: what does not end is to be stopped, not waited for. But no compiler is given up on because a machine is busy.
  all.deadlines.run, all.deadlines.measure, all.deadlines.compile, all.sweep.variants = 10.0, 10.0, 120.0, 1
  all.sanitize.races = sanitizer.installed()
  python_fixtures.options(all, device)
  local name = set.protocol.tolerance
  if not name then return all end
  local path = ("%s/configs/tolerance-%s.lua"):format(core.home, name)
  local layer, message = strategy.load_table(path)
  local ok
  if layer then ok, message = options.overlay(all, layer, path) end
  if not ok then return nil, message end
  return all
end

local function candidate_of(fixture, given, suffix)
  return candidates.new { source = given.source, plan = given.plan, options = given.options, name = fixture.name .. suffix }
end

-- One fixture: what became of the cheat and of its look-alike.
local function judged(task, fixture, all, seed)
  task:reseed(("%s:%s"):format(seed, fixture.name))
  local r = { name = fixture.name, entry = fixture.entry, family = fixture.family, task = fixture.task }
  local cheat, message, name = judge.judge(task, (candidate_of(fixture, fixture.cheat, "")), all, { confirm = false })
  if not cheat then return nil, message, name end
  -- What a simulated device cannot run was not judged.
  r.caught = not cheat.ok and cheat.name ~= "unsupported"
  r.stage, r.rule, r.reason = cheat.stage, cheat.rule, cheat.reason
  r.precision = cheat.precision and cheat.precision.class
  local honest
  honest, message, name = judge.judge(task, (candidate_of(fixture, fixture.look_alike, ", look-alike")), all,
    { confirm = false })
  if not honest then return nil, message, name end
  r.look_alike = { ok = honest.ok, says = fixture.look_alike.says, stage = honest.stage, rule = honest.rule,
                   reason = honest.reason }
  r.expected = fixture.caught
  return r
end

-- All fixtures of one task, which is opened for them. What is secret of a
-- fixture follows from the seed and its name.
local function judge_task(device, host, all, list, results, opts, seed)
  local task <close>, message, name = tasks.open(list[1].path, { device = device, options = all, host = host, seed = seed })
  if not task then return nil, message, name end
  for _, fixture in ipairs(list) do
    local r
    r, message, name = (fixture.python and python_fixtures.judge or judged)(task, fixture, all, seed, opts.alone)
    if not r then return nil, ("%s: %s"):format(fixture.name, message), name end
    results[#results + 1] = r
    if opts.say then opts.say(r) end
  end
  return true
end

local function by_task(fixtures)
  local groups = {}
  for _, f in ipairs(fixtures) do
    local last = groups[#groups]
    if not last or last[1].task ~= f.task then
      last = {}
      groups[#groups + 1] = last
    end
    last[#last + 1] = f
  end
  return groups
end

-- Look-alikes, each once, and how many of them were rejected.
local function count_honest(results)
  local seen, count, alarms = {}, 0, 0
  for _, r in ipairs(results) do
    for _, h in ipairs(r.look_alikes or { r.look_alike }) do
      local name = h.name or r.name
      if not seen[name] then
        seen[name], count = true, count + 1
        if not h.ok then alarms = alarms + 1 end
      end
    end
  end
  return count, alarms
end

local function summary(set, device, results, tier)
  table.sort(results, function(a, b) return a.name < b.name end)
  local s = { rules = set.name, tier = tier, device = device.info.name, fixtures = core.json.array(results), caught = 0,
              false_alarms = 0, families = {} }
  for _, r in ipairs(results) do
    local f = s.families[r.family] or { caught = 0, fixtures = 0, false_alarms = 0, name = M.families[r.family] }
    s.families[r.family] = f
    f.fixtures = f.fixtures + 1
    if r.caught then f.caught, s.caught = f.caught + 1, s.caught + 1 end
    f.results = f.results or {}
    table.insert(f.results, r)
  end
  for _, f in pairs(s.families) do
    f.look_alikes, f.false_alarms = count_honest(f.results)
    f.results = nil
  end
  s.look_alikes, s.false_alarms = count_honest(results)
  s.catch_rate = #results > 0 and s.caught / #results or 0
  s.false_alarm_rate = s.look_alikes > 0 and s.false_alarms / s.look_alikes or 0
  return s
end

local function corpus(opts)
  if opts.tier == 2 then return python_fixtures.fixtures(opts.folder or M.folder() .. "/tier2") end
  return M.fixtures(opts.folder or M.folder() .. "/tier1")
end

-- The fixtures that are asked for and can be shown on this device.
local function chosen_of(fixtures, device, only)
  local chosen = {}
  local function wanted(name)
    if type(only) == "table" then return only[name] end
    return not only or name:find(only)
  end
  for _, f in ipairs(fixtures) do
    local here = not f.device or f.device == device.info.name
    if here and wanted(f.name) then chosen[#chosen + 1] = f end
  end
  return chosen
end

--- The fixtures of a tier that can be shown on a device, whose names match, where a pattern is given, or are keys of a
--- table; or nil, message.
function M.chosen(device, tier, only)
  local fixtures, message = corpus { tier = tier }
  return fixtures and chosen_of(fixtures, device, only), message
end

--- Run a corpus against `opts.rules` (a name or a path) on a device: of `opts.tier` (1: kernels
--- with plans; 2: Python files), in `opts.folder`. `opts.say(result)` is called after each
--- fixture, `opts.only` is a pattern of names, or a table that has them as keys; `opts.alone` leaves tier 2's look-alikes
--- out; `opts.seed` (of an earlier run; fresh) is what all secrets
--- follow from: with the same one each fixture is judged alike, whichever others are; `opts.host` is a task host to use, as
--- python.start returns it, in a table (one of its own, closed at the end). Returns { rules, seed, caught,
--- catch_rate, false_alarms, false_alarm_rate, families, fixtures }, or nil, message, name.
function M.run(device, opts)
  local set, message = rules.set(opts.rules)
  if not set then return nil, message, "usage" end
  local all
  all, message = options_of(set, device)
  if not all then return nil, message, "usage" end
  local fixtures
  fixtures, message = corpus(opts)
  if not fixtures then return nil, message, "missing" end
  local chosen = chosen_of(fixtures, device, opts.only)
  if #chosen == 0 then return nil, "no fixture has such a name", "usage" end
  local process, hello, why
  if opts.host then process, hello = table.unpack(opts.host) else process, hello, why = python.start(all.deadlines.start) end
  if not process then return nil, hello, why end
  local results, ok, name = {}, true, nil
  local seed = opts.seed or seeds.fresh "redteam"
  for _, group in ipairs(by_task(chosen)) do
    ok, message, name = judge_task(device, { process, hello }, all, group, results, opts, seed)
    if not ok then break end
  end
  if not opts.host then process:close() end
  if not ok then return nil, message, name end
  local s = summary(set, device, results, opts.tier or 1)
  s.seed = seed
  return s
end

return M
