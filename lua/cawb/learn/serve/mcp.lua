-- mcp: the Model Context Protocol over HTTP: POST /mcp, one message and its answer each. A session begins with
-- `initialize`, on the task that the query names (/mcp?task=NAME), goes by the header Mcp-Session-Id, and ends with DELETE.

local core = require "cawb.core"
local driver = require "cawb.agent.driver"
local http = require "cawb.learn.serve.http"
local protocol = require "cawb.agent.mcp"
local tools = require "cawb.agent.tools"

local M = {}

local Mcp = {}
Mcp.__index = Mcp

local function fresh_id() return (core.clock.random(16):gsub(".", function(c) return ("%02x"):format(c:byte()) end)) end

local function unescaped(text)
  return (text:gsub("+", " "):gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

local function task_of(self, query)
  local name = query:match "^task=([^&]*)" or query:match "&task=([^&]*)"
  if name then return self.tasks:find(unescaped(name)) end
  if #self.tasks.list == 1 then return self.tasks.list[1] end
  return nil, "several tasks are served: name one, as in /mcp?task=NAME"
end

-- A call of a tool, on a place.
local function call(self, one)
  return function(tool, arguments, progress)
    local got, message = one.episode:on_place(function(run, work)
      local text, failed = driver.call(run, work, tool, arguments, progress, self.log)
      return { text = text, failed = failed }
    end)
    if not got then return "the machine failed: " .. tostring(message), true end
    return got.text, got.failed
  end
end

local function begin(self, request)
  local entry, why = task_of(self, request.query)
  if not entry then return nil, 422, why end
  local one = { episode = self.new_episode(request.remote), answers = {} }
  one.place = self.open_ones:open(request.remote, function() self:forget(one) end)
  if not one.place then return nil, 503, "as many sessions are open as there may be" end
  self.sessions[#self.sessions + 1] = one
  local first, message = one.episode:reset(entry, {})
  if not first then
    self:forget(one)
    return nil, 503, message
  end
  one.id = fresh_id()
  one.server = protocol.new { tools = tools.list(one.episode.work), instructions = one.episode.instructions, log = function() end,
    call = call(self, one), write = function(text)
      one.answers[#one.answers + 1] = text
      return true
    end }
  return one
end

--- The session is over.
function Mcp:forget(one)
  for i, other in ipairs(self.sessions) do if other == one then table.remove(self.sessions, i) break end end
  self.open_ones:close(one.place)
  one.episode:close()
end

local function find(self, request)
  local id = request.headers["mcp-session-id"]
  for _, one in ipairs(self.sessions) do
    if one.id and one.id == id then return one end
  end
  return nil, id and 404 or 400, id and "no such session: begin anew with initialize" or "begin with initialize"
end

-- Those that nobody has asked for a while.
local function forget_old(self)
  for i = #self.sessions, 1, -1 do
    local one = self.sessions[i]
    if not one.place.busy and one.id and core.clock.now() - one.place.seen > self.idle then self:forget(one) end
  end
end

-- The answers, without the notes on the way: a client over HTTP waits for one text.
local function answers_of(one)
  local text
  for _, answer in ipairs(one.answers) do
    if not answer:find '"method":"notifications/' then text = answer end
  end
  one.answers = {}
  return text
end

local function post(self, request)
  local message = http.parse(request.body)
  forget_old(self)
  local one, status, why
  if type(message) == "table" and message.method == "initialize" then one, status, why = begin(self, request)
  else one, status, why = find(self, request) end
  if not one then return http.no(status, why) end
  if one.place.busy then return http.no(409, "this session's last message is not answered yet") end
  self.open_ones:during(one.place, one.server.take, one.server, request.body)
  local text = answers_of(one)
  return text and 200 or 202, text or "", { bare = true, headers = { "Mcp-Session-Id: " .. one.id } }
end

local function delete(self, request)
  local one, status, why = find(self, request)
  if not one then return http.no(status, why) end
  self:forget(one)
  return 200, {}
end

--- The routes.
function Mcp:routes()
  return { ["POST /mcp"] = function(request) return post(self, request) end,
           ["DELETE /mcp"] = function(request) return delete(self, request) end }
end

--- End all sessions.
function Mcp:close()
  while self.sessions[1] do self:forget(self.sessions[1]) end
end

--- `spec` = { tasks, new_episode = function(remote), sessions = cawb.learn.serve.sessions, of all kinds, idle = seconds, log }.
function M.new(spec)
  return setmetatable({ tasks = spec.tasks, new_episode = spec.new_episode, open_ones = spec.sessions, idle = spec.idle,
                        log = spec.log, sessions = {} }, Mcp)
end

return M
