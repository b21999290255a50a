-- evaluate: everything that is measured about one candidate: build, verify, time.
-- A candidate with tunables is a family; its members are tried cheaply and the
-- fastest right one is then evaluated in full.

local core = require "cawb.core"
local execute = require "cawb.execute"
local measure = require "cawb.measure"
local verify = require "cawb.verify"

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
  return facts
end

local function note_build(facts, prepared)
  local built = prepared.built
  facts.cached, facts.kernels, facts.steps = built.cached, built.kernels, prepared.steps
  facts.log = built.log
end

--- One member of a candidate. `how` = { trials =, samples =, against =, say =
--- function(stage) }.
--- Returns facts: { ok, stage, reason, seconds = { compile, verify, measure }, time_s,
--- samples, speedup, baselines, error, report, kernels, steps, log, modelled }; or nil,
--- message, name.
function M.one(task, candidate, how)
  local facts = { ok = true, seconds = {}, tunables = candidate.tunables,
                  modelled = task.device.info.modelled }
  local say = how.say or function() end
  say "compile"
  local got, message, name = clocked(facts, "compile", execute.prepare, task, candidate)
  if not got then return nil, message, name end
  if not got.ok then return fail(facts, got) end
  note_build(facts, got)
  say "verify"
  got, message, name = clocked(facts, "verify", verify.verify, task, candidate, { trials = how.trials })
  if not got then return nil, message, name end
  if not got.ok then return fail(facts, got) end
  facts.error, facts.report, facts.trials = got.error, got.report, got.trials
  say "measure"
  got, message, name = clocked(facts, "measure", measure.measure, task, candidate,
    { samples = how.samples, against = how.against })
  if not got then return nil, message, name end
  if not got.ok then return fail(facts, got) end
  facts.time_s, facts.samples, facts.speedup = got.time_s, got.samples, got.speedup
  facts.baselines = got.baselines
  return facts
end

-- All combinations, the first declared value of each varying last.
local function combinations(tunables)
  local list = { {} }
  for _, t in ipairs(tunables) do
    local grown = {}
    for _, base in ipairs(list) do
      for _, value in ipairs(t.values) do
        local one = { [t.name] = value }
        for k, v in pairs(base) do one[k] = v end
        grown[#grown + 1] = one
      end
    end
    list = grown
  end
  return list
end

-- At most `limit` of them, evenly spread, the default (the first) always among them.
local function thin(list, limit)
  if #list <= limit then return list end
  local kept = {}
  for i = 0, limit - 1 do kept[#kept + 1] = list[1 + i * #list // limit] end
  return kept
end

local function faster(a, b)
  return a and a.ok and (not b or not b.ok or a.time_s.median < b.time_s.median)
end

-- Try the members; returns the best one and the facts of all, or nil, message, name.
local function sweep(task, candidate, declared, variants, how)
  local limits, all, best, chosen = task.options.sweep, {}, nil, nil
  for i, tunables in ipairs(variants) do
    if i > 1 and how.spent and how.spent() then break end
    local member = candidate:with(tunables)
    local facts, message, name = M.one(task, member, { trials = limits.trials,
      samples = limits.samples, against = {}, say = function(stage)
        how.say(("%s %d/%d %s"):format(stage, i, #variants, member:label(declared)))
      end })
    if not facts then return nil, message, name end
    all[#all + 1] = facts
    if not chosen or faster(facts, best) then best, chosen = facts, member end
  end
  return chosen, all
end

local function add_seconds(total, all)
  for _, facts in ipairs(all) do
    for stage, s in pairs(facts.seconds) do total[stage] = (total[stage] or 0) + s end
  end
end

--- A candidate, swept over its tunables when it has any. `how` = { say =, spent = }.
--- Returns the facts of the best member in full, with `variants` (facts of each member
--- tried), or nil, message, name.
function M.candidate(task, candidate, how)
  how = how or {}
  how.say = how.say or function() end
  local declared, message, name = execute.tunables(task, candidate)
  if not declared then return nil, message, name end
  if not declared.ok then return fail({ seconds = {}, variants = {} }, declared) end
  local variants = thin(combinations(declared.tunables), task.options.sweep.variants)
  if candidate.tunables then variants = { candidate.tunables } end   -- already chosen
  local chosen, all = candidate:with(variants[1]), {}
  if #variants > 1 then
    chosen, all, name = sweep(task, candidate, declared.tunables, variants, how)
    if not chosen then return nil, all, name end
  end
  local facts
  facts, message, name = M.one(task, chosen, how)
  if not facts then return nil, message, name end
  add_seconds(facts.seconds, all)
  facts.variants, facts.label = all, chosen:label(declared.tunables)
  return facts
end

return M
