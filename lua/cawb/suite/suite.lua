-- suite: many tasks, from where people keep them: a folder of task files, JSON Lines or
-- Parquet in the columns of the published data sets (level, problem_id, name, code; or ops,
-- data_source, code), or a Lua file that returns a list of tasks with overrides and options.

local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local file = require "cawb.base.file"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local strategy = require "cawb.base.strategy"

local M = {}

-- A name that can be a file's and a line's.
local function plain(name) return (tostring(name):gsub("%.py$", ""):gsub("[^%w_.+-]+", "_"):sub(1, 80)) end

-- ---- the forms

local function from_folder(path)
  local list = {}
  local function walk(folder, level)
    local names, message = core.fs.list(folder)
    if not names then return nil, message end
    for _, name in ipairs(names) do
      local full = folder .. "/" .. name
      if core.fs.kind(full) == "folder" and name ~= "__pycache__" then
        local ok, why = walk(full, math.tointeger(tonumber(name:match "(%d+)$")) or level)
        if not ok then return nil, why end
      elseif name:match "%.py$" then
        list[#list + 1] = { level = level, problem_id = math.tointeger(tonumber(name:match "^(%d+)_")),
                            name = name, path = full }
      end
    end
    return true
  end
  local ok, message = walk(path)
  if not ok then return nil, message end
  return list
end

-- One row of a data set. A name may be missing: the operators tell as much.
local function from_row(row, number)
  local ops = row.ops
  if type(ops) == "string" then ops = core.json.decode(ops) or { ops } end
  local name = row.name or type(ops) == "table" and #ops > 0 and table.concat(ops, "+") or "task"
  return { level = row.level, problem_id = row.problem_id or row.id or number, name = name, code = row.code,
           overrides = row.overrides }
end

