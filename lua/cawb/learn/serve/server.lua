-- server: `cawb serve` between opening and closing: requests are taken in their order, each is a task of the loop, and
-- a signal lets what is under way finish.

local core = require "cawb.core"
local dialects = require "cawb.learn.serve.dialects"
local episode = require "cawb.learn.serve.episode"
local http = require "cawb.learn.serve.http"
local listen = require "cawb.learn.serve.listen"
local manifest = require "cawb.gpu.manifest"
local mcp = require "cawb.learn.serve.mcp"
local metrics = require "cawb.learn.serve.metrics"
local openenv = require "cawb.learn.serve.openenv"
local pool = require "cawb.learn.serve.pool"
local result = require "cawb.run.result"
local rewards = require "cawb.run.rewards"
local runs = require "cawb.learn.serve.runs"
local score = require "cawb.learn.serve.score"
local sessions = require "cawb.learn.serve.sessions"
local tasks = require "cawb.learn.serve.tasks"

local M = {}

local connections = 512                      -- at once, beside sessions; each has a thread while it is open
local most_of_one = connections // 2         -- requests of one address that may wait for their answers

local Server = {}
Server.__index = Server

-- ---- what is always there

local function routes_of(self)
  local routes = {
    ["GET /"] = function() return 200, { program = "cawb " .. core.version, ask = self:asked_at() } end,
    ["GET /health"] = function() return 200, { status = self.draining and "stopping" or "healthy" } end,
    ["GET /tasks"] = function() return 200, { tasks = self.tasks:shown() } end,
    ["GET /metrics"] = function() return 200, self:measures(), { type = "text/plain; version=0.0.4", bare = true } end,
    ["POST /score"] = function(request) return self.score:post(request) end,
    ["GET /score/*"] = function(request, id) return self.score:get(request, id) end,
  }
  for _, face in ipairs { self.openenv, self.dialects, self.mcp } do
    for name, f in pairs(face:routes()) do routes[name] = f end
  end
  return routes
end

