-- rescore: other judgements of what was measured. Rewards, tolerances and rules are applied to
-- stored facts; nothing is compiled, run or asked. What was never measured stays unknown: a
-- turn that another tolerance would let pass was never timed.

local core = require "cawb.core"
local verdict = require "cawb.judge.verify.tolerance"
local options = require "cawb.base.options"
local rescore_rules = require "cawb.suite.rescore_rules"
local rewards = require "cawb.run.rewards"

local M = {}

local decode = core.json.decode
local chunk = 4000            -- rows at a time

-- The facts of the full evaluation, read when something is asked that a turn's row has not.
local function lazily(store, row, result)
  local full
  return setmetatable(result, { __index = function(_, key)
    if full == nil then
      local e = store:query("SELECT facts FROM evaluations WHERE run = ? AND turn = ? AND number = 0",
        row.run, row.number)[1]
      full = e and e.facts and decode(e.facts) or false
    end
    return full and full[key] or nil
  end })
end

-- By run: strategy, task, and the options that it had.
local function runs_of(store)
  local runs = {}
  for _, r in ipairs(assert(store:query "SELECT id, strategy, task, options FROM runs")) do runs[r.id] = r end
  return runs
end

-- Why the stored trials fail a tolerance, or nil; `false` where nothing was stored to judge.
local function judge_trials(facts, tolerance)
  local trials = facts.trials
  if not trials or #trials == 0 then return false end
  for _, trial in ipairs(trials) do
    local why = verdict.judge({ slots = { trial.outputs } }, facts.report, tolerance)
    if why then return why end
  end
end

-- The run's own tolerance with the given one over it.
local function tolerance_of(run, layer)
  if run.tolerance then return run.tolerance end
  local all = options.copy(require "cawb.base.defaults")
  local stored = decode(run.options or "{}") or {}
  options.overlay(all, { tolerance = stored.tolerance }, "stored")
  local ok, message = options.overlay(all, layer, "--tolerance")
  if not ok then return nil, message end
  run.tolerance = all.tolerance
  return run.tolerance
end

-- Another verdict by the tolerance: changes `facts` and returns "unknown" where it would have
-- to be timed.
local function apply_tolerance(facts, run, layer)
  local at_verify = not facts.ok and facts.stage == "verify"
  if not facts.ok and not at_verify then return end
  local tolerance, message = tolerance_of(run, layer)
  if not tolerance then error(message, 0) end
  local why = judge_trials(facts, tolerance)
  if why then facts.ok, facts.stage, facts.reason = false, "verify", why
  elseif why == nil and at_verify then return "unknown" end
end

local function apply_rules(facts, rules)
  if not facts.ok then return end
  for _, rule in ipairs(rules) do
    local why = rule(facts)
    if why then
      facts.ok, facts.stage, facts.reason = false, "rules", tostring(why)
      return
    end
  end
end

-- What a run was paid by, where it had a name; a function is not in the record.
local function reward_of(run)
  if run.reward == nil then
    local stored = (decode(run.options or "{}") or {}).reward
    run.reward = type(stored) == "string" and stored:match "^[%w_-]+$" and rewards.get(stored) or false
  end
  return run.reward
end

-- One turn under the new judgement: { ok, reward, reason, unknown }.
local function rejudge(store, row, run, how)
  local facts = lazily(store, row, decode(row.result))
  local was_ok = facts.ok
  local unknown = how.tolerance and apply_tolerance(facts, run, how.tolerance)
  if how.set and not unknown then unknown = rescore_rules.apply(facts, how.set) end
  if how.rules then apply_rules(facts, how.rules) end
  if unknown then return { ok = true, was_ok = was_ok, unknown = true } end
  local reward = how.reward or reward_of(run)
  if not reward then
    if facts.ok == was_ok then return { ok = was_ok, was_ok = was_ok, reward = row.reward } end
    return { ok = facts.ok, was_ok = was_ok, reason = rawget(facts, "reason") }
  end
  local value, message = rewards.value(reward, facts)
  if not value then error(("run %s, turn %d: %s"):format(row.run, row.number, message), 0) end
  return { ok = facts.ok, was_ok = was_ok, reward = value, reason = rawget(facts, "reason") }
