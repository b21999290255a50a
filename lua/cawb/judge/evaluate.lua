-- evaluate: everything that is measured about one candidate: build, verify, time. One sequence of
-- stages for every kind of candidate; what differs is a subject (kernel.lua, python_candidate.lua):
--   subject.stages              those at which rules are asked before anything runs
--   subject:open(facts)         make it ready; what is known of it is put into facts
--   subject:verify(how)         as verify.check
--   subject:measure(how)        as rounds.measure
--   subject:measure_own(how)    the same at the task's own sizes, where others are verified (--scale both)
--   subject:count()             bytes by the device's counters, or nil
--   subject:close()
-- open, verify and measure return { ok = true, ... }, a failure as data, or nil, message, name.
--
-- A kernel with tunables is a family; its members are tried cheaply and the fastest right one is
-- then evaluated in full.

local activity = require "cawb.base.activity"
local baselines = require "cawb.judge.time.baselines"
local core = require "cawb.core"
local execute = require "cawb.judge.worker.execute"
local kernel = require "cawb.judge.kernel"
local kinds = require "cawb.gpu.kinds"
local precision = require "cawb.judge.verify.precision"
local profile = require "cawb.judge.profile.profile"
local python_candidate = require "cawb.judge.python_candidate"
local rule_facts = require "cawb.judge.rule_facts"
local rules = require "cawb.judge.rules"
local sanitizer = require "cawb.judge.verify.sanitizer"

local M = {}

local function clocked(facts, key, f, ...)
  local from = core.clock.now()
  local result, message, name = f(...)
  facts.seconds[key] = (facts.seconds[key] or 0) + core.clock.now() - from
  return result, message, name
end

local function fail(facts, result, stage)
  facts.ok, facts.stage, facts.reason, facts.log = false, result.stage or stage, result.reason, result.log
  facts.error, facts.report = result.error or facts.error, result.report or facts.report
  facts.battery, facts.trials = result.battery or facts.battery, result.trials or facts.trials
  facts.name = result.name                   -- "timeout", "died": the worker was lost
  return facts
end

-- ---- the stages of one candidate: each returns whether it goes on, or nil, message, name

local function census_of(facts) return facts.built and rule_facts.census(facts.built) end

-- An error that looks like that of products in a narrower type is called so.
local function name_precision(e)
  local facts = e.facts
  if not facts.error or facts.name then return end
  local p = precision.of(e.task, facts, census_of(facts), e.options.verify)
  if p.scaled and p.task and precision.coarser(p.class, p.task) then
    facts.precision = p
    facts.reason = ("%s; products in %s make errors of this size"):format(facts.reason, p.class)
  end
end

-- Ask the rules of some stages, of the task or of it at its own sizes.
local function pass(e, stages, task, candidate)
  local done, message, name = clocked(e.facts, "rules", rules.apply, task or e.task, candidate or e.candidate, e.facts, stages, e.options)
  if not done then return nil, message, name end
  return e.facts.ok
end

-- One thing that a subject does, timed under `key`: what came of it; false where it failed.
local function attempt(e, key, method, ...)
  e.say(key)
  local got, message, name = clocked(e.facts, key, e.subject[method], e.subject, ...)
  if not got then return nil, message, name end
  if got.ok then return got end
  fail(e.facts, got, key)
  return false
end

local function open(e)
  local got, message, name = attempt(e, "compile", "open", e.facts)
  if not got then return got, message, name end
  return pass(e, e.subject.stages)
end

local function verify(e)
  local facts, how = e.facts, e.how
  local got, message, name = attempt(e, "verify", "verify",
    { trials = how.trials, battery = how.battery, repeats = how.repeats })
  if got == false then name_precision(e) end
  if not got then return got, message, name end
  facts.error, facts.report, facts.trials, facts.battery = got.error, got.report, got.trials, got.battery
  facts.repeatable, facts.products, facts.denormals = got.repeatable, got.products, got.denormals
  facts.precision = precision.of(e.task, facts, census_of(facts), e.options.verify)
  return pass(e, { "verify", "work" })
end

-- Times, and what they come to beside PyTorch's.
local function note_times(e, got)
  local facts = e.facts
  for _, key in ipairs { "time_s", "samples", "speedup", "baseline_samples", "ratios", "launch_bound_s",
                         "clock_hz", "throttled" } do
    facts[key] = got[key]
  end
  facts.equal_error = baselines.at_equal_error(e.task, got.speedup, facts.error, e.options.tolerance)
end

local function how_to_measure(how)
  return { samples = how.samples, budget = how.budget, against = how.against, launches = how.launches }
