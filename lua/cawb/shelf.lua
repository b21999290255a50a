-- shelf: small JSON files under the cache folder, for what was measured once and holds
-- as long as the stack does. A file that cannot be read counts as absent.

local core = require "cawb.core"

local M = {}

local function folder(kind)
  local base = os.getenv "XDG_CACHE_HOME"
  if not base or base == "" then base = (os.getenv "HOME" or "/tmp") .. "/.cache" end
  return ("%s/cawb/%s"):format(base, kind)
end

--- The path of an entry; `key` is a hash.
function M.path(kind, key) return ("%s/%s.json"):format(folder(kind), key) end

--- The table under a key, or nil and why there is none.
function M.get(kind, key)
  local path = M.path(kind, key)
  local f = io.open(path, "rb")
  if not f then return nil, "nothing is stored" end
  local text = f:read "a"
  f:close()
  local value, message = core.json.decode(text)
  if type(value) ~= "table" then
    return nil, ("%s is not readable: %s"):format(path, tostring(message or "no object"))
  end
  return value
end

--- Store a table; other readers see the old entry or the new one. Returns true, or nil,
--- message, name.
function M.put(kind, key, value)
  local ok, message, name = core.fs.mkdir(folder(kind))
  if not ok then return nil, message, name end
  local path = M.path(kind, key)
  local temp = ("%s.%s"):format(path, (core.clock.random(4):gsub(".", function(c)
    return ("%02x"):format(c:byte()) end)))
  local f
  f, message = io.open(temp, "wb")
  if not f then return nil, message, "io" end
  local done = f:write(core.json.encode(value), "\n") and f:close()
  if done then done, message = os.rename(temp, path) end
  if not done then
    os.remove(temp)
    return nil, ("cannot write %s: %s"):format(path, tostring(message)), "io"
  end
  return true
end

--- Every entry of a kind, in no order.
function M.all(kind)
  local list = {}
  for _, file in ipairs(core.fs.list(folder(kind)) or {}) do
    local key = file:match "^(%x+)%.json$"
    list[#list + 1] = key and M.get(kind, key)
  end
  return list
end

return M
