-- run: one strategy on one task. It spends the budget, keeps the best, and has
-- every turn recorded before the next one starts.

local candidates = require "cawb.candidate"
local confirm = require "cawb.confirm"
local core = require "cawb.core"
local evaluate = require "cawb.evaluate"
local rewards = require "cawb.rewards"

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

--- What is left: { turns =, seconds = }.
function Run:left()
  return { turns = self.options.turns - #self.turns,
           seconds = math.max(0, self.options.seconds - self:elapsed()) }
end

-- The run cannot go on, and says why.
local function broke(self, message, name)
  self.ended = name == "interrupted" and "interrupted" or "failed"
  self.reason, self.reason_name = message, name
  return nil, message, name
end

local function stop_if_interrupted()
  if core.clock.interrupted() then error("interrupted", 0) end
end

-- Call into the strategy: its mistakes end the run, not the program, and Ctrl-C
-- reaches a loop of its own.
local function ask(self, hook, ...)
  debug.sethook(stop_if_interrupted, "", 1000000)
  local ok, value = pcall(self.strategy[hook], ...)
  debug.sethook()
  if ok then return value end
  if core.clock.interrupted() then return broke(self, "interrupted", "interrupted") end
  broke(self, ("%s: in %s: %s"):format(self.strategy.path, hook, tostring(value)), "strategy")
end

--- Why the run must end now, or nil: "turns", "seconds", "stop", "interrupted",
--- "failed" (the machine), "gave up" (the strategy).
function Run:done()
  if self.ended then return self.ended end
  if core.clock.interrupted() then self.ended = "interrupted"
  elseif #self.turns >= self.options.turns then self.ended = "turns"
  elseif self:elapsed() >= self.options.seconds then self.ended = "seconds"
  elseif self.strategy.stop and #self.turns > self.asked then
    self.asked = #self.turns                   -- once after every turn
    if ask(self, "stop", self) then self.ended = self.ended or "stop" end
  end
  return self.ended
end

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
  turn.reward, message = rewards.value(self.reward, facts)
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

-- Sweep, verify, measure; and all of it once more for what would be the best, or is hard to
-- believe.
local function judge(self, turn)
  local function say(stage) self.report:stage(self, turn, stage) end
  local facts, member, name = evaluate.candidate(self.task, turn.candidate, { say = say,
    spent = function() return self:elapsed() >= self.options.seconds end })
  if not facts then return nil, member, name end
  local done, message, kind = rewarded(self, turn, facts)
  if not done then return nil, message, kind end
  local again = audited(facts) or self.options.confirm.enabled and better(turn, self.best)
  if not (facts.ok and again) then return turn end
  facts, message, kind = confirm.again(self.task, member, facts, say)
  if not facts then return nil, message, kind end
  return rewarded(self, turn, facts)
end

--- Evaluate a candidate as the next turn: compile, sweep, verify, measure, reward,
--- confirm, record. Returns the turn, or nil, message, name when the machine failed.
function Run:evaluate(candidate)
  if not candidates.is(candidate) then
    error("evaluate: pass a candidate, as cawb.candidate{ source =, plan = } returns it", 2)
  end
  local why = self:done()
  if why then return nil, "the run has ended: " .. why, "ended" end
  local turn = { number = #self.turns + 1, candidate = candidate, name = candidate.name,
                 note = candidate.note, started = core.clock.wall() }
  self.report:turn_begins(self, turn)
  local judged, message, name = judge(self, turn)
  if not judged then return broke(self, message, name) end
  self.turns[turn.number] = turn
  local is_best = better(turn, self.best)
  if is_best then self.best = turn end
  local ok
  ok, message, name = self.ledger:turn(self, turn)
  if not ok then return broke(self, message, name) end
  if is_best then ok, message, name = self.ledger:keep(self) end
  if not ok then return broke(self, message, name) end
  self.report:turn_ends(self, turn)
  return turn
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
  while not self:done() do
    local more = ask(self, "step", self, self.settings)
    if not more and not self.ended then self.ended = "finished" end
  end
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
    ledger = spec.ledger, report = spec.report, turns = {}, memory = {}, asked = 0,
    from = core.clock.now(), started = core.clock.wall(),
  }, Run)
  local ok, name
  ok, message, name = run.ledger:begin(run)
  if not ok then return nil, message, name end
  return run
end

return M
