-- address: where a server of the command line listens. Beyond this machine nobody comes in without a token.

local command = require "cawb.door.command"

local M = {}

local local_hosts = { ["127.0.0.1"] = true, ["::1"] = true }

--- The host that is asked for; others need a file with a token.
function M.host(given, token_file)
  local host = given or "127.0.0.1"
  if host == "localhost" then host = "127.0.0.1" end
  if local_hosts[host] or token_file then return host end
  command.wrong(("--host %s: others can reach that address: name a file with a token, --token-file FILE"):format(host))
end

--- The port that is asked for.
function M.port(given, usual)
  local n = given and math.tointeger(tonumber(given))
  if given and not (n and n >= 0 and n <= 65535) then command.wrong(("--port '%s': write a whole number from 0 to 65535"):format(given)) end
  return n or usual
end

--- A host in an address of the web.
function M.shown(host) return host:find ":" and "[" .. host .. "]" or host end

return M
