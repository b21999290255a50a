-- server: `cawb look` between opening and closing: a page, and the kernels that it asks about, judged in the jails of `cawb judge`.

local candidate = require "cawb.learn.serve.candidate"
local compose = require "cawb.compose"
local core = require "cawb.core"
local gallery = require "cawb.door.look.gallery"
local http = require "cawb.learn.serve.http"
local judged = require "cawb.door.look.judged"
local listen = require "cawb.learn.serve.listen"
local loop = require "cawb.base.loop"
local nodes = require "cawb.door.look.nodes"
local page = require "cawb.door.look.page"
local pool = require "cawb.learn.serve.pool"

local M = {}

local Server = {}
Server.__index = Server

local connections, waiting = 64, 64
local resident = 1               -- tasks that are loaded: the next one takes over a task host that runs, in a part of a second
local most_pages = 256

-- ---- what a page asks

local headers = { "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "Cache-Control: no-store", "X-Frame-Options: DENY" }

function Server:front()
  local text, rules = page.html()
  return 200, text, { type = "text/html; charset=utf-8", bare = true, whole = true,
    headers = { "Content-Security-Policy: " .. rules .. "; frame-ancestors 'none'", table.unpack(headers) } }
end

local statuses = { task = 422, busy = 503, usage = 422, invalid = 422, unsupported = 422 }

local function failed(message, name) return http.no(statuses[name] or 500, message) end

-- A function on a place that has the task, for who asks.
local function on_place(self, request, task, f)
  local entry, why = self.gallery:task(task)
  if not entry then return nil, why, "usage" end
  return self.pool:run(request.remote, entry, function(held) return f(judged.hold(held)) end)
end

--- What compose makes of a task that is loaded.
function M.composed(held, item)
  local task, info = held.task, held.task.device.info
  local made, why = compose.make(task, { arch = info.arch, memory = info.memory, tensor_cores = held.options.compose.tensor_cores, libraries = false })
  if not made then return nil, "compose does not take it: " .. tostring(why), "unsupported" end
  item.source, item.plan, item.options, item.compose = made.source, made.plan, core.json.array(made.options), nil
  item.nodes = nodes.of(made)
  item.note = "what the compiler wrote for " .. judged.sizes(task)
  return item
end

function Server:item(request)
  local body, why = http.object(request)
  if not body then return http.no(400, why) end
  local item, message, name = self.gallery:item(body.key)
  if not item then return http.no(404, message) end
  if item.compose then item, message, name = on_place(self, request, item.task, function(held) return M.composed(held, item) end) end
  if not item then return failed(message, name) end
  return 200, item, { whole = true }
end

local depths = { quick = true, full = true }

-- What is wrong with a state that a page sends, or nil.
local function misfit(state)
  if type(state) ~= "table" then return "'state' must be an object {task, source, plan}" end
  if state.family ~= nil and type(state.family) ~= "string" then return "'family' must be a text" end
  return candidate.misfit { source = state.source, plan = state.plan, defines = state.defines, options = state.options, name = state.name }
end

-- This request is the newest of its page now; returns whether it still is.
local function newest(self, key)
  local mine = {}
  if not self.pages[key] then
    self.order[#self.order + 1] = key
    if #self.order > most_pages then self.pages[table.remove(self.order, 1)] = nil end
  end
  self.pages[key] = mine
  return function() return self.pages[key] == mine end
end

-- An evaluation on a place; what nobody waits for any more is no failure.
local function evaluate(held, state, how)
  local got = table.pack(pcall(judged.of, held, state, how))
  if got[1] then return table.unpack(got, 2, got.n) end
  if got[2] == judged.superseded then return judged.superseded end
  error(got[2], 0)
end

function Server:judge(request)
  local body, why = http.object(request)
  if not body then return http.no(400, why) end
  why = not depths[body.depth] and "'depth' must be quick or full"
    or (type(body.page) ~= "string" or #body.page > 64) and "'page' must be a text that tells pages apart" or misfit(body.state)
  if why then return http.no(422, why) end
  local how = { depth = body.depth, go = newest(self, request.remote .. " " .. body.page) }
  local result, message, name = on_place(self, request, body.state.task, function(held) return evaluate(held, body.state, how) end)
  if not result then return failed(message, name) end
  if result == judged.superseded or not how.go() then return http.no(409, "a newer text of this page is looked at") end
  return 200, result
end

function Server:sass(request)
  local body, why = http.object(request)
  if not body then return http.no(400, why) end
  why = misfit(body.state)
  if why then return http.no(422, why) end
  local got, message, name = on_place(self, request, body.state.task, function(held) return judged.sass(held, body.state) end)
  if not got then return failed(message, name) end
  return 200, got
end

local function routes_of(self)
  return {
    ["GET /"] = function() return self:front() end,
    ["GET /health"] = function() return 200, { status = self.draining and "stopping" or "healthy" } end,
    ["GET /look/gallery"] = function()
      local list = self.gallery:list()
      list.device, list.version = self.device.info.model, core.version
      return 200, list
    end,
    ["POST /look/item"] = function(request) return self:item(request) end,
    ["POST /look/judge"] = function(request) return self:judge(request) end,
    ["POST /look/sass"] = function(request) return self:sass(request) end,
  }
end

-- ---- serving

--- The task that is shown first is loaded while the page comes.
function Server:warm()
  local item = self.gallery:item(self.gallery.first)
  loop.spawn(on_place, self, { remote = "first" }, item.task, function() return true end)
end

--- Serve until a signal.
function Server:serve()
  self:warm()
  listen.serve(self, listen.handlers)
  self.http:stop()
  self.pool:close()
  return 0
end

--- A pool of one place for a gallery's tasks, or nil, message, name.
function M.pool(device, all)
  return pool.new { devices = { device }, options = all, resident = resident, builders = 1, most = waiting,
                    file = function(entry) return entry.path end }
end

--- A server that listens. `spec` = { words = a task and a kernel, or none, device = open, options = a full table, host =, port =, token_file =,
--- log = function(text) }. Returns it, or nil, message, name.
function M.open(spec)
  local self = setmetatable({ log = spec.log, device = spec.device, pages = {}, order = {} }, Server)
  local message, name
  self.gallery, message = gallery.new(spec.words)
  if not self.gallery then return nil, message, "usage" end
  self.pool, message, name = M.pool(spec.device, spec.options)
  if not self.pool then return nil, message, name end
  self.routes = routes_of(self)
  self.http, message, name = core.serve.open { host = spec.host, port = spec.port, token_file = spec.token_file, page = true,
    threads = connections, body = 4 << 20 }
  if not self.http then return nil, message, name end
  return self
end

--- A state judged, without a server: what an export holds. `item` is one of the gallery's.
function M.saved(self_pool, shelf, device)
  local item, message, name = shelf:item(shelf.first)
  if not item then return nil, message, name end
  local entry = shelf:task(item.task)
  return self_pool:run("export", entry, function(held)
    judged.hold(held)
    local whole, why, kind = item, nil, nil
    if item.compose then whole, why, kind = M.composed(held, item) end
    if not whole then return nil, why, kind end
    local result
    result, why, kind = judged.of(held, whole, { depth = "full", go = function() return true end })
    if not result then return nil, why, kind end
    local machine = result.code and judged.sass(held, whole)
    if machine then result.code.sass, result.code.no_sass = machine.sass, machine.no_sass end
    return { state = whole, result = core.json.decode(http.scrub(core.json.encode(result))), device = device.info.model, version = core.version,
             nodes = whole.nodes }
  end)
end

return M
