-- cache: small JSON files under the cache folder, for what was measured once and holds
-- as long as the stack does. A file that cannot be read counts as absent.

local core = require "cawb.core"
local file = require "cawb.base.file"

local M = {}

--- Where what is kept of a kind lies.
function M.folder(kind)
  local base = os.getenv "XDG_CACHE_HOME"
  if not base or base == "" then base = (os.getenv "HOME" or "/tmp") .. "/.cache" end
  return ("%s/cawb/%s"):format(base, kind)
end

--- The path of an entry; `key` is a hash.
function M.path(kind, key) return ("%s/%s.json"):format(M.folder(kind), key) end

--- The table under a key, or nil and why there is none.
function M.get(kind, key)
  local path = M.path(kind, key)
  local text = file.read(path)
  if not text then return nil, "nothing is stored" end
  local value, message = core.json.decode(text)
  if type(value) ~= "table" then
    return nil, ("%s is not readable: %s"):format(path, tostring(message or "no object"))
  end
  return value
end

--- Store a table; other readers see the old entry or the new one. Returns true, or nil,
--- message, name.
function M.put(kind, key, value)
  local ok, message, name = core.fs.mkdir(M.folder(kind))
  if not ok then return nil, message, name end
  return file.replace(M.path(kind, key), core.json.encode(value) .. "\n")
end

--- Every entry of a kind, in no order.
function M.all(kind)
  local list = {}
  for _, entry in ipairs(core.fs.list(M.folder(kind)) or {}) do
    local key = entry:match "^(%x+)%.json$"
    list[#list + 1] = key and M.get(kind, key)
  end
  return list
end

return M
