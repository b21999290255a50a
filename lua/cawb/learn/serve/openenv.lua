-- openenv: the wire of OpenEnv (openenv-core 0.3.0). A WebSocket is a session; over plain HTTP every request has an
-- environment of its own. The other side raises on an error frame, so that only its own mistakes and a failed machine
-- are told by one.

local candidate = require "cawb.learn.serve.candidate"
local core = require "cawb.core"
local http = require "cawb.learn.serve.http"
local seeds = require "cawb.base.seeds"

local M = {}

local Wire = {}
Wire.__index = Wire

local null = core.json.null

-- ---- what it is, in words

local function property(kind, text) return { type = kind, description = text } end

local action_schema = { type = "object", title = "Action", additionalProperties = false, properties = {
  source = property("string", "kernel.cu, with plan"), plan = property("string", "plan.lua, with source"),
  python = property("string", "a Python file with ModelNew"), text = property("string", "a model's reply with fenced blocks"),
  short = property("string", "a message in the short form"),
  schedule = property("object", "what compose makes: fuse, libraries, tensor_cores"),
  tool = property("string", "a tool of the session, instead of a candidate"), arguments = property("object", "of the tool"),
  name = property("string", "what the candidate is called"), note = property("string", "what was changed, and why"),
  defines = property("object", "of kernel.cu"), tunables = property("object", "values for the plan's tunables"),
  options = property("array", "of the compiler"),
  task = property("string", "over plain HTTP only: the task, which a session is told at reset") } }

local observation_schema = { type = "object", title = "Observation", properties = {
  text = property("string", "what happened, in words for a model"), task = property("string", "its key"),
  turn = property("integer", "the turn that the step made, if it made one"),
  result = property("object", "that turn as data"), best = property("object", "the best turn so far and its reward"),
  left = property("object", "turns and seconds"), run = property("string", "its name in the record"),
  task_code = property("string", "after a reset: the task"), tools = property("array", "after a reset: what can be called") } }

local state_schema = { type = "object", title = "State", properties = { episode_id = { type = { "string", "null" } },
  step_count = property("integer", "steps since the reset"), task = property("string", "its key"),
  done = property("string", "why the run has ended"), best = property("object", "the best turn so far and its reward") } }

-- Beside what OpenEnv asks for: how many sessions there may be, which a trainer's batch has to fit.
local function metadata(self)
  return { max_sessions = self.open_ones.most, tasks = #self.tasks.list,
           name = "cawb", description = "GPU kernels for PyTorch operators: compiled, judged on secret inputs, timed, rewarded",
           version = core.version, author = null, readme_content = null, documentation_url = null }
end

-- ---- what a client asks