end

local function measure(e)
  local facts, how = e.facts, e.how
  e.task.device:settle()
  local got, message, name = attempt(e, "measure", "measure", how_to_measure(how))
  if not got then return got, message, name end
  note_times(e, got)
  facts.changed = execute.changed(e.task, e.candidate)
  if how.count then facts.counted = clocked(facts, "profile", e.subject.count, e.subject) end
  return pass(e, { "timing", "work", "plausibility" })
end

-- The rules about a text that only the task's own sizes have: while they are asked, the facts of its build stand in the others' place.
local function pass_text(e, there)
  local facts, here = e.facts, {}
  for key, value in pairs(there) do here[key], facts[key] = facts[key], value end
  local ok, message, name = pass(e, { "source", "compiled", "plan", "plausibility" }, e.task.own, e.candidate.own)
  for key, value in pairs(here) do facts[key] = value end
  return ok, message, name
end

-- Its times are those of the task's own sizes, where smaller ones were verified. What a kernel does at those alone was
-- not seen to be right; that it moves the task's bytes, and takes the time that they need, is looked at.
local function measure_own(e)
  if not e.task.own then return true end
  local facts = e.facts
  local got, message, name = attempt(e, "measure", "measure_own", how_to_measure(e.how))
  if not got then return got, message, name end
  facts.fitted = { time_s = facts.time_s, speedup = facts.speedup, own_tunables = got.tunables }
  facts.counted = { dram_bytes = got.report.dram_bytes, source = "modelled" }
  note_times(e, got)
  if got.there then return pass_text(e, got.there) end
  return pass(e, { "plausibility" }, e.task.own)
end

--- One candidate, or one member of a family. `how` = { trials =, battery =, repeats =, samples =,
--- budget =, against =, launches =, count = with the device's counters on once, say =
--- function(stage) }, over `options`. Returns facts: { ok, stage, reason, seconds = { compile,
--- verify, measure }, time_s, samples, speedup, equal_error, error, battery, report, kernels,
--- steps, log, modelled, fitted = { time_s =, speedup =, own_tunables = } where those sizes are
--- verified and the times are those of the task's own,
--- precision, rules = { set, asked, flags, rejected }, rule, floor }, of a Python
--- candidate also tier = 2, jail = what confined it, jail_lacks = what that
--- does not hold on this machine, python = { census =, renamed =, skipped =, work = { means =, seen =, calls =, lost = } };
--- or nil, message, name.
function M.one(task, candidate, options, how)
  local kind = candidate.python and "python" or "kernels"
  local no, unsupported = kinds.refusal(task.device, kind)
  if no then return nil, no, unsupported end
  local facts = { ok = true, seconds = { compile = 0.0, verify = 0.0, measure = 0.0 },
                  tunables = candidate.tunables, modelled = task.device.info.modelled,
                  tier = candidate.python and 2 or nil }
  task:begin_evaluation(candidate.hash)
  local subject, message, name = (candidate.python and python_candidate or kernel).new(task, candidate, options, how)
  if not subject then return nil, message, name end
  local e = { task = task, candidate = candidate, options = options, how = how, facts = facts, subject = subject,
              say = how.say or function() end }
  local go
  for _, stage in ipairs { open, verify, measure, measure_own } do
    go, message, name = stage(e)
    if not go then break end
  end
  subject:close()
  if go == nil then return nil, message, name end
  return facts
end

-- ---- a family

local attempts = 3                           -- at a Python candidate on a GPU that somebody else uses, too
local most_text = 1 << 20                    -- bytes; NVRTC and the plan take no more

