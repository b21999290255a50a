-- evaluate: everything that is measured about one candidate: build, verify, time.
-- A candidate with tunables is a family; its members are tried cheaply and the
-- fastest right one is then evaluated in full.

local baselines = require "cawb.time.baselines"
local core = require "cawb.core"
local execute = require "cawb.device.execute"
local kinds = require "cawb.device.kinds"
local measure = require "cawb.time.measure"
local python_candidate = require "cawb.run.python_candidate"
local precision = require "cawb.judge.precision"
local profile = require "cawb.look.profile"
local rule_facts = require "cawb.judge.rule_facts"
local rules = require "cawb.judge.rules"
local sanitizer = require "cawb.judge.sanitizer"
local verify = require "cawb.judge.verify"

local M = {}

local function clocked(facts, key, f, ...)
  local from = core.clock.now()
  local result, message, name = f(...)
  facts.seconds[key] = (facts.seconds[key] or 0) + core.clock.now() - from
  return result, message, name
end

local function fail(facts, result)
  facts.ok, facts.stage, facts.reason, facts.log = false, result.stage, result.reason, result.log
  facts.error, facts.report = result.error or facts.error, result.report or facts.report
  facts.battery = result.battery or facts.battery
  facts.name = result.name                   -- "timeout", "died": the worker was lost
  return facts
end

-- An error that looks like that of products in a narrower type is called so.
local function name_precision(task, facts)
  if not facts.error or facts.name then return facts end
  local p = precision.of(task, facts, facts.built and rule_facts.census(facts.built))
  if p.scaled and p.task and precision.coarser(p.class, p.task) then
    facts.precision = p
    facts.reason = ("%s; products in %s make errors of this size"):format(facts.reason, p.class)
  end
  return facts
end

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

local function note_build(facts, prepared)
  local built = prepared.built
  facts.cached, facts.kernels, facts.steps = built.cached, built.kernels, prepared.steps
  facts.log, facts.built = built.log, built
end

-- Ask the rules of some stages. Returns true where the candidate may go on, false where facts
-- are a failure now, or nil, message, name.
local function pass(task, candidate, facts, ...)
  local done, message, name = clocked(facts, "rules", rules.apply, task, candidate, facts, { ... })
  if not done then return nil, message, name end
  return facts.ok
end

-- Bytes to and from memory by the device's counters, where there are any.
local function counted(task, candidate)
  local p = profile.profile(task, candidate, { set = "quick" })
  local bytes = p and p.ok and p.metrics.dram_bytes
  return bytes and { dram_bytes = bytes, source = p.source } or nil
end

--- One member of a candidate. `how` = { trials =, battery =, repeats =, samples =, budget =, against =,
--- launches =, count = with the device's counters on once, say = function(stage) }.
--- Returns facts: { ok, stage, reason, seconds = { compile, verify, measure }, time_s,
--- samples, speedup, equal_error, baselines, error, battery, report, kernels, steps, log, modelled,
--- precision, rules = { set, asked, flags, rejected }, rule, floor }; or nil, message, name.
function M.one(task, candidate, how)
  if candidate.python then return python_candidate.evaluate(task, candidate, how) end
  local facts = { ok = true, seconds = {}, tunables = candidate.tunables,
                  modelled = task.device.info.modelled }
  local say = how.say or function() end
  say "compile"
  local got, message, name = clocked(facts, "compile", execute.prepare, task, candidate)
  if not got then return nil, message, name end
  if not got.ok then return fail(facts, got) end
  note_build(facts, got)
  local go
  go, message, name = pass(task, candidate, facts, "source", "compiled", "plan")
  if not go then return go == false and facts or nil, message, name end
  say "verify"
  got, message, name = clocked(facts, "verify", verify.verify, task, candidate,
    { trials = how.trials, battery = how.battery, repeats = how.repeats })
  if not got then return nil, message, name end
  if not got.ok then return name_precision(task, fail(facts, got)) end
  facts.error, facts.report, facts.trials, facts.battery = got.error, got.report, got.trials, got.battery
  facts.repeatable, facts.products = got.repeatable, got.products
  facts.precision = precision.of(task, facts, rule_facts.census(facts.built))
  go, message, name = pass(task, candidate, facts, "verify")
  if not go then return go == false and facts or nil, message, name end
  say "measure"
  got, message, name = clocked(facts, "measure", measure.measure, task, candidate,
    { samples = how.samples, budget = how.budget, against = how.against, launches = how.launches })
  if not got then return nil, message, name end
  if not got.ok then return fail(facts, got) end
  facts.time_s, facts.samples, facts.speedup = got.time_s, got.samples, got.speedup
  facts.baseline_samples, facts.ratios = got.baseline_samples, got.ratios
  facts.equal_error = baselines.at_equal_error(task, got.speedup, facts.error)
  facts.launch_bound_s, facts.clock_hz, facts.throttled = got.launch_bound_s, got.clock_hz, got.throttled
  if how.count then facts.counted = clocked(facts, "profile", counted, task, candidate) end
  go, message, name = pass(task, candidate, facts, "timing", "plausibility")
  if go == nil then return nil, message, name end
  return facts
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
local function sweep(task, candidate, declared, variants, how)
  local limits, all, best, chosen = task.options.sweep, {}, nil, nil
  for i, tunables in ipairs(variants) do
    if i > 1 and how.spent and how.spent() then break end
    local one = candidate:with(tunables)
    local facts, message, name = M.one(task, one, { trials = limits.trials, battery = {}, repeats = 0,
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

--- A candidate, swept over its tunables when it has any. `how` = { say =, spent = }.
--- Returns the facts of the best member in full, with `variants` (facts of each member
--- tried) and, where the option `profile` asks for it and it passed, `profile`; and that
--- member; or nil, message, name.
function M.candidate(task, candidate, how)
  how = how or {}
  how.say = how.say or function() end
  if candidate.python then
    local facts, message, name = M.one(task, candidate, how)
    return facts, facts and candidate or message, name
  end
  local no, unsupported = kinds.refusal(task.device, "kernels")
  if no then return nil, no, unsupported end
  local wrong = check_texts(candidate)
  if wrong then return stillborn(task, wrong) end
  local declared, message, name = execute.tunables(task, candidate)
  if not declared then return nil, message, name end
  if not declared.ok then return stillborn(task, declared) end
  local list = candidate.tunables and { candidate.tunables }      -- already chosen
    or M.members(declared.tunables, task.options.sweep.variants)
  local chosen, all, facts = candidate:with(list[1]), {}, nil
  if #list > 1 then
    chosen, all, facts = sweep(task, candidate, declared.tunables, list, how)
    if not chosen then return nil, all, facts end
  end
  if not facts or facts.ok then              -- the best of a sweep failed: so it is known
    facts, message, name = M.one(task, chosen, how)
    if not facts then return nil, message, name end
  end
  add_seconds(facts.seconds, all)
  facts.variants, facts.label = all, chosen:label(declared.tunables)
  local look = facts.ok and sanitizer.races or sanitizer.explain
  facts, message, name = clocked(facts, "sanitize", look, task, chosen, facts)
  if not facts then return nil, message, name end
  if facts.ok and task.options.profile ~= "none" then
    how.say "profile"
    facts.profile = clocked(facts, "profile", profile.turn, task, chosen)
  end
  return facts, chosen
end

return M
