-- run: one strategy on one task. It spends the budget, keeps the best, and has
-- every turn recorded before the next one starts.

local activity = require "cawb.base.activity"
local afford = require "cawb.agent.afford"
local ask_model = require "cawb.agent.ask"
local candidates = require "cawb.judge.task.candidate"
local cassette = require "cawb.agent.cassette"
local confirm = require "cawb.judge.confirm"
local core = require "cawb.core"
local evaluate = require "cawb.judge.evaluate"
local loop = require "cawb.base.loop"
local prices = require "cawb.agent.prices"
local rewards = require "cawb.run.rewards"
local memory_wait = require "cawb.gpu.memory_wait"

local M = {}

---@class cawb.Run
local Run = {}
Run.__index = Run
Run.__name = "cawb.run"

--- A name for a run of a task: when it began, the task's name, and a random end.
function M.new_id(task)
  local tail = (core.clock.random(3):gsub(".", function(c) return ("%02x"):format(c:byte()) end))
  return ("%s-%s-%s"):format(os.date "!%Y%m%dT%H%M%SZ", task, tail)
end

--- Seconds since the run began.
function Run:elapsed() return core.clock.now() - self.from end

local means = { "turns", "seconds", "replies", "tokens", "dollars", "device_seconds", "no_progress" }
local whole = { turns = true, replies = true, tokens = true, no_progress = true }

local function amounts(self, how)
  local t = {}
  for _, name in ipairs(means) do
    local amount = self.budget[how](self.budget, name)
    t[name] = amount and whole[name] and math.tointeger(amount) or amount
  end
  return t
end

-- What the device did since it was last looked at.
local function count_device(self)
  local busy = self.task.device.busy
  self.budget:spend("device_seconds", math.max(0, busy - self.device_busy))
  self.device_busy = busy
end

--- What is left: { turns =, seconds =, replies =, tokens =, dollars =, device_seconds =,
--- no_progress = }, those that are limited.
function Run:left()
  count_device(self)
  return amounts(self, "left")
end

--- What is spent, by the same names.
function Run:spent()
  count_device(self)
  return amounts(self, "spent")
end

-- The run cannot go on, and says why. What went wrong first is the reason: a strategy that goes on
-- without a turn fails by that.
local function broke(self, message, name)
  if self.ended == "failed" then return nil, message, name end
  self.ended = name == "interrupted" and "interrupted" or "failed"
  self.reason, self.reason_name = message, name
  return nil, message, name
end

-- The first Ctrl-C ends what is no turn, and what comes after one; the second ends a turn too.
local function stopper(self)
  return function()
    loop.beat()
    if core.clock.interrupted() or loop.asked() and not (self.busy or self.patient) then error("interrupted", 0) end
  end
end

-- Call into the strategy: its mistakes end the run, not the program, and Ctrl-C
-- reaches a loop of its own.
local function ask(self, hook, ...)
  if hook == "step" then self.patient = false end
  debug.sethook(stopper(self), "", 1000000)
  local ok, value = pcall(self.strategy[hook], ...)
  debug.sethook()
  if ok then return value end
  if loop.asked() then return broke(self, "interrupted", "interrupted") end
  broke(self, ("%s: in %s: %s"):format(self.strategy.path, hook, tostring(value)), "strategy")
end

--- Why the run must end now, or nil: the budget that is spent ("turns", "seconds", "replies",
--- "tokens", "dollars", "device_seconds", "no_progress"), "stop", "interrupted", "failed" (the
--- machine), "gave up" (the strategy).
function Run:done()
  if self.ended then return self.ended end
  count_device(self)
  self.ended = loop.asked() and "interrupted" or self.budget:over()
  if self.ended then return self.ended
  elseif self.strategy.stop and #self.turns > self.asked then
    self.asked = #self.turns                   -- once after every turn
    if ask(self, "stop", self) then self.ended = self.ended or "stop" end
  end
  return self.ended
end

--- From now until the strategy's step ends the first Ctrl-C ends nothing by itself: run:done() tells of it, and what the step has by
--- then may still be evaluated. For a search that keeps its best.
function Run:patiently() self.patient = true end

--- End the run because there is nothing (more) that the strategy can do.
function Run:give_up(reason)
  self.ended, self.reason = "gave up", reason
  return false
end

local function better(a, b)
  if not a.ok then return false end
  if not b then return true end
  if a.reward ~= b.reward then return a.reward > b.reward end
  return a.facts.time_s.median < b.facts.time_s.median
end

-- Copy what a turn shows from what was measured.
local function show(turn, facts)
  for _, key in ipairs { "ok", "stage", "reason", "seconds", "time_s", "speedup", "error",
                         "tunables", "modelled", "log" } do
    turn[key] = facts[key]
  end
  turn.label, turn.facts = facts.label, facts
end

-- What was measured, and what it is worth. Returns the turn, or nil, message, name.
local function rewarded(self, turn, facts)
  local message
  show(turn, facts)
  turn.reward, message = rewards.value(self.reward, facts, self.options.deadlines.rule)
  if not turn.reward then return nil, message, "strategy" end
  return turn