-- Texts that cannot be a kernel or a plan, before they are sent anywhere.
local function check_texts(candidate)
  for stage, text in pairs { compile = candidate.source, plan = candidate.plan } do
    local what = stage == "plan" and "plan.lua" or "kernel.cu"
    if #text > most_text then
      return { stage = stage, reason = ("%s has %d bytes; at most %d are taken"):format(what, #text, most_text) }
    elseif text:find("\0", 1, true) then
      return { stage = stage, reason = what .. " holds a NUL byte" }
    end
  end
end

-- How many members a family has; more than a sweep could ever try is all the same.
local function count(tunables)
  local n = 1
  for _, t in ipairs(tunables) do n = math.min(n * #t.values, 1 << 40) end
  return n
end

-- The i-th member, from 0: its values are the digits of i. Member 0 has the first ones.
local function member(tunables, i)
  local values = {}
  for _, t in ipairs(tunables) do
    values[t.name] = t.values[i % #t.values + 1]
    i = i // #t.values
  end
  return values
end

local function coprime(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a == 1
end

-- At most `limit` members, member 0 among them. The stride is near the golden section
-- of the count and coprime to it, so that no value of a tunable is left out in step.
function M.members(tunables, limit)
  local n = count(tunables)
  local stride = n <= limit and 1 or math.max(1, math.floor(n * 0.6180339887))
  while not coprime(stride, n) do stride = stride + 1 end
  local list = {}
  for k = 0, math.min(n, limit) - 1 do list[#list + 1] = member(tunables, k * stride % n) end
  return list
end

local function faster(a, b)
  return a and a.ok and (not b or not b.ok or a.time_s.median < b.time_s.median)
end

-- Try the members; returns the best one, the facts of all and its own, or nil, message,
-- name.
local function sweep(task, candidate, declared, variants, options, how)
  local limits, all, best, chosen = options.sweep, {}, nil, nil
  local progress <close> = activity.begin { told = true }   -- `say` has how far it is
  for i, tunables in ipairs(variants) do
    progress:step(i - 1, #variants)
    if i > 1 and how.by and core.clock.now() >= how.by then break end
    local one = candidate:with(tunables)
    local facts, message, name = M.one(task, one, options, { trials = limits.trials, battery = {}, repeats = 0,
      samples = limits.samples, budget = limits.budget, against = {}, launches = 0, say = function(stage)
        how.say(("%s %d/%d %s"):format(stage, i, #variants, one:label(declared)))
      end })
    if not facts then return nil, message, name end
    all[#all + 1] = facts
    if not chosen or faster(facts, best) then best, chosen = facts, one end
    if facts.name == "timeout" or facts.name == "died" then break end   -- each costs seconds
  end
  return chosen, all, best
end

local function add_seconds(total, all)
  for _, facts in ipairs(all) do
    for stage, s in pairs(facts.seconds) do
      if facts.seconds ~= total then total[stage] = (total[stage] or 0) + s end
    end
  end
end

-- A candidate that never got as far as a member.
local function stillborn(task, result)
  return fail({ seconds = { compile = 0, verify = 0, measure = 0 }, variants = {},
                modelled = task.device.info.modelled }, result)
end

-- What else is looked at in the member that was chosen.
local function looked_at(task, chosen, facts, options, how)
  local look, message, name = facts.ok and sanitizer.races or sanitizer.explain, nil, nil
  facts, message, name = clocked(facts, "sanitize", look, task, chosen, facts, options)
  if not facts then return nil, message, name end
  if facts.ok and options.profile ~= "none" then
    how.say "profile"
    facts.profile = clocked(facts, "profile", profile.turn, task, chosen, options)
  end
  return facts, chosen
end

local function family(task, candidate, options, how)
  local wrong = check_texts(candidate)
  if wrong then return stillborn(task, wrong) end
  local declared, message, name = execute.tunables(task, candidate, options)
  if not declared then return nil, message, name end
  if not declared.ok then return stillborn(task, declared) end
  local list = candidate.tunables and { candidate.tunables }      -- already chosen
    or M.members(declared.tunables, options.sweep.variants)
  local chosen, all, facts = candidate:with(list[1]), {}, nil
  if #list > 1 then
    chosen, all, facts = sweep(task, candidate, declared.tunables, list, options, how)
    if not chosen then return nil, all, facts end
  end
  if not facts or facts.ok then              -- the best of a sweep failed: so it is known
    facts, message, name = M.one(task, chosen, options, how)
    if not facts then return nil, message, name end
  end
  add_seconds(facts.seconds, all)
  facts.variants, facts.label = all, chosen:label(declared.tunables)
  return looked_at(task, chosen, facts, options, how)
end

--- A candidate, swept over its tunables when it has any, at the task's own sizes. `options` are those of a run; `how` =
--- { say =, by = core.clock.now from which on no further member is begun }, and what M.one takes. Returns the facts of the best member in full, with
--- `variants` (facts of each member tried) and, where the option `profile` asks for it and it
--- passed, `profile`; and that member; or nil, message, name.
function M.candidate(task, candidate, options, how)
  how = how or {}
  how.say = how.say or function() end
  local no, unsupported = kinds.refusal(task.device, candidate.python and "python" or "kernels")
  if no then return nil, no, unsupported end
  if not candidate.python then return family(task, candidate, options, how) end
  local facts, message, name
  for _ = 1, attempts do
    facts, message, name = M.one(task, candidate, options, how)
    if not facts then return nil, message, name end
    if facts.name ~= "shared" then break end
  end
  facts.variants, facts.label = {}, ""
  return facts, candidate
end

return M
