-- address: where a server of the command line listens. Beyond this machine nobody comes in without a token.

local command = require "cawb.door.command"

local file = require "cawb.base.file"

local M = {}

local local_hosts = { ["127.0.0.1"] = true, ["::1"] = true }

--- The host that is asked for; others need a file with a token, or `true` where everybody may come.
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

--- Whether nobody but this machine reaches a host.
function M.alone(host) return local_hosts[host] or false end

-- A number of /proc/net/route, such as 000200C0, as four bytes: 192.0.2.0.
local function bytes(word)
  local n = tonumber(word, 16)
  return { n & 255, n >> 8 & 255, n >> 16 & 255, n >> 24 & 255 }
end

local function within(ip, network, mask)
  local i = 0
  for part in ip:gmatch "%d+" do
    i = i + 1
    if tonumber(part) & mask[i] ~= network[i] then return false end
  end
  return i == 4
end

-- The networks that are joined directly where the way out of this machine is: { network, mask } each.
local function joined(routes)
  local out, list = routes:match "\n(%S+)%s+00000000%s+%x+", {}
  for name, network, gateway, mask in routes:gmatch "\n(%S+)%s+(%x+)%s+(%x+)%s+%x+%s+%S+%s+%S+%s+%S+%s+(%x+)" do
    if name == out and gateway == "00000000" and network ~= "00000000" then list[#list + 1] = { bytes(network), bytes(mask) } end
  end
  return list
end

--- The address by which other machines reach this one, of Linux's tables of addresses and routes; nil where it has none. With several
--- networks it is that of the way out.
function M.outside(addresses, routes)
  addresses, routes = addresses or file.read "/proc/net/fib_trie" or "", routes or file.read "/proc/net/route" or ""
  local first, networks = nil, joined(routes)
  for ip in addresses:gmatch "%-%- ([%d.]+)%s+/32 host LOCAL" do
    if not ip:find "^127%." then
      first = first or ip
      for _, n in ipairs(networks) do if within(ip, n[1], n[2]) then return ip end end
    end
  end
  return first
end

local everywhere = { ["0.0.0.0"] = true, ["::"] = true }

--- A host in an address of the web, by which others reach it.
function M.shown(host)
  host = everywhere[host] and M.outside() or host
  return host:find ":" and "[" .. host .. "]" or host
end

return M
