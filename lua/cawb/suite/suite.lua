-- suite: many tasks, from where people keep them: a folder of task files, JSON Lines or
-- Parquet in the columns of the published data sets (level, problem_id, name, code; or ops,
-- data_source, code), or a Lua file that returns a list of tasks with overrides and options.

local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local file = require "cawb.base.file"
local needed = require "cawb.base.need"
local options = require "cawb.base.options"
local place = require "cawb.base.place"
local python = require "cawb.base.python"
local shell = require "cawb.base.shell"
local strategy = require "cawb.base.strategy"

local M = {}

local sound, wrong = needed.sound, needed.wrong

-- A name that can be a file's and a line's.
local function plain(name) return (tostring(name):gsub("%.py$", ""):gsub("[^%w_.+-]+", "_"):sub(1, 80)) end

-- ---- the forms

-- Whether a Python file is a task, and not a module that tasks import.
local function is_task(code) return code:find "%f[%w_]get_inputs%f[^%w_]" or ("\n" .. code):find "\nexamples%f[^%w_]" end

local function key_of(task)
  local parts = {}
  if task.level then parts[#parts + 1] = ("%s/"):format(task.level) end
  if task.problem_id and not task.name:find("^" .. task.problem_id .. "_") then
    parts[#parts + 1] = task.problem_id .. "_"
  end
  return table.concat(parts) .. task.name
end

-- A name that several files have takes their folders in.
local function told_apart(list)
  local times = {}
  for _, task in ipairs(list) do times[key_of(task)] = (times[key_of(task)] or 0) + 1 end
  for _, task in ipairs(list) do
    if times[key_of(task)] > 1 then task.name = task.below end
  end
  return list
end

local function from_folder(path)
  local list = {}
  local function walk(folder, level, below)
    for _, name in ipairs(sound(core.fs.list(folder))) do
      local full = folder .. "/" .. name
      if core.fs.kind(full) == "folder" and name ~= "__pycache__" then
        walk(full, math.tointeger(tonumber(name:match "(%d+)$")) or level, below .. name .. "/")
      elseif name:match "%.py$" then
        local code = sound(file.read(full))
        list[#list + 1] = is_task(code) and { level = level, problem_id = math.tointeger(tonumber(name:match "^(%d+)_")),
                            name = name, below = below .. name, path = full, code = code } or nil
      end
    end
  end
  walk(path, nil, "")
  return told_apart(list)
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
        wrong(("%s:%d: %s"):format(path, number, message or "a JSON object is expected"))
      end
      if type(row.code) ~= "string" then wrong(("%s:%d: the row has no 'code'"):format(path, number)) end
      list[#list + 1] = from_row(row, #list + 1)
    end
  end
  return list
end

-- Run a script of the task host's folder with words, and call `each` with every line that it prints. The last thing that it
-- said is why it failed.
local function script(name, words, each)
  local program = needed.need(python.path())
  local errors = os.tmpname()
  local parts = { shell.quoted(program), shell.quoted(("%s/%s"):format(python.host_folder(), name)) }
  for _, word in ipairs(words) do parts[#parts + 1] = shell.quoted(word) end
  local pipe = assert(io.popen(table.concat(parts, " ") .. " 2>" .. shell.quoted(errors)))
  for line in pipe:lines() do each(line) end
  local ok = pipe:close()
  local said = file.read(errors) or ""
  os.remove(errors)
  if not ok then needed.fail(said:match "([^\n]+)%s*$" or name .. " failed", "missing") end
end

local function from_parquet(path)
  local lines = {}
  script("judge/task/parquet.py", { path }, function(line) lines[#lines + 1] = line end)
  return from_lines(table.concat(lines, "\n"), path)
end

-- Whether it can be written into a file of options.
local function is_data(value)
  if type(value) ~= "table" then return type(value) ~= "function" and type(value) ~= "userdata" end
  for _, item in pairs(value) do if not is_data(item) then return false end end
  return true
end

-- The options that an entry has of its own.
local function check_options(entry, source)
  if entry.options == nil then return end
  sound(options.overlay(options.copy(defaults), entry.options, source))
  if entry.options.task then wrong(source .. ": overrides of a task are the entry's 'task', not 'options.task'") end
  if not is_data(entry.options) then wrong(source .. ": options of an entry are data; name a file of a function") end
end

local function from_lua(path)
  local value = sound(strategy.load_table(path))
  local folder, list = path:match "^(.*)/" or ".", {}
  for i, entry in ipairs(value.tasks or value) do
    if type(entry) == "string" then entry = { path = entry } end
    if type(entry) ~= "table" or not (entry.path or entry.code) then
      wrong(("%s: entry %d must be a path, or a table with 'path' or 'code'"):format(path, i))
    end
    check_options(entry, ("%s: entry %d"):format(path, i))
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
  if not core.fs.kind(path) then wrong(path .. ": there is no such file or folder") end
  if path:match "%.lua$" then return from_lua(path) end
  if path:match "%.parquet$" then return from_parquet(path) end
  if path:match "%.jsonl?$" or path:match "%.ndjson$" then return from_lines(sound(file.read(path)), path) end
  wrong(path .. ": a suite is a folder, a .jsonl, a .parquet or a .lua file")
end

-- ---- keys and filters

-- Text, key and hash of each; a key that comes twice is a mistake that would hide a row.
local function complete(list, path)
  local seen = {}
  for _, task in ipairs(list) do
    task.code = task.code or sound(file.read(task.path))
    task.name = plain(task.name)
    task.key = key_of(task)
    task.hash = core.hash.sha256(task.code .. core.json.encode(task.overrides or {})
      .. (task.settings and core.json.encode(task.settings) or ""))
    if seen[task.key] then wrong(("%s: two tasks are called %s"):format(path, task.key)) end
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
      wrong(("%s '%s': write numbers and ranges, such as 1,3-5"):format(flag, text))
    end
    for n = a, b do set[n] = true end
  end
  return set
end

local function shard_of(text)
  local i, n = text:match "^(%d+)/(%d+)$"
  i, n = math.tointeger(tonumber(i)), math.tointeger(tonumber(n))
  if not (i and n and i >= 1 and i <= n) then
    wrong(("--shard '%s': write i/n with 1 <= i <= n, such as 3/16"):format(text))
  end
  return i, n
end

local function filter(list, how)
  local levels, ids = how.level and numbers(how.level, "--level"), how.id and numbers(how.id, "--id")
  local i, n
  if how.shard then i, n = shard_of(how.shard) end
  if how.name and not pcall(string.find, "", how.name) then wrong(("--name '%s' is no Lua pattern"):format(how.name)) end
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

--- Those of a list that `how` = { level =, id =, name = a Lua pattern, shard = "3/16" } asks
--- for; shards are taken of what the other filters leave. Returns nil and a message for a
--- filter that cannot be read.
function M.filter(list, how) return needed.caught(filter, list, how) end

local function load(path)
  local list = load_any(path)
  if #list == 0 then
    wrong(path .. ": there is no task in it" .. (core.fs.kind(path) == "folder" and ": no .py file with get_inputs or examples" or ""))
  end
  return complete(list, path)
end

--- The tasks of a suite: { { key, level, problem_id, name, code, hash, overrides, settings = options of its own, path }, ... }, or
--- nil, message, name.
function M.load(path) return needed.caught(load, place.file(path)) end

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