--- What can be asked, for who opens the address in a browser.
function Server:asked_at()
  local names = core.json.array {}
  for name in pairs(self.routes) do names[#names + 1] = name end
  table.sort(names)
  return names
end

--- The text of GET /metrics.
function Server:measures()
  local waiting, busy = self.pool:load()
  return self.metrics:text {
    { "places", "candidates that can be evaluated at once", #self.pool.places },
    { "places_busy", "those that are evaluated now", busy },
    { "sessions", "that are open", self.sessions:count() },
    { "sessions_most", "that may be", self.sessions.most },
    { "waiting", "jobs that wait for a place", waiting },
    { "tasks_loaded_total", "times that a task was loaded", self.pool.loads },
    { "uptime_seconds", "since the server began", core.clock.now() - self.metrics.since },
  }
end

-- ---- rates: so many requests a second from one address, in bursts of as many

local function allowed(self, request)
  if self.rate == 0 then return true end
  local now, one = core.clock.now(), self.rates[request.remote]
  if not one then
    one = { left = self.rate, at = now }
    self.rates[request.remote] = one
  end
  one.left, one.at = math.min(self.rate, one.left + (now - one.at) * self.rate), now
  if one.left < 1 then return false end
  one.left = one.left - 1
  return true
end

-- Addresses that were silent long enough have their whole burst again.
local function forget_rates(self)
  local now = core.clock.now()
  for remote, one in pairs(self.rates) do if now - one.at > 2 then self.rates[remote] = nil end end
end

-- ---- requests

local always = { ["GET /health"] = true, ["GET /metrics"] = true }

local function handle_http(self, request)
  local free = always[request.method .. " " .. request.path]
  if self.draining and not free then
    return http.answer(request, 503, { error = "the server is stopping" }, { headers = { "Retry-After: 5" } })
  end
  if not free and (self.waiting[request.remote] or 0) >= most_of_one then
    return http.answer(request, 429, { error = ("%d requests from one address wait already"):format(most_of_one) },
      { headers = { "Retry-After: 1" } })
  end
  if not free and not allowed(self, request) then
    return http.answer(request, 429, { error = ("more than %g requests a second from one address"):format(self.rate) },
      { headers = { "Retry-After: 1" } })
  end
  self.waiting[request.remote] = (self.waiting[request.remote] or 0) + 1
  local status, value, opts, route = http.dispatch(self.routes, request, self.log)
  self.waiting[request.remote] = self.waiting[request.remote] > 1 and self.waiting[request.remote] - 1 or nil
  http.answer(request, status, value, opts)
  self.metrics:add("requests", ('{route="%s",status="%d"}'):format(route or "none", status))
end

local stopping = { type = "error", data = { code = "EXECUTION_ERROR", message = "the server is stopping" } }

local handlers = { http = handle_http }

function handlers.open(self, request)
  if self.draining then return http.answer(request, 503, stopping, { bare = true }) end
  self.openenv:open(request)
end

function handlers.message(self, request)
  if self.draining then return http.answer(request, 200, stopping, { bare = true, last = true }) end
  self.openenv:message(request)
end

function handlers.closed(self, request) self.openenv:closed(request) end

--- Serve until a signal. Returns the exit code.
function Server:serve()
  listen.serve(self, handlers, forget_rates)
  self.openenv:close()
  self.mcp:close()
  self.http:stop()
  self.pool:close()
  return 0
end

-- ---- opening

-- Options without what is no data.
local function plain(value)
  if type(value) ~= "table" then return type(value) == "function" and "(function)" or value end
  local t = {}
  for key, one in pairs(value) do t[key] = plain(one) end
  return t
end

-- Everything that what is measured depends on, besides task and candidate.
local function stack_of(device, python, all, configs)
  local m = manifest.of(device, python)
  return core.json.encode { key = manifest.key(m), build = m.build, library = m.library, nvrtc = m.nvrtc, figures = device.figures,
    options = plain(all), configs = configs }
end

-- What a candidate is worth that is none; of a reward that fails, nothing.
local function unread(self)
  return function(facts)
    local item, message = self.score:unread(facts)
    if not item then self.log(message) end
    return item and item.reward
  end
end

local function new_episode(self, spec, remote)
  return episode.new { remote = remote, pool = self.pool, book = self.runs.book, settings = spec.session_options, unread = unread(self),
                       metrics = self.metrics, log = spec.log }
end

--- A server that listens. `spec` = { paths = of tasks, devices = open ones, options = a full table, session_options = those
--- of sessions, configs = the text
--- of files of options, out =, host =, port =, token_file =, accept = take tasks of clients, memo =, rate = requests a
--- second from an address or 0, body = bytes, sessions =, resident =, builders = compilers that
--- build ahead, log = function(text) }. Returns it, or nil,
--- message, name.
function M.open(spec)
  local self = setmetatable({ log = spec.log, rate = spec.rate, rates = {}, waiting = {}, options = spec.options,
                              metrics = metrics.new() }, Server)
  local message, name, reward
  reward, message = rewards.get(spec.options.reward)
  if not reward then return nil, message, "strategy" end
  self.tasks, message, name = tasks.new(spec.paths, { scratch = spec.out .. "/tasks", accept = spec.accept })
  if not self.tasks then return nil, message, name end
  self.pool, message, name = pool.new { devices = spec.devices, options = spec.options, resident = spec.resident,
    builders = spec.builders, most = 4096, file = function(entry) return self.tasks:file(entry) end }
  if not self.pool then return nil, message, name end
  local first = spec.devices[1]
  self.runs, message, name = runs.new { out = spec.out, log = spec.log,
    stack = stack_of(first, self.pool.python, spec.options, spec.configs) }
  if not self.runs then return nil, message, name end
  self.runs.chosen, self.runs.confirmed = runs.chosen, runs.confirmed
  self.score = score.new { tasks = self.tasks, pool = self.pool, runs = self.runs, options = spec.options, reward = reward,
    result = result, metrics = self.metrics, device = first, modelled = first.info.modelled, memo = spec.memo, wait = spec.wait, log = spec.log }
  local function begin(remote) return new_episode(self, spec, remote) end
  self.sessions = sessions.new(spec.sessions)
  self.openenv = openenv.new { tasks = self.tasks, sessions = self.sessions, metrics = self.metrics, log = spec.log, new_episode = begin }
  self.mcp = mcp.new { tasks = self.tasks, sessions = self.sessions, log = spec.log, idle = 1800, new_episode = begin }
  self.dialects = dialects.new { tasks = self.tasks, score = self.score }
  self.routes = routes_of(self)
  self.http, message, name = core.serve.open { host = spec.host, port = spec.port, token_file = spec.token_file,
    threads = math.min(4096, spec.sessions + connections), body = spec.body }
  if not self.http then return nil, message, name end
  return self
end

return M