end

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

-- Sweep, verify, measure; and all of it once more for what would be the best, or is hard to
-- believe.
local function judge(self, turn)
  confirm.expect(self.task, turn.candidate, self.options)
  local function say(stage) self.report:stage(self, turn, stage) end
  local facts, member, name = evaluate.candidate(self.task, turn.candidate, self.options, { say = say,
    spent = function() return self:elapsed() >= self.options.seconds end })
  if not facts then return nil, member, name end
  local done, message, kind = rewarded(self, turn, facts)
  if not done then return nil, message, kind end
  local audit = audited(facts)
  local again = audit or turn.confirm or self.options.confirm.enabled and better(turn, self.best) and not hopeless(facts)
  if not (facts.ok and again) then return turn end
  facts, message, kind = confirm.again(self.task, member, facts, self.options, say, audit)
  if not facts then return nil, message, kind end
  return rewarded(self, turn, facts)
end

-- What was under way when the task host was lost is that turn's failure: it had met the candidate. A
-- new one does the next turn's, unless none starts, or several in a row are lost. Where it found no memory on the device, others
-- may have held that: the turn is judged once more, and is no failure where they still do. Returns the turn,
-- or nil, message, name.
local most_lost = 3
local function lost(self, turn, message, name)
  local task = self.task
  if not task.lost or self.hosts_lost == most_lost or loop.asked() then return nil, message, name end
  local why = task.lost
  self.hosts_lost = self.hosts_lost + 1
  local again, no, kind = task:revive()
  if not again then return nil, ("%s; no other starts: %s"):format(why, no), kind end
  if name == "memory" and memory_wait.others(task) > 0 then return nil, why, name end
  if name == "memory" and not turn.judged_again then
    turn.judged_again = true
    local judged
    judged, message, name = judge(self, turn)
    if judged then return judged end
    return lost(self, turn, message, name)
  end
  return rewarded(self, turn, { ok = false, stage = "host", name = "host", label = "", variants = {},
    seconds = turn.facts and turn.facts.seconds or { compile = 0, verify = 0, measure = 0 }, modelled = task.device.info.modelled,
    reason = "the task host was lost while it judged this candidate, and started again: " .. why })
end

-- Why no more candidates are evaluated, or nil. What a model's last reply proposed still is,
-- though there are no further replies.
local asking = { replies = true, tokens = true, dollars = true }
local function closed(self)
  local why = self:done()
  if why == "interrupted" and self.patient and not core.clock.interrupted() then return nil end
  if not asking[why] then return why end
  for _, name in ipairs { "turns", "seconds", "device_seconds", "no_progress" } do
    if self.budget:left(name) == 0 then return name end
  end
  return loop.asked() and "interrupted" or nil
end

--- Evaluate a candidate as the next turn: compile, sweep, verify, measure, reward,
--- confirm, record. What a resumed run had evaluated before is that turn again. `how` = { confirm = true: evaluate it again
--- whatever was best, where it passed }. Returns the turn, or nil, message, name when the machine failed.
function Run:evaluate(candidate, how)
  if not candidates.is(candidate) then
    error("evaluate: pass a candidate, as cawb.candidate{ source =, plan = } returns it", 2)
  end
  local why = closed(self)
  if why then return nil, "the run has ended: " .. why, "ended" end
  local known = self.recorded[candidate.hash]
  self.recorded[candidate.hash] = nil
  if known then return known end
  local turn = { number = #self.turns + 1, candidate = candidate, name = candidate.name,
                 note = candidate.note, started = core.clock.wall(), confirm = how and how.confirm }
  self.report:turn_begins(self, turn)
  self.busy = true
  local judged, message, name = loop.exclusive(self.task.device, judge, self, turn)
  if judged then self.hosts_lost = 0
  else judged, message, name = loop.exclusive(self.task.device, lost, self, turn, message, name) end
  self.busy = false
  if not judged then return broke(self, message, name) end
  self.turns[turn.number] = turn
  local is_best = better(turn, self.best)
  self.budget:spend("turns", 1)
  if is_best then self.budget:progress() else self.budget:spend("no_progress", 1) end
  turn.spent = self:spent()
  local ok
  ok, message, name = self.ledger:turn(self, turn)
  if not ok then return broke(self, message, name) end
  if is_best then                  -- only now: the run's end names it as a row
    self.best = turn
    ok, message, name = self.ledger:keep(self)
  end
  if not ok then return broke(self, message, name) end
  self.report:turn_ends(self, turn)
  return turn
end

--- Remember something in the run's record: `kind` is a word, `data` a table, `turn` the
--- number of the turn that it belongs to. Returns true, or nil, message, name.
function Run:record(kind, data, turn)
  local ok, message, name = self.ledger:event(self, kind, data, turn)
  if not ok then return broke(self, message, name) end
  return true
end

