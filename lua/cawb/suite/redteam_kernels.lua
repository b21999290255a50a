-- redteam_kernels: the red team's corpus of tier 1, kernels with plans. A file of tests/judge/cheats/tier1 returns a list of fixtures:
--   { name = "a07_last_term", what = what the cheat does, met_by = a source or nil, task = a name of tests/judge/cheats/tasks,
--     caught = { stage =, rule = }, cheat = candidate, look_alike = candidate, says = what the look-alike does }
-- A name begins with a family's letter and a number in the catalogue; `entry` is the number where it is another one.
-- A candidate is { source =, plan =, options = }. Source and plan are texts, or edits { from, to, from, to } of the task's honest
-- kernel; a missing one is the honest kernel's. Where cheat and look-alike replace the same text of the source, `replace` is this
-- text, and both are texts that come in its place. A list may have `task` and `caught` for all of its fixtures; `caught` is
-- { stage = "verify" } by default. A file sees honest(task) -> source, plan and edit(text, from, to, ...).

local candidates = require "cawb.judge.task.candidate"
local core = require "cawb.core"
local file = require "cawb.base.file"
local suggest = require "cawb.base.suggest"

local M = {}

--- Where the corpus lies.
function M.folder() return core.home .. "/tests/judge/cheats" end

local function read(path)
  local text, message = file.read(path)
  return text or error(message, 0)
end

-- ---- tasks and their honest kernels

local found                                  -- once: the corpus does not change under a run

-- Paths of the tasks without their endings, by name.
local function bases()
  if found then return found end
  local root = M.folder() .. "/tasks"
  found = {}
  for _, group in ipairs(assert(core.fs.list(root))) do
    local folder = ("%s/%s"):format(root, group)
    for _, entry in ipairs(core.fs.kind(folder) == "folder" and assert(core.fs.list(folder)) or {}) do
      local name = entry:match "^(.*)%.py$"
      if name then found[name] = ("%s/%s"):format(folder, name) end
    end
  end
  return found
end

local function base_of(name)
  return bases()[name] or error(("tests/judge/cheats/tasks has no task '%s'"):format(name), 0)
end

--- The path of a task of the corpus.
function M.task(name) return base_of(name) .. ".py" end

--- The names of all tasks, in order.
function M.tasks()
  local names = {}
  for name in pairs(bases()) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function edit(text, from, to, ...)
  if not from then return text end
  local at, last = text:find(from, 1, true)
  if not at then error("the text to replace is not there: " .. from, 0) end
  return edit(text:sub(1, at - 1) .. to .. text:sub(last + 1), ...)
end

local plans

--- The source and the plan of a task's honest kernel.
function M.honest(name)
  plans = plans or dofile(M.folder() .. "/tasks/honest.lua")
  local like = plans.like[name] or { name }
  return edit(read(base_of(like[1]) .. ".cu"), table.unpack(like, 2)), plans.plans[name]
end

--- The honest kernel of a task, a candidate.
function M.candidate(name)
  local source, plan = M.honest(name)
  return candidates.new { source = source, plan = plan, name = "honest/" .. name }
end

-- ---- fixtures

local needed = { { "name", "string" }, { "what", "string" }, { "task", "string" }, { "says", "string" }, { "caught", "table" } }
local fields = { "name", "what", "task", "says", "caught", "cheat", "look_alike", "met_by", "entry", "device", "replace" }
local parts = { "source", "plan", "options" }

local function unknown(t, known)
  for key in pairs(t) do
    local found = false
    for _, one in ipairs(known) do found = found or one == key end
    if not found then return ("has no '%s'%s"):format(key, suggest.hint(tostring(key), known)) end
  end
end

-- What is wrong with a fixture, or nil.
local function fault(f)
  for _, field in ipairs(needed) do
    if type(f[field[1]]) ~= field[2] then return ("has '%s', a %s"):format(field[1], field[2]) end
  end
  if not f.name:match "^[a-g]%d+_" then return "has a name that begins with its family and its number, as a07_" end
  local wanted = f.replace and "string" or "table"
  for _, key in ipairs { "cheat", "look_alike" } do
    if type(f[key]) ~= wanted then return ("has '%s', a %s%s"):format(key, wanted, f.replace and " beside 'replace'" or "") end
    local why = not f.replace and unknown(f[key], parts)
    if why then return ("%s in '%s'"):format(why, key) end
  end
  return unknown(f, fields)
end

local function texts_of(f, given)
  if f.replace then given = { source = { f.replace, given } } end
  local source, plan = M.honest(f.task)
  local function text(part, honest)
    return type(part) == "table" and edit(honest, table.unpack(part)) or part or honest
  end
  return { source = text(given.source, source), plan = text(given.plan, plan), options = given.options }
end

-- Complete a fixture: both candidates' texts, what follows from its name, and its task's path.
local function resolve(f)
  local family, entry = f.name:match "^(%a)(%d+)_"
  f.family, f.entry, f.path = family:upper(), f.entry or tonumber(entry), M.task(f.task)
  f.cheat, f.look_alike = texts_of(f, f.cheat), texts_of(f, f.look_alike)
  f.look_alike.says = f.says
end

-- The list of a file, each fixture with what the list has for all; or nil, message.
local function load_list(path)
  local chunk, message = loadfile(path, "t", setmetatable({ honest = M.honest, edit = edit }, { __index = _G }))
  if not chunk then return nil, message end
  local ok, list = pcall(chunk)
  if not ok then return nil, ("%s: %s"):format(path, list) end
  if type(list) ~= "table" then return nil, path .. ": it returns a list of fixtures" end
  for _, f in ipairs(list) do
    f.task, f.caught = f.task or list.task, f.caught or list.caught or { stage = "verify" }
  end
  return list
end

local function add_file(all, path)
  local list, message = load_list(path)
  if not list then return nil, message end
  for i, f in ipairs(list) do
    local where = ("%s: %s"):format(path, f.name or "fixture " .. i)
    local why = fault(f) or all[f.name] and "has a name of its own"
    if why then return nil, ("%s: a fixture %s"):format(where, why) end
    local ok, error_of = pcall(resolve, f)
    if not ok then return nil, ("%s: %s"):format(where, error_of) end
    all[#all + 1], all[f.name] = f, true
  end
  return true
end

--- The fixtures of a folder, by task, so that each task is opened once; or nil, message.
function M.fixtures(folder)
  local files, message = core.fs.list(folder)
  if not files then return nil, message end
  local all = {}
  for _, entry in ipairs(files) do
    local ok, why = true, nil
    if entry:match "%.lua$" then ok, why = add_file(all, ("%s/%s"):format(folder, entry)) end
    if not ok then return nil, why end
  end
  table.sort(all, function(a, b)
    if a.task ~= b.task then return a.task < b.task end
    return a.name < b.name
  end)
  return all
end

return M
