-- command: cawb exercise class, a room of students at work on the exercises, with a scoreboard.

local address = require "cawb.door.address"
local command = require "cawb.door.command"
local defaults = require "cawb.base.defaults"
local desk = require "cawb.door.class.desk"
local options = require "cawb.base.options"
local processor = require "cawb.base.processor"
local room = require "cawb.door.class.room"
local seeds = require "cawb.base.seeds"
local server = require "cawb.door.class.server"

local M = {}

local own = { ["--host"] = "value", ["--port"] = "value", ["--places"] = "value", ["--out"] = "value", ["--torch"] = "flag", ["--device"] = "value" }

local function whole(given, name, usual, least, most)
  local n = math.tointeger(tonumber(given[name] or usual))
  if not n or n < least or n > most then command.wrong(("--%s is a whole number from %d to %d"):format(name, least, most)) end
  return n
end

--- The command; `argv` is what follows its two words.
function M.main(argv)
  local given, words = command.flags(argv, own)
  if words[1] then command.wrong "cawb exercise class takes flags alone" end
  local name, key, host = given.device or "sim:h100", seeds.fresh "class", address.host(given.host, true)  -- it needs no token
  local places = command.need(desk.open(name, whole(given, "places", processor.cores(), 1, 64), { plain = not given.torch }, options.copy(defaults)))
  if not places.places[1].device.info.modelled then command.wrong "the goals are counts of a simulated device: --device sim:h100" end
  local kept = command.need(room.open(given.out or "class.jsonl"))
  local s = command.need(server.open { pool = places, room = kept, device = name, key = key, host = host, port = address.port(given.port, 8000), guests = not address.alone(host),
    log = function(text) io.stderr:write("cawb exercise class: ", text, "\n") end })
  local at = ("http://%s:%d"):format(address.shown(host), s.http:port())
  io.stdout:write(("cawb exercise class: the board is %s/\nthe teacher's link: %s/#key=%s\nstudents type: cawb exercise 1 my.cu --class %s --name NAME\n")
    :format(at, at, key, at))
  if address.alone(host) then io.stdout:write "this machine alone can reach it; --host 0.0.0.0 lets the room in\n" end
  io.stdout:flush()
  return s:serve()
end

return M
