-- page: what `cawb help NAME` prints of a strategy, or of a script by its path: its file's own words at the top, and a strategy's settings.

local core = require "cawb.core"
local file = require "cawb.base.file"
local strategy = require "cawb.base.strategy"

local M = {}

-- The comment at the top of a file, without its dashes and the file's own name.
local function words_of(text, name)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do
    local words = line:match "^%-%- ?(.*)$"
    if not words then break end
    lines[#lines + 1] = words
  end
  local words = table.concat(lines, "\n")
  return words:sub(1, #name + 1) == name .. ":" and words:sub(#name + 2):gsub("^%s+", "") or words
end

local function value_text(value)
  if type(value) == "table" then return "{ ... }" end
  return type(value) == "string" and ("%q"):format(value) or tostring(value)
end

local function settings_of(found)
  local names, lines = {}, {}
  for name in pairs(found.settings or {}) do names[#names + 1] = name end
  table.sort(names)
  for k, name in ipairs(names) do lines[k] = ("  --set settings.%s=%s"):format(name, value_text(found.settings[name])) end
  return #lines > 0 and "\nsettings, as they are where nothing else is said\n" .. table.concat(lines, "\n") .. "\n" or ""
end

-- A strategy's table; nil for a script that lies beside them, which would run.
local function table_of(path, text)
  if not text:find "\nreturn {" then return nil end
  return strategy.check(strategy.load_table(path), path)
end

--- The page of a strategy that cawb comes with, or of a Lua file; nil for any other word.
function M.of(name)
  local path = strategy.file(name) or name:match "%.lua$" and name
  local text = path and file.read(path)
  if not text then return nil end
  local found = table_of(path, text)
  local usage = found and ("usage: cawb %s TASK.py [flags]      (cawb help has the flags)\n\n"):format(name) or ""
  return ("%s%s\n%s\nIts text is %s\n"):format(usage, words_of(text, name), found and settings_of(found) or "", path == name and path or path:sub(#core.home + 2))
end

return M
