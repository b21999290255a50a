-- contest: two versions of a kernel on one task. Each is checked as any candidate is; then the new one, B, is timed beside the old
-- one, A, in the judge's paired rounds, until it is known which is faster.

local judge = require "cawb.judge.judge"
local stats = require "cawb.base.stats"

local M = {}

local rounds = 1024            -- at most; the seconds end it earlier

-- Tried alone, its tunables chosen.
local function checked(t, candidate, all)
  return judge.judge(t, candidate, all, { against = {}, confirm = false, budget = 0.1 })
end

--- The change of time from A to B as a share, { median, lo, hi, verdict, rounds }, of how many times as fast B is.
function M.change_of(speedup)
  return { median = 1 / speedup.median - 1, lo = speedup.hi and 1 / speedup.hi - 1, hi = speedup.lo > 0 and 1 / speedup.lo - 1 or nil,
           rounds = speedup.rounds, verdict = speedup.verdict or stats.verdict(speedup, stats.margin) }
end

local function wrong(name, facts, why)
  return { verdict = "wrong", facts = facts, reason = ("%s is wrong: %s"):format(name, why or facts[#facts].reason) }
end

--- Time what was checked: facts of A and of B. Returns { verdict, facts, change }, or with `reason` where one fails now; or nil,
--- message, name.
function M.fight(t, facts, all, seconds)
  local kept, a = all.measure.rounds, setmetatable({ name = "A" }, { __index = facts[1].member })
  all.measure.rounds = rounds
  if a.python then seconds = seconds / all.measure.processes end     -- of each of them
  local b, message, name = judge.judge(t, facts[2].member, all,
    { against = { a }, confirm = false, trials = 1, battery = {}, repeats = 0, budget = seconds })
  all.measure.rounds = kept
  if not b then return nil, message, name end
  if not b.ok then return wrong("B", { facts[1], b }) end
  local of_a = t.baselines.A
  if not b.speedup.A then return wrong("A", facts, of_a.failed) end
  local change = M.change_of(b.speedup.A)
  b.error = facts[2].error                               -- of all checks
  return { verdict = change.verdict, change = change, facts = { { error = facts[1].error, time_s = of_a.time_s, member = facts[1].member }, b } }
end

--- Both checked and timed, for `seconds` of samples at most: as M.fight.
function M.compare(t, a, b, all, seconds)
  local facts = {}
  for i, candidate in ipairs { a, b } do
    local one, message, name = checked(t, candidate, all)
    if not one then return nil, message, name end
    facts[i] = one
    if not one.ok then return wrong(i == 1 and "A" or "B", facts) end
  end
  return M.fight(t, facts, all, seconds)
end

return M
