-- server: a class over HTTP. Students send answers, a projector shows the board, the teacher opens solutions.

local core = require "cawb.core"
local exercises = require "cawb.door.exercises"
local file = require "cawb.base.file"
local http = require "cawb.learn.serve.http"
local listen = require "cawb.learn.serve.listen"
local room = require "cawb.door.class.room"

local M = {}

local Server = {}
Server.__index = Server

local most_waiting = 200

-- An exercise by its number or name; no folder of this machine is opened for a guest.
local function numbered(word) return exercises.find((tostring(word):gsub("[^%w_]", "?"))) end

-- ---- a turn

local function headline(v)
  if v.passed then return "solved" end
  if not v.ok then return v.stage == "compile" and "does not compile" or "wrong" end
  return #v.found > 0 and "right, with a race or the like" or "right, goal not reached"
end

local function raced(v) return #v.found > 0 or v.reason ~= nil and v.reason:find "^a race" ~= nil end

local function answered(self, name, e, source, plan)
  local v, message = self.pool:judge(e, "judge", source, plan)
  if not v then return http.no(503, message) end
  self.room:enter { name = name, exercise = e.number, headline = headline(v), races = raced(v) or nil, solved = v.passed or nil, seconds = v.seconds }
  return 200, v
end

-- A cheat: what caught it is a rule or a stage of judging.
local function cheated(self, name, e, source, plan)
  local v, message = self.pool:judge(e, "cheat", source, plan)
  if not v then return http.no(503, message) end
  local said = v.caught and "caught by " .. v.caught or "not caught"
  self.room:enter { name = name, exercise = e.number, cheat = true, caught = v.caught, headline = said }
  return 200, v
end

local function turn(self, request)
  local body, why = http.object(request)
  if not body then return http.no(400, why) end
  local name
  name, why = room.name(body.name)
  if not name then return http.no(400, why) end
  local e
  e, why = numbered(body.exercise)
  if not e then return http.no(404, why) end
  if type(body.source) ~= "string" or body.plan ~= nil and type(body.plan) ~= "string" then return http.no(400, "'source' is CUDA source, 'plan' a text") end
  if self.waiting >= most_waiting then return http.no(503, ("%d answers wait already"):format(self.waiting)) end
  self.waiting = self.waiting + 1
  local status, value = (body.cheat and cheated or answered)(self, name, e, body.source, body.plan)
  self.waiting = self.waiting - 1
  return status, value
end

-- ---- the board, and solutions

local function board(self)
  local list, open = core.json.array {}, core.json.array {}
  for i, e in ipairs(exercises.list()) do
    list[i] = { number = e.number, title = e.title }
    if self.opened[e.number] then open[#open + 1] = e.number end
  end
  return 200, { exercises = list, students = self.room:board(), waiting = self.waiting, opened = open, device = self.device }
end

local function solution(self, word)
  local e, why = numbered(word)
  if not e then return http.no(404, why) end
  if not self.opened[e.number] then return http.no(403, ("the solution of exercise %d is not open yet: the teacher opens it"):format(e.number)) end
  return 200, exercises.text(e, "solution"), { type = "text/plain; charset=utf-8", bare = true }
end

local function open_one(self, request)
  local body, why = http.object(request)
  if not body then return http.no(400, why) end
  if body.key ~= self.key then return http.no(403, "this is not the teacher's key") end
  local e
  e, why = numbered(body.exercise)
  if not e then return http.no(404, why) end
  self.opened[e.number] = body.open ~= false
  return 200, { opened = self.opened[e.number] }
end

local function routes_of(self)
  local page = assert(file.read(core.home .. "/lua/cawb/door/class/page.html"))
  return {
    ["GET /"] = function() return 200, page, { type = "text/html; charset=utf-8", bare = true } end,
    ["GET /board"] = function() return board(self) end,
    ["GET /solution/*"] = function(_, word) return solution(self, word) end,
    ["POST /turn"] = function(request) return turn(self, request) end,
    ["POST /open"] = function(request) return open_one(self, request) end,
  }
end

-- ---- serving

--- Serve until a signal.
function Server:serve()
  listen.serve(self, listen.handlers)
  self.http:stop()
  self.pool:close()
  return 0
end

--- A class that listens. `spec` = { pool = a desk, room =, device = its name, key = the teacher's, host =, port =, guests = may
--- other machines ask?, log = }. Returns it, or nil, message, name.
function M.open(spec)
  local self = setmetatable({ pool = spec.pool, room = spec.room, device = spec.device, key = spec.key, log = spec.log, waiting = 0, opened = {} }, Server)
  self.routes = routes_of(self)
  local message, name
  self.http, message, name = core.serve.open { host = spec.host, port = spec.port, page = true, guests = spec.guests, threads = 256, body = 1 << 20 }
  if not self.http then return nil, message, name end
  return self
end

return M
