-- tasks: those that a server serves, by key, by name and by the hash of their text. A task is Python that runs here
-- as it is: clients name tasks, and send none, unless the server was told to take them.

local core = require "cawb.core"
local file = require "cawb.base.file"
local place = require "cawb.base.place"
local suggest = require "cawb.base.suggest"
local suite = require "cawb.suite.suite"

local M = {}

local Tasks = {}
Tasks.__index = Tasks

local function name_of(path) return path:match "([^/]+)$":gsub("%.py$", "") end

local function from_file(path)
  local code, message = file.read(path)
  if not code then return nil, message, "usage" end
  local name = name_of(path)
  return { { key = name, name = name, path = path, code = code, overrides = {} } }
end

-- The files and suites of a command line as one list.
local function load_all(paths)
  local all = {}
  for _, word in ipairs(paths) do
    local path, list, message, name = place.file(word), nil, nil, nil
    if path:match "%.py$" then list, message, name = from_file(path) else list, message, name = suite.load(path) end
    if not list then return nil, message, name end
    table.move(list, 1, #list, #all + 1, all)
  end
  return all
end

local function digest(entry)
  return core.hash.sha256(core.json.encode { core.hash.sha256(entry.code), core.json.encode(entry.overrides or {}) })
end

-- A name that two tasks have stands for neither.
local function enter(self, name, entry)
  if name == nil then return end
  if self.by_name[name] and self.by_name[name] ~= entry then self.by_name[name] = false
  else self.by_name[name] = entry end
end

local function add(self, entry)
  entry.overrides = entry.overrides or {}
  entry.hash = digest(entry)
  local same = self.by_hash[entry.hash] or entry        -- the same text may have several names
  enter(self, entry.key, same)
  enter(self, entry.name, same)
  if same ~= entry then return same end
  self.by_hash[entry.hash], self.list[#self.list + 1] = entry, entry
  self.by_code[core.hash.sha256(entry.code)] = entry
  return entry
end

--- The task that a client means: a key, a name, a hash, or { code = its text }. Returns it, or nil and why not.
function Tasks:find(what)
  if type(what) == "table" then return self:of_code(what.code, what.name) end
  if type(what) ~= "string" then return nil, "'task' must be the name of a task" end
  local entry = self.by_name[what] or self.by_hash[what]
  if entry then return entry end
  if self.by_name[what] == false then return nil, ("'%s' is the name of several tasks: use a key, as GET /tasks shows them"):format(what) end
  return nil, ("there is no task '%s' here%s; GET /tasks lists them"):format(what:sub(1, 80), suggest.hint(what, self.names))
end

--- The task with this text. One that is not served is taken where the server was told so.
function Tasks:of_code(code, name)
  if type(code) ~= "string" then return nil, "the task's text is missing" end
  local entry = self.by_code[core.hash.sha256(code)]
  if entry then return entry end
  if not self.folder then
    return nil, "this text is none of the tasks that are served: start the server with it, or with --accept-tasks, which "
      .. "executes the Python of clients"
  end
  local made = { code = code, name = (tostring(name or "task"):gsub("[^%w_]+", "_"):sub(1, 60)) }
  made.key = ("%s-%s"):format(made.name, core.hash.sha256(code):sub(1, 12))
  return add(self, made)
end

--- The file of a task, to be loaded: its own, or one written under the server's folder.
function Tasks:file(entry)
  if entry.path and file.read(entry.path) == entry.code then return entry.path end
  return suite.file({ name = entry.name, code = entry.code, hash = entry.hash, path = entry.path, overrides = {} }, self.scratch)
end

--- What GET /tasks shows.
function Tasks:shown()
  local list = core.json.array {}
  for i, entry in ipairs(self.list) do
    list[i] = { key = entry.key, name = entry.name, hash = entry.hash, level = entry.level, problem_id = entry.problem_id }
  end
  return list
end

--- The tasks of files and suites. `opts` = { scratch = a folder for texts without a file, accept = take tasks of
--- clients }. Returns them, or nil, message, name.
function M.new(paths, opts)
  local list, message, name = load_all(paths)
  if not list then return nil, message, name end
  local self = setmetatable({ list = {}, by_name = {}, by_hash = {}, by_code = {}, names = {}, scratch = opts.scratch,
                              folder = opts.accept or nil }, Tasks)
  for _, entry in ipairs(list) do add(self, entry) end
  for known, entry in pairs(self.by_name) do if entry then self.names[#self.names + 1] = known end end
  return self
end

return M
