-- command: cawb exercise class, a room of students at work on the exercises, with a scoreboard.

local command = require "cawb.door.command"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local desk = require "cawb.door.class.desk"
local options = require "cawb.base.options"
local room = require "cawb.door.class.room"
local server = require "cawb.door.class.server"

local M = {}

local own = { ["--host"] = "value", ["--port"] = "value", ["--places"] = "value", ["--out"] = "value", ["--torch"] = "flag", ["--device"] = "value" }

local function whole(given, name, usual, least, most)
  local n = math.tointeger(tonumber(given[name] or usual))
  if not n or n < least or n > most then command.wrong(("--%s is a whole number from %d to %d"):format(name, least, most)) end
  return n
end

local function cores()
  local n = 0
  for line in io.lines "/proc/cpuinfo" do if line:match "^processor" then n = n + 1 end end
  return math.max(1, n)
end

local function new_key()
  local f = assert(io.open("/dev/urandom", "rb"))
  local bytes = f:read(16)
  f:close()
  return core.hash.sha256(bytes):sub(1, 16)
end

--- The command; `argv` is what follows its two words.
function M.main(argv)
  local given, words = command.flags(argv, own)
  if words[1] then command.wrong "cawb exercise class takes flags alone" end
  local name, key, host = given.device or "sim:h100", new_key(), given.host or "127.0.0.1"
  local places = command.need(desk.open(name, whole(given, "places", cores(), 1, 64), { plain = not given.torch }, options.copy(defaults)))
  if not places.places[1].device.info.modelled then command.wrong "the goals are counts of a simulated device: --device sim:h100" end
  local kept = command.need(room.open(given.out or "class.jsonl"))
  local s = command.need(server.open { desk = places, room = kept, device = name, key = key, host = host, port = whole(given, "port", 8000, 0, 65535),
    log = function(text) io.stderr:write("cawb exercise class: ", text, "\n") end })
  local address = ("http://%s:%d/"):format(host == "0.0.0.0" and "THIS-MACHINE" or host, s.http:port())
  io.stdout:write(("cawb exercise class: the board is %s\nthe teacher's link: %s#key=%s\n"):format(address, address, key))
  io.stdout:flush()
  return s:serve()
end

return M
