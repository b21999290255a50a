-- episode: one run that a client drives, from reset to its end: the budget, the rules and the record are a run's, as
-- `cawb mcp` has them. Nothing is kept on a place between two steps but what its task shares with all.

local candidate = require "cawb.learn.serve.candidate"
local core = require "cawb.core"
local driver = require "cawb.agent.driver"
local feedback = require "cawb.agent.feedback"
local ledger = require "cawb.run.ledger"
local options = require "cawb.base.options"
local prompt = require "cawb.agent.prompt"
local result = require "cawb.run.result"
local run = require "cawb.run.run"
local session = require "cawb.agent.session"
local tools = require "cawb.agent.tools"

local M = {}

local Episode = {}
Episode.__index = Episode

-- On a place: the run and its session work with the task that is there.
local function bind(self, held)
  self.run.task, self.work.task = held.task, held.task
  self.run.device_busy = held.task.device.busy
end

local function report()
  return setmetatable({ quiet = true }, { __index = function() return function() end end })
end

-- What the client may make smaller: turns and seconds.
local function limited(all, settings, wanted)
  all.turns, all.seconds, all.budget, all.confirm = settings.turns, settings.seconds, options.copy(settings.budget), settings.confirm
  if wanted.turns then all.turns = math.min(all.turns, wanted.turns) end
  for _, means in ipairs { "replies", "tokens", "dollars" } do all.budget[means] = 0 end   -- the client's own affair
  return all
end

local function begin(self, held, wanted)
  local message, name
  local all = limited(options.copy(held.options), self.settings, wanted)
  all.settings = {}
  self.run, message, name = run.new { task = held.task, strategy = { name = "session", path = "session", settings = {} },
    options = all, ledger = ledger.share(self.book), report = report() }
  if not self.run then return nil, message, name end
  self.work, message, name = session.new(self.run)
  if not self.work then return nil, message, name end
  self.instructions, message = prompt.fill(wanted.prompt or "mcp", self.run)
  if not self.instructions then return nil, message, "usage" end
  self.run:record("message", { chat = 1, role = "system", text = self.instructions })
  return true
end

local function left(r)
  local all = r:left()
  return { turns = all.turns, seconds = all.seconds }
end

-- What a client sees after a step.
local function observed(self, text, turn)
  local r = self.run
  local item = turn and core.json.decode(core.json.encode(result.turn(turn))) or nil
  if item then item.log, item.spent = turn.facts.log, nil end
  return { text = text, task = self.entry.key, turn = turn and turn.number or nil, result = item,
           best = r.best and { turn = r.best.number, reward = r.best.reward } or nil, left = left(r), run = r.id }
end

-- The tools that a client may call, as it has to know them.
local function shown_tools(work)
  local list = core.json.array {}
  for i, tool in ipairs(tools.list(work)) do
    list[i] = { name = tool.name, description = tool.description, parameters = tool.parameters }
  end
  return list
end

--- Begin anew on a task; an earlier run of this episode ends. `wanted` = { turns =, episode_id =, prompt = "propose" }. Returns { observation =,
--- done = }, or nil, message, name.
function Episode:reset(entry, wanted)
  self:close()
  self.entry, self.steps, self.id = entry, 0, wanted.episode_id
  local ok, message, name = self.pool:run(self.remote, entry, function(held) return begin(self, held, wanted) end)
  if not ok then
    self.run = nil
    return nil, message, name
  end
  local observation = observed(self, self.instructions)
  observation.task_code, observation.tools = self.entry.code, shown_tools(self.work)
  return { observation = observation, done = false }
end

-- ---- steps: each on a place, for as long as it takes

local function tool_of(self, name)
  for _, tool in ipairs(tools.list(self.work)) do if tool.name == name then return tool end end
  return { name = name }
end

local function use_tool(self, action)
  local text, failed = driver.call(self.run, self.work, tool_of(self, action.tool), action.arguments or {}, function() end, self.log)
  return { text = text, failed = failed, turn = self.work.turn }
end

-- Beside the work, so that tools see what was evaluated.
local function keep(self, c)
  if c.python then return end
  self.work:write("kernel.cu", c.source)
  self.work:write("plan.lua", c.plan)
end

-- A reply without a candidate costs a turn's reward, and no turn.
local function unread(self, facts) return { text = facts.reason, failed = true, reward = self.unread(facts) } end

local function evaluate(self, c)
  local before = self.work:seen(c)
  if before then
    return { text = ("The same candidate as turn %d.\n%s"):format(before.number, feedback.turn(self.run, before)), turn = before }
  end
  local turn, message, name = self.run:evaluate(c)
  if not turn then return nil, message, name end
  keep(self, c)
  self.metrics:evaluated(turn)
  driver.finish(self.run, self.log)
  return { text = feedback.turn(self.run, turn), turn = turn, failed = not turn.ok }
end

--- Call `f(run, work)` on a place, as a step; what it returns, or nil, message, name.
function Episode:on_place(f)
  if not self.run then return nil, "the session has ended", "order" end
  self.steps = self.steps + 1
  return self.pool:run(self.remote, self.entry, function(held)
    bind(self, held)
    return f(self.run, self.work)
  end)
end

-- What is no candidate needs no place to be told so; a schedule or a short message becomes one where its task is loaded.
local function perform(self, action)
  local c, facts
  if not (action.tool or candidate.needs_task(action)) then
    c, facts = candidate.new(action)
    if not c then return unread(self, facts) end
  end
  return self.pool:run(self.remote, self.entry, function(held)
    bind(self, held)
    if action.tool then return use_tool(self, action) end
    if not c then c, facts = candidate.new(action, held) end
    facts = c and candidate.elsewhere(held.task.device, c) or facts
    if not c or facts then return unread(self, facts) end
    local got, message, name = evaluate(self, c)
    if not got then held.spoilt = true end
    return got, message, name
  end)
end

--- One action: { tool =, arguments = }, or a candidate in one of its forms. Returns { observation =, reward = or nil,
--- done = }, or nil, message, name. After the end nothing is evaluated, and that is said.
function Episode:step(action)
  if not self.run then return nil, "reset first: the session has no run yet", "order" end
  self.steps = self.steps + 1
  if self.run:done() then return { observation = observed(self, driver.over(self.run)), done = true } end
  local got, message, name = perform(self, action)
  if not got then
    self:close()
    return nil, message, name
  end
  return { observation = observed(self, got.text, got.turn), reward = got.turn and got.turn.reward or got.reward,
           done = self.run:done() ~= nil }
end

--- { episode_id =, step_count =, ... }
function Episode:state()
  local r = self.run
  return { episode_id = self.id or r and r.id or core.json.null, step_count = self.steps, task = self.entry and self.entry.key or nil,
           done = r and r:done() or nil, best = r and r.best and { turn = r.best.number, reward = r.best.reward } or nil }
end

--- End its run, if it has one.
function Episode:close()
  local r = self.run
  self.run = nil
  if not r or r.closed then return end
  r.closed = true
  if not r.ended or r.ended == "interrupted" then r.ended = "finished" end
  local ok, message = r.ledger:finish(r)
  if not ok then self.log(message) end
end

--- `spec` = { remote = the client's address, pool, book = the ledger, settings = a full table of options, unread = function(facts) -> reward of a reply
--- without a candidate, metrics, log }.
function M.new(spec)
  return setmetatable({ remote = spec.remote, pool = spec.pool, book = spec.book, settings = spec.settings, unread = spec.unread,
                        metrics = spec.metrics, log = spec.log, steps = 0 }, Episode)
end

return M
