-- chat: a conversation of a run with its model: what was said, what still fits, and what
-- becomes of replies that are none. Everything said is recorded as events of the kind
-- "message": { chat =, role =, text =, calls =, usage =, ... }.

local context = require "cawb.agent.context"
local core = require "cawb.core"
local prompt = require "cawb.agent.prompt"
local schema = require "cawb.agent.ask.schema"

local M = {}

---@class cawb.Chat
local Chat = {}
Chat.__index = Chat

local function plain_calls(calls)
  local list
  for i, c in ipairs(calls or {}) do
    list = list or {}
    list[i] = { id = c.id, name = c.name, arguments = c.raw }
  end
  return list
end

local function record(self, m, more)
  local data = { chat = self.number, role = m.role, text = m.text, calls = plain_calls(m.calls), id = m.id, name = m.name,
                 failed = m.failed }
  for key, value in pairs(more or {}) do data[key] = value end
  return self.run:record("message", data, more and more.turn)
end

local function add(self, message, more)
  self.messages[#self.messages + 1] = message
  return record(self, message, more)
end

--- Say something as the user.
function Chat:say(text) return add(self, { role = "user", text = text }) end

--- The result of a tool's call; `turn` is the turn that it made, if it made one.
function Chat:observe(call, text, failed, turn)
  return add(self, { role = "tool", id = call.id, name = call.name, text = text, failed = failed or nil },
    turn and { turn = turn.number, reward = turn.reward })
end

-- Bytes that messages may have: tokens as this model counts them.
local function room(self)
  local model = self.run.options.model
  local tools = self.tools and #core.json.encode(schema.parameters { parameters = {} }) + 400 * #self.tools or 0
  return math.max(4000, (model.context - model.max_tokens) / self.per_byte * 0.95 - tools)
end

-- What a model's tokens are, learnt from what the endpoint counts.
local function learn(self, messages, usage)
  if usage.estimated then return end
  local bytes = 0
  for _, m in ipairs(messages) do bytes = bytes + #m.text end
  if bytes > 2000 then self.per_byte = math.max(0.15, math.min(1, usage.input / bytes)) end
end

-- Names after which the same question may bring a reply, and what to say first.
local fruitless = { empty = "Your last reply was empty.", malformed = "Your last reply could not be read.",
                    filtered = "Your last reply was withheld by the endpoint." }

local function once(self)
  local sent = context.fit(self.messages, room(self), self.run)
  local reply, message, name = self.run:ask(sent, self.tools)
  if reply then learn(self, sent, reply.usage) end
  return reply, message, name
end

--- The model's next reply, added to the conversation. A context that is too long is cut
--- further, a reply that is none asked for again, `agent.fence` times. Else nil: the run
--- has ended, or, of one sample among others, run.memory.failure is { message, name }.
function Chat:ask()
  local left = self.run.options.agent.fence
  while true do
    local reply, message, name = once(self)
    if reply then
      if not add(self, reply.message, { usage = reply.usage, cost = reply.cost, seconds = reply.seconds, stop = reply.stop,
        reasoning = reply.reasoning ~= "" and reply.reasoning or nil, logprobs = reply.logprobs }) then return nil end
      return reply
    end
    left = left - 1
    if left < 0 or not (name == "context" or fruitless[name]) then
      if self.sample then self.run.memory.failure = { message, name }
      else self.run:model_failed(message, name) end
      return nil
    end
    if name == "context" then self.per_byte = self.per_byte * 1.5
    else self:say(fruitless[name] .. " Go on.") end
  end
end

local mute = { native = "called no tool: %s needs an endpoint with tool calls; `single`, `best_of_n` and `repair` need none",
               text = "had no call of a tool, which %s needs; `single`, `best_of_n` and `repair` need none" }

--- What to say to a reply that does nothing; false once there were `agent.fence` in a row. `why`: what such replies did, if not that they called
--- no tool.
function Chat:nudge(text, why)
  self.idle = self.idle + 1
  if self.idle >= self.run.options.agent.fence then
    return self.run:give_up(("%d replies in a row %s. cawb report shows the replies"):format(self.idle, why or mute[self.run.options.model.tools]:format(self.run.strategy.name)))
  end
  return self:say(text)
end

--- The model did something: nudges begin anew.
function Chat:busy() self.idle = 0 end

--- A conversation that begins with a prompt. `opts`: { tools =, values = further {{names}},
--- user = the first words, sample = true for one among others }. Returns it, or nil: the run has ended, and knows why.
function M.new(run, name, opts)
  opts = opts or {}
  local path = run.options.agent.prompt
  local text, message = prompt.fill(path ~= "" and path or name, run, opts.values)
  if not text then
    run:model_failed(message, "invalid")
    return nil
  end
  run.memory.chats = (run.memory.chats or 0) + 1
  local self = setmetatable({ run = run, number = run.memory.chats, messages = {}, tools = opts.tools, idle = 0,
                              sample = opts.sample,
                              per_byte = 0.3 }, Chat)
  if not add(self, { role = "system", text = text }) then return nil end
  if not self:say(opts.user or "Begin.") then return nil end
  return self
end

return M
