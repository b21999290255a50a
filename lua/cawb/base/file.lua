-- file: whole files, in and out.

local core = require "cawb.core"

local M = {}

--- The bytes of a file; or nil, message, "missing".
function M.read(path)
  local f, message = io.open(path, "rb")
  if not f then return nil, message, "missing" end
  local text
  text, message = f:read "a"
  f:close()
  if not text then return nil, ("%s: %s"):format(path, message), "missing" end    -- a folder, say
  return text
end

--- Write a file, or write it over. Returns true; or nil, message, "io".
function M.write(path, text)
  local f, message = io.open(path, "wb")
  if not f then return nil, message, "io" end
  local ok
  ok, message = f:write(text)
  if not (f:close() and ok) then return nil, ("cannot write %s: %s"):format(path, message or "is the disk full?"), "io" end
  return true
end

--- Write a file so that whoever reads it, or writes it too, sees all of one text: it is
--- written beside and renamed. Returns true; or nil, message, "io".
function M.replace(path, text)
  local mark = core.clock.random(4):gsub(".", function(c) return ("%02x"):format(c:byte()) end)
  local temp = ("%s.%s"):format(path, mark)
  local ok, message = M.write(temp, text)
  if ok then ok, message = os.rename(temp, path) end
  if ok then return true end
  os.remove(temp)
  return nil, ("cannot write %s: %s"):format(path, message), "io"
end

return M