-- The task of a reset: the one it names, the only one, or one by its seed.
local function task_of(self, data)
  if data.task ~= nil then return self.tasks:find(data.task) end
  local list = self.tasks.list
  if #list == 0 then return nil, "no task is served: send one as task = {code = ...}" end
  local seed = math.type(data.seed) == "integer" and data.seed or tonumber(seeds.fresh "reset":sub(1, 12), 16)
  return list[seed % #list + 1]
end

local function wanted_of(data)
  local turns = data.turns
  if turns ~= nil and not (math.type(turns) == "integer" and turns >= 1) then return nil, "'turns' must be a whole number from 1" end
  if data.episode_id ~= nil and type(data.episode_id) ~= "string" then return nil, "'episode_id' must be a text" end
  if data.prompt ~= nil and data.prompt ~= "propose" then return nil, "'prompt' can be 'propose': for a reply that holds the candidate, without tools" end
  return { turns = turns, episode_id = data.episode_id, prompt = data.prompt }
end

-- Why an action cannot be read, or nil.
local function misfit(action)
  if type(action) ~= "table" then return "an action is an object" end
  if not action.tool then return candidate.misfit(action) end
  for key in pairs(action) do
    if key ~= "tool" and key ~= "arguments" then return ("an action with 'tool' has 'arguments' beside it, and no '%s'"):format(tostring(key):sub(1, 40)) end
  end
  if type(action.tool) ~= "string" then return "'tool' must be the name of a tool" end
  if action.arguments ~= nil and (type(action.arguments) ~= "table" or #action.arguments > 0) then return "'arguments' must be an object" end
end

-- { data =, } or { code =, message = }.
local function bad(message, code) return nil, { message = message, code = code or "VALIDATION_ERROR" } end

local function packed(step)
  return { observation = step.observation, reward = step.reward == nil and null or step.reward, done = step.done }
end

local function world(message, name)
  return bad(message, (name == "order" or name == "task") and "VALIDATION_ERROR" or "EXECUTION_ERROR")
end

local function reset(self, episode, data)
  if type(data) ~= "table" then return bad "'data' of a reset is an object" end
  local wanted, why = wanted_of(data)
  if not wanted then return bad(why) end
  local entry
  entry, why = task_of(self, data)
  if not entry then return bad(why) end
  local first, message, name = episode:reset(entry, wanted)
  if not first then return world(message, name) end
  return packed(first)
end

local function step(episode, action)
  local why = misfit(action)
  if why then return bad(why) end
  local got, message, name = episode:step(action)
  if not got then return world(message, name) end
  return packed(got)
end

-- ---- the WebSocket

local kinds = {}

function kinds.reset(self, one, data)
  local got, wrong = reset(self, one.episode, data or {})
  return got and "observation", got or wrong
end

function kinds.step(_, one, data)
  local got, wrong = step(one.episode, data)
  return got and "observation", got or wrong
end

function kinds.state(_, one) return "state", one.episode:state() end

local function message_of(text)
  local message, why = http.parse(text)
  if message == nil then return bad("the message is " .. why, "INVALID_JSON") end
  if type(message) ~= "table" or type(message.type) ~= "string" then return bad "a message is an object with 'type' and 'data'" end
  return message
end

local function answer_to(self, one, text)
  local message, wrong = message_of(text)
  if not message then return nil, wrong end
  if message.type == "close" then return "close" end
  local f = kinds[message.type]
  if not f then return bad(("there is no message '%s': reset, step, state, close"):format(message.type:sub(1, 40)), "UNKNOWN_TYPE") end
  return f(self, one, message.data)
end

local gave_way = { type = "error", data = { code = "CAPACITY_REACHED",
  message = "this session was silent, and gave way to another client's: open a new one" } }

--- A message on a session: answers its request.
function Wire:message(request)
  local one = self.sessions[request.connection]
  if not one then return http.answer(request, 200, self.left[request.connection] and gave_way or "", { bare = true, last = true }) end
  local kind, value = self.open_ones:during(one.place, answer_to, self, one, request.body)
  if kind == "close" then return http.answer(request, 200, "", { bare = true, last = true }) end
  http.answer(request, 200, { type = kind or "error", data = value }, { bare = true })
end

--- A session is to be opened: refused with a frame where there are too many.
function Wire:open(request)
  local number = request.connection
  local place = self.open_ones:open(request.remote, function()
    self.sessions[number].episode:close()
    self.sessions[number], self.left[number] = nil, true
  end)
  if not place then
    self.metrics:add "sessions_refused"
    return http.answer(request, 503, { type = "error", data = { code = "CAPACITY_REACHED",
      message = ("%d sessions are open, and no more are taken"):format(self.open_ones.most) } }, { bare = true })
  end
  self.metrics:add "sessions_opened"
  self.sessions[number] = { episode = self.new_episode(request.remote), place = place }
  http.answer(request, 200, "", { bare = true })
end

--- A client is gone: what it was running ends.
function Wire:closed(request)
  local one = self.sessions[request.connection]
  self.sessions[request.connection], self.left[request.connection] = nil, nil
  if not one then return end
  self.open_ones:close(one.place)
  one.episode:close()
end

--- End all sessions.
function Wire:close()
  for _, one in pairs(self.sessions) do one.episode:close() end
  self.sessions = {}
end

-- ---- plain HTTP

local statuses = { VALIDATION_ERROR = 422, EXECUTION_ERROR = 503 }

local function answered(got, wrong)
  if got then return 200, got end
  return statuses[wrong.code], { detail = wrong.message, error = wrong.message }
end

function Wire:post_reset(request)
  local data, why = {}, nil
  if request.body:find "%S" then data, why = http.object(request) end
  if not data then return 422, { detail = why, error = why } end
  local episode = self.new_episode(request.remote)
  local got, wrong = reset(self, episode, data)
  episode:close()
  return answered(got, wrong)
end

-- An action of its own: its task comes with it.
function Wire:post_step(request)
  local body, why = http.object(request)
  local action = body and body.action
  if type(action) ~= "table" then
    why = why or "'action' must be an object"
    return 422, { detail = why, error = why }
  end
  local episode, task = self.new_episode(request.remote), action.task
  action.task = nil
  why = misfit(action)
  local got, wrong
  if why then got, wrong = bad(why) else got, wrong = reset(self, episode, { task = task, turns = 1 }) end
  if got then got, wrong = step(episode, action) end
  episode:close()
  return answered(got, wrong)
end

--- The routes of plain HTTP.
function Wire:routes()
  return {
    ["GET /metadata"] = function() return 200, metadata(self) end,
    ["GET /schema"] = function() return 200, { action = action_schema, observation = observation_schema, state = state_schema } end,
    ["GET /state"] = function() return 200, { episode_id = null, step_count = 0 } end,
    ["POST /reset"] = function(request) return self:post_reset(request) end,
    ["POST /step"] = function(request) return self:post_step(request) end,
  }
end

--- `spec` = { tasks, sessions = cawb.learn.serve.sessions, of all kinds, new_episode = function(remote), metrics, log }.
function M.new(spec)
  return setmetatable({ tasks = spec.tasks, open_ones = spec.sessions, new_episode = spec.new_episode, metrics = spec.metrics,
                        log = spec.log, sessions = {}, left = {} }, Wire)
end

return M
