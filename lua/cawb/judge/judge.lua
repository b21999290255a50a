-- judge: is a candidate right, and how fast is it? Whoever wants to know asks here: runs and with them suites and the server,
-- the red team, promotion, calibration, `cawb reproduce`, `cawb judge`, and scripts by cawb.judge. What is done:
--   evaluate.lua      it is built, swept, verified, timed and looked at
--   many_sizes.lua    the same at the other sizes that its task names
--   confirm.lua       all of it once more, by a fresh worker and on fresh inputs

local baselines = require "cawb.judge.time.baselines"
local candidates = require "cawb.judge.task.candidate"
local confirm = require "cawb.judge.confirm"
local evaluate = require "cawb.judge.evaluate"
local loop = require "cawb.base.loop"
local many_sizes = require "cawb.judge.many_sizes"
local options_of = require "cawb.base.options"
local memory_wait = require "cawb.gpu.memory_wait"

local M = {}

-- Whether a rule wants it measured again: it is suspiciously near to the device's limits.
local function audited(facts)
  for _, flag in ipairs(facts.rules and facts.rules.flags or {}) do
    if flag.evidence and flag.evidence.audit then return true end
  end
  return false
end

-- Whether it is surely slower than all that it was timed against: then nothing is claimed that
-- a second look could take back.
local function hopeless(facts)
  local slower = false
  for _, s in pairs(facts.speedup or {}) do
    if not (s.verdict == "slower" or (s.hi or math.huge) < 1) or facts.modelled then return false end
    slower = true
  end
  return slower
end

-- Whether it is to be confirmed, and whether a rule wants that; or nil, message, name.
local function doubted(facts, options, how)
  if not facts.ok or how.confirm == false then return false end
  local claims, message, name = true, nil, nil
  if how.claims then claims, message, name = how.claims(facts) end
  if claims == nil then return nil, message, name end
  local audit = audited(facts)
  return audit or how.confirm or options.confirm.enabled and claims and not hopeless(facts), audit
end

-- The verdict in a word, beside all facts.
local function told(facts, member)
  local faster = baselines.verdict(facts.equal_error) == "faster"
  facts.member, facts.verdict = member, facts.ok and (faster and "faster" or "right") or "wrong"
  return facts
end

-- Evaluated, at all sizes, and confirmed. `j` keeps the facts, should a later step not come to its end.
local function judged(j)
  local task, candidate, options, how = j.task, j.candidate, j.options, j.how
  if how.once then
    local facts, message, name = evaluate.one(task, candidate, options, how)
    if not facts then return nil, message, name end
    return told(facts, candidate)
  end
  if how.confirm ~= false then confirm.expect(task, candidate, options) end
  local facts, member, name = evaluate.candidate(task, candidate, options, how)
  local message = member
  if facts then
    facts, message, name = many_sizes.complete(task, facts, options,
      function(other) return evaluate.candidate(other, candidate, options, how) end)
  end
  if not facts then return nil, message, name end
  j.facts = told(facts, member)
  local again, audit, kind = doubted(facts, options, how)
  if again == nil then return nil, audit, kind end
  if not again then return facts end
  facts, message, name = confirm.again(task, member, facts, options, how.say or function() end, audit)
  if not facts then return nil, message, name end
  return told(facts, member)
end

-- What was under way when the task host was lost is the candidate's failure: the host had met it. A new one serves the next
-- candidate, unless none starts, or several in a row are lost. Where it found no memory on the device, others may have held
-- that: the candidate is judged once more, and has not failed where they still do.
local most_lost = 3
local function lost(j, message, name)
  local task = j.task
  local in_a_row = task.hosts_lost or 0
  if not task.lost or in_a_row == most_lost or loop.asked() then return nil, message, name end
  local why = task.lost
  task.hosts_lost = in_a_row + 1
  local revived, no, kind = task:revive()
  if not revived then return nil, ("%s; no other starts: %s"):format(why, no), kind end
  if name == "memory" and memory_wait.others(task) > 0 then return nil, why, name end
  if name == "memory" and not j.again then
    j.again = true
    local facts
    facts, message, name = judged(j)
    if facts then return facts end
    return lost(j, message, name)
  end
  return told({ ok = false, stage = "host", name = "host", label = "", variants = {},
    seconds = j.facts and j.facts.seconds or { compile = 0, verify = 0, measure = 0 }, modelled = task.device.info.modelled,
    reason = "the task host was lost while it judged this candidate, and started again: " .. why }, j.candidate)
end

--- Whether the facts are of a worker that somebody ended: by hand, or the kernel for want of memory. That says nothing of a candidate
--- of kernels, which has no way to send these signals; one of Python can.
function M.ended_from_outside(candidate, facts)
  local signal = not candidate.python and facts.name == "died" and (facts.reason or ""):match "was killed by signal (%d+)"
  return signal == "9" or signal == "15"
end

local known = { once = true, confirm = true, claims = true, by = true, say = true, trials = true, battery = true, repeats = true,
                samples = true, budget = true, against = true, launches = true, count = true }

--- Judge a candidate on an open task by the options of a run. `how` may have
---   confirm    true: all of it once more, if it passes; false: never. Else as the option `confirm` and the rules want it
---   claims     function(facts): whether it claims something that has to be confirmed (a run's new best does); nil, message,
---              name where that cannot be told
---   once       as it stands: no sweep, no other sizes of the task, no sanitizer, no profile, no confirmation
---   by         core.clock.now from which on a sweep begins no further member
---   say        function(stage), told what comes next
--- and `trials`, `battery`, `repeats`, `samples`, `budget`, `against`, `launches`, `count` in place of the options.
---
--- Returns the verdict: the facts (docs/reference/facts.md) of the best member, with `verdict` = "faster": right, and faster
--- than the fastest baseline that is no less accurate, "right" or "wrong"; and `member` = the candidate with its tunables. A
--- candidate that failed is a verdict too: ok = false, stage, reason. One whose worker was ended from outside is judged once
--- more. Misuse raises. Where the machine or the task failed: nil,
--- message, name.
function M.judge(task, candidate, options, how)
  if type(task) ~= "table" or not task.device then error("judge: pass a task, as cawb.task returns it", 2) end
  if not candidates.is(candidate) then
    error("judge: pass a candidate, as cawb.candidate{ source =, plan = } returns it", 2)
  end
  options_of.known(how, known, "judge", 2)
  local j = { task = task, candidate = candidate, options = options, how = how or {} }
  local facts, message, name = judged(j)
  if facts and M.ended_from_outside(candidate, facts) and not loop.asked() then facts, message, name = judged(j) end
  if not facts then return lost(j, message, name) end
  task.hosts_lost = 0
  return facts
end

return M
