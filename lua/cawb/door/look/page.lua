-- page: `cawb look` as one HTML file: what the server answers to GET /, and what an export is.

local core = require "cawb.core"
local file = require "cawb.base.file"

local M = {}

local scripts = { "look_code.js", "look_link.js", "look_show.js", "look.js" }

local function read(name) return assert(file.read(core.home .. "/lua/cawb/suite/page/" .. name)) end

local letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

-- Hexadecimal digits of 32 bytes as base64.
local function base64(hex)
  local bits = hex:gsub("%x", function(d)
    local n, text = tonumber(d, 16), ""
    for i = 3, 0, -1 do text = text .. (n >> i & 1) end
    return text
  end)
  bits = bits .. ("0"):rep(-#bits % 6)
  local text = bits:gsub("......", function(six)
    local n = tonumber(six, 2) + 1
    return letters:sub(n, n)
  end)
  return text .. ("="):rep(-#text % 4)
end

local function hashed(text) return ("'sha256-%s'"):format(base64(core.hash.sha256(text))) end

-- Nothing but this script and this style, and no other host.
local function policy(style, script, connect)
  return ("default-src 'none'; script-src %s; style-src %s; img-src data:; connect-src %s; base-uri 'none'; form-action 'none'"):format(
    hashed(script), hashed(style), connect)
end

-- JSON inside a script element must not hold what would end it.
local function inside(text) return (text:gsub("<", "\\u003c")) end

local function parts_of()
  local texts = {}
  for i, name in ipairs(scripts) do texts[i] = read(name) end
  return read "page.css" .. read "look.css", table.concat(texts)
end

--- The page. With `saved` = { state =, result =, ... } it is an export, which asks nobody; without it, it asks the server that it comes
--- from. Returns the text and the policy, for a header.
function M.html(saved)
  local style, script = parts_of()
  local rules = policy(style, script, saved and "'none'" or "'self'")
  local parts = { policy = rules, style = style, script = script, data = inside(core.json.encode(saved or core.json.null)) }
  return (read "look.html":gsub("{{(%l+)}}", parts)), rules
end

return M