local function from_lines(text, path)
  local list, number = {}, 0
  for line in (text .. "\n"):gmatch "(.-)\r?\n" do
    number = number + 1
    if line:find "%S" then
      local row, message = core.json.decode(line)
      if type(row) ~= "table" then
        return nil, ("%s:%d: %s"):format(path, number, message or "a JSON object is expected")
      end
      if type(row.code) ~= "string" then return nil, ("%s:%d: the row has no 'code'"):format(path, number) end
      list[#list + 1] = from_row(row, #list + 1)
    end
  end
  return list
end

local function quoted(word) return "'" .. word:gsub("'", "'\\''") .. "'" end

-- Run a script of the task host's folder with words, and call `each` with every line that it prints.
-- Returns true, or nil and the last thing that it said.
local function script(name, words, each)
  local program, message, kind = python.path()
  if not program then return nil, message, kind end
  local errors = os.tmpname()
  local parts = { quoted(program), quoted(("%s/%s"):format(python.host_folder(), name)) }
  for _, word in ipairs(words) do parts[#parts + 1] = quoted(word) end
  local pipe = assert(io.popen(table.concat(parts, " ") .. " 2>" .. quoted(errors)))
  for line in pipe:lines() do each(line) end
  local ok = pipe:close()
  local said = file.read(errors) or ""
  os.remove(errors)
  if not ok then return nil, said:match "([^\n]+)%s*$" or name .. " failed", "missing" end
  return true
end

local function from_parquet(path)
  local lines = {}
  local ok, message, name = script("judge/task/parquet.py", { path }, function(line) lines[#lines + 1] = line end)
  if not ok then return nil, message, name end
  return from_lines(table.concat(lines, "\n"), path)
end

-- Whether it can be written into a file of options.
local function is_data(value)
  if type(value) ~= "table" then return type(value) ~= "function" and type(value) ~= "userdata" end
  for _, item in pairs(value) do if not is_data(item) then return false end end
  return true
end

-- What is wrong with the options that an entry has of its own; or nil.
local function wrong_options(entry, source)
  if entry.options == nil then return nil end
  local ok, message = options.overlay(options.copy(defaults), entry.options, source)
  if not ok then return message end
  if entry.options.task then return source .. ": overrides of a task are the entry's 'task', not 'options.task'" end
  if not is_data(entry.options) then return source .. ": options of an entry are data; name a file of a function" end
end

local function from_lua(path)
  local value, message = strategy.load_table(path)
  if not value then return nil, message end
  local folder, list = path:match "^(.*)/" or ".", {}
  for i, entry in ipairs(value.tasks or value) do
    if type(entry) == "string" then entry = { path = entry } end
    if type(entry) ~= "table" or not (entry.path or entry.code) then
      return nil, ("%s: entry %d must be a path, or a table with 'path' or 'code'"):format(path, i)
    end
    local wrong = wrong_options(entry, ("%s: entry %d"):format(path, i))
    if wrong then return nil, wrong end
    local full = entry.path
    if full and full:sub(1, 1) ~= "/" then full = folder .. "/" .. full end
    list[#list + 1] = { level = entry.level, problem_id = entry.id or entry.problem_id, path = full,
      code = entry.code,
      name = entry.name or (full and full:match "([^/]+)$") or "task_" .. i,
        overrides = entry.task or entry.overrides, settings = entry.options }
  end
  return list
end

local function load_any(path)
  if core.fs.kind(path) == "folder" then return from_folder(path) end
  if not core.fs.kind(path) then return nil, path .. ": there is no such file or folder" end
  if path:match "%.lua$" then return from_lua(path) end
  if path:match "%.parquet$" then return from_parquet(path) end
  if path:match "%.jsonl?$" or path:match "%.ndjson$" then
    local text, message = file.read(path)
    if not text then return nil, message end
    return from_lines(text, path)
  end
  return nil, path .. ": a suite is a folder, a .jsonl, a .parquet or a .lua file"
end

-- ---- keys and filters

local function key_of(task)
  local parts = {}
  if task.level then parts[#parts + 1] = ("%s/"):format(task.level) end
  if task.problem_id and not task.name:find("^" .. task.problem_id .. "_") then
    parts[#parts + 1] = task.problem_id .. "_"
  end
  return table.concat(parts) .. task.name
end

-- Text, key and hash of each; a key that comes twice is a mistake that would hide a row.
local function complete(list, path)
  local seen = {}
  for _, task in ipairs(list) do
    local message
    if not task.code then task.code, message = file.read(task.path) end
    if not task.code then return nil, message end
    task.name = plain(task.name)
    task.key = key_of(task)
    task.hash = core.hash.sha256(task.code .. core.json.encode(task.overrides or {})
      .. (task.settings and core.json.encode(task.settings) or ""))
    if seen[task.key] then return nil, ("%s: two tasks are called %s"):format(path, task.key) end
    seen[task.key] = true
  end
  return list
end

-- "1,3-5" as a test of a whole number.
local function numbers(text, flag)
  local set = {}
  for part in text:gmatch "[^,]+" do
    local a, b = part:match "^(%d+)%-(%d+)$"
    a, b = math.tointeger(tonumber(a or part)), math.tointeger(tonumber(b or part))
    if not (a and b and a <= b and b - a < 1 << 20) then
      return nil, ("%s '%s': write numbers and ranges, such as 1,3-5"):format(flag, text)
    end
    for n = a, b do set[n] = true end
  end
  return set
end

local function shard_of(text)
  local i, n = text:match "^(%d+)/(%d+)$"
  i, n = math.tointeger(tonumber(i)), math.tointeger(tonumber(n))
  if not (i and n and i >= 1 and i <= n) then
    return nil, ("--shard '%s': write i/n with 1 <= i <= n, such as 3/16"):format(text)
  end
  return i, n
end

--- Those of a list that `how` = { level =, id =, name = a Lua pattern, shard = "3/16" } asks
--- for; shards are taken of what the other filters leave. Returns nil and a message for a
--- filter that cannot be read.
function M.filter(list, how)
  local levels, ids, message, i, n
  if how.level then levels, message = numbers(how.level, "--level") end
  if how.id and not message then ids, message = numbers(how.id, "--id") end
  if how.shard and not message then
    i, n = shard_of(how.shard)
    if not i then message = n end
  end
  if how.name and not message and not pcall(string.find, "", how.name) then
    message = ("--name '%s' is no Lua pattern"):format(how.name)
  end
  if message then return nil, message end
  local kept = {}
  for _, task in ipairs(list) do
    if (not levels or levels[task.level]) and (not ids or ids[task.problem_id])
       and (not how.name or task.key:find(how.name)) then kept[#kept + 1] = task end
  end
  if not n then return kept end
  local mine = {}
  for at = i, #kept, n do mine[#mine + 1] = kept[at] end
  return mine
end

--- The tasks of a suite: { { key, level, problem_id, name, code, hash, overrides, settings = options of its own, path }, ... }, or
--- nil, message, name.
function M.load(path)
  local list, message, name = load_any(path)
  if not list then return nil, message, name or "usage" end
  if #list == 0 then return nil, path .. ": there is no task in it", "usage" end
  list, message = complete(list, path)
  if not list then return nil, message, "usage" end
  return list
end

-- Write a file once: the same text may be there, of this bench or of another.
local function put(path, text)
  if core.fs.kind(path) then return path end
  local ok, message, name = file.replace(path, text)
  return ok and path, message, name
end

local function literal(value)
  if type(value) ~= "table" then return ("%q"):format(value) end
  local items, names = {}, {}
  for i, item in ipairs(value) do items[i] = literal(item) end
  for name in pairs(value) do if type(name) == "string" then names[#names + 1] = name end end
  table.sort(names)
  for _, name in ipairs(names) do items[#items + 1] = ("[%q] = %s"):format(name, literal(value[name])) end
  return "{ " .. table.concat(items, ", ") .. " }"
end

-- Overrides and the task's own options as a file of options; nil where there are none.
local function config_of(task)
  local all = options.copy(task.settings or {})
  if next(task.overrides or {}) then all.task = task.overrides end
  return next(all) and ("return %s\n"):format(literal(all))
end

-- A file of one's own runs where it lies, beside the modules that it imports, unless it has changed
-- since the suite was read.
local function in_place(task)
  local path = task.path and core.fs.realpath(task.path)
  return path and file.read(path) == task.code and path
end

--- A task's file: its own, or one written under `folder` by its content; and its overrides and options there.
--- Returns both paths, the second false where there are none; or nil, message, name.
function M.file(task, folder)
  local own, config = in_place(task), config_of(task)
  if own and not config then return own, false end
  local dir = ("%s/%s"):format(folder, task.hash:sub(1, 16))
  local ok, message, name = core.fs.mkdir(dir)
  if not ok then return nil, message, name end
  local path = own
  if not path then path, message, name = put(("%s/%s.py"):format(dir, task.name), task.code) end
  if not path or not config then return path, path and false or message, name end
  local overrides
  overrides, message, name = put(dir .. "/overrides.lua", config)
  if not overrides then return nil, message, name end
  return path, overrides
end

return M
