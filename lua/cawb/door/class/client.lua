-- client: an answer sent to a class, from a student's machine.

local core = require "cawb.core"
local loop = require "cawb.base.loop"

local M = {}

local most_seconds = 300         -- a whole class may be ahead

-- One request: its status and body, or nil, message, name.
local function ask(url, body)
  local h, message, name = loop.http()
  if not h then return nil, message, name end
  local t
  t, message, name = h:start { url = url, body = body, headers = { "Content-Type: application/json" }, connect = 10, limit = 4 << 20 }
  if not t then return nil, message, name end
  local parts = {}
  local ok, why, kind = loop.wait(function()
    parts[#parts + 1] = t:read() or ""
    return t:ending() ~= nil
  end, core.clock.now() + most_seconds)
  parts[#parts + 1] = t:read() or ""
  local status = t:status()
  t:close()
  if not ok then return nil, why, kind end
  if not status or status == 0 then return nil, ("no class answers at %s"):format(url), "io" end
  return status, table.concat(parts)
end

local function at(url, path) return url:gsub("/+$", "") .. path end

-- A body, or what the class says is wrong.
local function settled(status, body, kind)
  if not status then return nil, body, kind end
  if status == 200 then return body end
  local e = core.json.decode(body)
  return nil, e and e.error or ("the class answers %d"):format(status), "usage"
end

--- The verdict of a class about an answer: what Session:judge of exercises.lua returns, or of a cheat { cheat = true, caught =, reason = }.
function M.turn(url, what)
  local body, message, name = settled(ask(at(url, "/turn"), core.json.encode(what)))
  if not body then return nil, message, name end
  return core.json.decode(body)
end

--- The solution of an exercise, where the teacher has opened it.
function M.solution(url, number) return settled(ask(at(url, "/solution/" .. number))) end

return M
