-- rescore_rules: a set of rules (configs/rules-NAME.lua) held against what was stored. Rules
-- about times and floors are asked again, with their options; of the others the stored
-- findings are taken, with the severity that the set gives them now. A rule that was not asked
-- then, and needs more than was stored, cannot speak: `silent` names those.

local rules = require "cawb.judge.rules"

local M = {}

local askable = { timing = true, plausibility = true }

--- The set as { of = severity by name, asked = set of those that can be asked again, silent =
--- names of rejecting rules that only stored findings speak for }, or nil and a message.
function M.new(name)
  local set, message = rules.set(name)
  if not set then return nil, message end
  local m = { name = set.name, of = { [rules.of_the_task] = "reject" }, asked = { list = {} }, silent = {} }
  for _, one in ipairs(set.list) do
    m.of[one.name] = one.severity
    if one.severity == "reject" and askable[one.rule.stage] then table.insert(m.asked.list, one)
    elseif one.severity == "reject" then m.silent[#m.silent + 1] = one.name end
  end
  return m
end

local function told(facts)
  return { stage = "plausibility", floor = facts.floor, precision = facts.precision, changed = facts.changed,
           timing = facts.time_s and { time_s = facts.time_s, speedup = facts.speedup, samples = {} } }
end

local function reject(facts, rule, reason, stage)
  facts.ok, facts.stage, facts.reason = false, stage or "rules", ("%s (rule %s)"):format(reason, rule)
end

-- A rejection that the set does not stand by. Returns whether it fell, and "unknown" where the
-- candidate was never timed because of it.
local function pardon(facts, set)
  local bad = facts.rules and facts.rules.rejected
  if not bad or set.of[bad.rule] == "reject" then return false end
  if not rawget(facts, "time_s") then return true, "unknown" end
  facts.ok, facts.stage, facts.reason = true, nil, nil
  return true
end

--- Change `facts` to what the set says of them. Returns "unknown" where only a measurement could tell;
--- raises where a rule is broken.
function M.apply(facts, set)
  if not facts.ok then
    local fell, unknown = pardon(facts, set)
    if not fell or unknown then return unknown end
  end
  for _, flag in ipairs(facts.rules and facts.rules.flags or {}) do
    if set.of[flag.rule] == "reject" and not flag.unknown and not askable[flag.stage] then
      return reject(facts, flag.rule, flag.reason, flag.stage)
    end
  end
  if #set.asked.list == 0 then return end
  local outcome, message = rules.judge(set.asked, told(facts), { "timing", "plausibility" })
  if not outcome then error(message, 0) end
  local bad = outcome.rejected
  if bad then reject(facts, bad.rule, bad.reason, bad.stage) end
end

return M