-- Cassettes are opened at the first question.
local function open_cassettes(self)
  local c = self.options.cassette
  if self.cassettes or c.record == "" and c.replay == "" then return self.cassettes or {} end
  local opened, message, name = {}, nil, nil
  if c.replay ~= "" then
    opened.replay, message, name = cassette.replay(c.replay, { by = c.by, latency = c.latency })
    if not opened.replay then return nil, message, name end
  end
  if c.record ~= "" then
    opened.record, message, name = cassette.record(c.record)
    if not opened.record then return nil, message, name end
  end
  self.cassettes = opened
  return opened
end

-- What a request may spend: what is left, less what requests under way may.
local function open_to(self)
  local left = {}
  for _, means in ipairs { "tokens", "dollars" } do
    local n = self.budget:left(means)
    left[means] = n and n - (self.pledged[means] or 0)
  end
  return left
end

-- Set aside what a request of `input` tokens and its reply can cost; returns how to give it back.
local function pledge(self, input, most)
  if not most then return function() end end
  local output = self.options.model.max_tokens > 0 and math.min(most, self.options.model.max_tokens) or most
  local cost = prices.cost(self.options.model, { input = input, cached = 0, written = 0, output = output }) or 0
  local p = self.pledged
  p.tokens, p.dollars = p.tokens + input + output, p.dollars + cost
  return function() p.tokens, p.dollars = p.tokens - input - output, p.dollars - cost end
end

-- The run ends before a request that could overshoot its budget.
local function too_dear(self, means, input)
  self.ended = self.ended or means
  self.reason = ("the next request may have %d tokens, more than budget.%s leaves room for"):format(input, means)
  return nil, "the run has ended: " .. self.reason, "ended"
end

--- Ask the run's model (option `model`), within the budget and the time that is left; what
--- it costs is counted. Returns the reply, or nil, message, name as cawb.ask, "ended" where
--- the run has.
function Run:ask(messages, tools)
  local why = self:done()
  if why then return nil, "the run has ended: " .. why, "ended" end
  local tapes, wrong, kind = open_cassettes(self)
  if not tapes then return nil, wrong, kind end
  local input = afford.tokens_of(messages, tools, self.per_byte)
  local most, short = afford.reply(self.options.model, input, open_to(self))
  if most == false then return too_dear(self, short, input) end
  local give_back = pledge(self, input, most)
  local waiting <close> = activity.begin { what = "waiting for " .. self.options.model.name }
  local reply, message, name, about = ask_model.ask(self.options.model, messages, { tools = tools, most = most,
    record = tapes.record, replay = tapes.replay, deadline = core.clock.now() + self.budget:left "seconds",
    say = function(text) self.report:note("model: " .. text) end })
  give_back()
  self.budget:spend("replies", 1)
  if not reply then return nil, message, name, about end
  self.per_byte = math.max(self.per_byte, afford.seen(messages, tools, reply.usage))
  self.budget:spend("tokens", reply.usage.input + reply.usage.output)
  self.budget:spend("dollars", reply.cost or 0)
  return reply
end

--- End the run because its model gives no (further) reply; what is best stays.
function Run:model_failed(message, name)
  if name == "ended" then return false end
  if name == "interrupted" then self.ended = "interrupted"
  elseif name == "timeout" and self:done() then return false
  elseif #self.turns == 0 then broke(self, "the model: " .. message, name == "invalid" and "usage" or name)
  else self:give_up(("the model gave no reply (%s): %s"):format(name, message)) end
  return false
end

--- The n best turns so far, best first; only passing ones.
function Run:top(n)
  local list = {}
  for _, turn in ipairs(self.turns) do if turn.ok then list[#list + 1] = turn end end
  table.sort(list, function(a, b) return better(a, b) end)
  return table.move(list, 1, math.min(n, #list), 1, {})
end

--- Call the strategy's step until it has nothing left or a budget ends.
function Run:loop()
  core.clock.patient(true)
  while not self:done() do
    local more = ask(self, "step", self, self.settings)
    if not more and not self.ended then self.ended = "finished" end
  end
  core.clock.patient(false)
  return self.ended
end

--- A new run. `spec`: { task, strategy, options, ledger, report, id = or one is made }. Returns the run,
--- or nil, message, name.
function M.new(spec)
  local reward, message = rewards.get(spec.options.reward)
  if not reward then return nil, message, "strategy" end
  local run = setmetatable({
    id = spec.id or M.new_id(spec.task.name), task = spec.task, strategy = spec.strategy,
    settings = spec.strategy.settings, options = spec.options, reward = reward,
    ledger = spec.ledger, report = spec.report, turns = {}, memory = {}, asked = 0, hosts_lost = 0,
    recorded = {},                       -- by candidate: turns of a resumed run
    pledged = { tokens = 0, dollars = 0 }, per_byte = 0,
    from = core.clock.now(), started = core.clock.wall(), device_busy = spec.task.device.busy,
  }, Run)
  local unknown = afford.unknown_price(spec.options.model, spec.options.budget.dollars)
  if unknown then return nil, unknown, "usage" end
  local limits = { turns = spec.options.turns, seconds = spec.options.seconds }
  for name, most in pairs(spec.options.budget) do limits[name] = most end
  run.budget = core.budget.new(limits)
  local ok, name
  ok, message, name = run.ledger:begin(run)
  if not ok then return nil, message, name end
  return run
end

return M