end

local function note_best(groups, run, field, reward)
  local best = groups[run]
  if reward and (not best[field] or reward > best[field]) then best[field] = reward end
end

-- Strategies by their mean best reward, and their places before and after.
local function ranking(best, runs)
  local by, list = {}, {}
  for id, b in pairs(best) do
    local name = runs[id].strategy or "?"
    if not by[name] then
      by[name] = { strategy = name, runs = 0, was = 0.0, now = 0.0 }
      list[#list + 1] = by[name]
    end
    local s = by[name]
    s.runs, s.was, s.now = s.runs + 1, s.was + (b.was or 0), s.now + (b.now or b.was or 0)
  end
  for _, s in ipairs(list) do s.was, s.now = s.was / s.runs, s.now / s.runs end
  for _, field in ipairs { "was", "now" } do
    table.sort(list, function(a,
      b) return a[field] > b[field] or a[field] == b[field] and a.strategy < b.strategy end)
    for i, s in ipairs(list) do s["rank_" .. field] = i end
  end
  return list
end

--- Judge every turn of a store again. `how` = { reward = function, or nil for
--- each run's own, tolerance = layer of options or
--- nil, set = of cawb.rescore_rules, rules = list of functions(facts) that return a reason to
--- reject, or nil }. Returns { turns, rewards =
--- how many changed, verdicts = how many flipped, unknown, changes = { { run, task, turn, was, now,
--- was_ok, ok, reason, unknown } }, strategies }, or nil, message, name.
function M.store(store, how)
  local runs, best = runs_of(store), {}
  local result = { turns = 0, rewards = 0, verdicts = 0, unknown = 0, changes = core.json.array {} }
  local after = 0
  local ok, failure = pcall(function()
    while true do
      local rows = assert(store:query("SELECT rowid AS at, run, number, reward, result FROM turns WHERE rowid > ? "
        .. "ORDER BY rowid LIMIT ?", after, chunk))
      if #rows == 0 then return end
      for _, row in ipairs(rows) do
        local new = rejudge(store, row, runs[row.run], how)
        best[row.run] = best[row.run] or {}
        note_best(best, row.run, "was", row.reward)
        note_best(best, row.run, "now", new.reward)
        result.turns = result.turns + 1
        if new.unknown then result.unknown = result.unknown + 1 end
        if new.ok ~= new.was_ok then result.verdicts = result.verdicts + 1 end
        if new.reward and new.reward ~= row.reward then result.rewards = result.rewards + 1 end
        if new.unknown or new.ok ~= new.was_ok or new.reward ~= row.reward then
          table.insert(result.changes, { run = row.run, task = runs[row.run].task, turn = row.number,
            was = row.reward,
            now = new.reward, was_ok = new.was_ok, ok = new.ok, reason = new.reason, unknown = new.unknown })
        end
      end
      after = rows[#rows].at
    end
  end)
  if not ok then return nil, tostring(failure), "strategy" end
  result.strategies = ranking(best, runs)
  return result
end

--- What --rules names: a set of rules by its name or its file, or a file that returns a function(facts), {
--- check = function }, or a list of those. A function gets the stored facts, and returns why to reject
--- them, or nothing. Returns { set = } or { rules = }, or nil and a message.
function M.rules(name)
  local chunk_of, message = loadfile(name, "t")
  local good, value
  if chunk_of then
    good, value = pcall(chunk_of)
    if not good then return nil, tostring(value) end
  elseif name:find "%.lua$" then return nil, message end
  if not chunk_of or type(value) == "table" and type(value.rules) == "table" then
    local set
    set, message = rescore_rules.new(name)
    return set and { set = set }, message
  end
  local list = {}
  for _, one in ipairs(type(value) == "table" and #value > 0 and value or { value }) do
    local f = type(one) == "table" and one.check or one
    if type(f) ~= "function" then
      return nil, name .. ": must return a set of rules, a function(facts), { check = function }, or a list of those"
    end
    list[#list + 1] = f
  end
  return { rules = list }
end

return M
