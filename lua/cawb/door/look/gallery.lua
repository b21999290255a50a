-- gallery: the tasks and kernels that `cawb look` offers: ladders, exercises, cheats with their honest look-alikes, those that the
-- command names, and for every task what compose makes of it. Clients name tasks and send kernels.

local core = require "cawb.core"
local arguments = require "cawb.door.arguments"
local exercises = require "cawb.door.exercises"
local families = require "cawb.run.families"
local file = require "cawb.base.file"
local place = require "cawb.base.place"
local redteam = require "cawb.suite.redteam_kernels"
local suggest = require "cawb.base.suggest"

local M = {}

local Gallery = {}
Gallery.__index = Gallery

local function add_task(self, key, path, title, exercise)
  if self.tasks[key] then return end
  self.tasks[key] = { key = key, path = path, title = title or key, exercise = exercise }
  self.names[#self.names + 1] = key
end

local function add(self, item)
  self.items[item.key], self.order[#self.order + 1] = item, item
end

-- ---- where they come from

-- The example that shows a family's ladder.
local shown = { columns = "column_sum", convolution = "conv_relu", elementwise = "gelu", layernorm = "layernorm", linear = "linear_gelu",
                matmul = "matmul", norm = "l2_norm", reduce = "row_sum", scan = "cumsum", softmax = "softmax" }

local function add_ladders(self)
  for _, family in ipairs(families.list()) do
    for _, version in ipairs(shown[family.name] and family.versions or {}) do
      add(self, { key = ("%s/%s"):format(family.name, version), group = "ladder: " .. family.name, title = version, task = shown[family.name],
        read = function()
          local path = ("%s/%s"):format(family.dir, version)
          return { source = assert(file.read(path .. ".cu")), plan = assert(file.read(path .. ".lua")), family = family.name }
        end })
    end
  end
end

local function add_exercises(self)
  for _, e in ipairs(exercises.list()) do
    local key = ("exercise-%d"):format(e.number)
    add_task(self, key, e.dir .. "/task.py", ("exercise %d: %s"):format(e.number, e.title), e)
    for _, which in ipairs { "start", "solution" } do
      add(self, { key = ("%s/%s"):format(key, which), group = "exercises", title = ("%d %s: %s"):format(e.number, e.title, which), task = key,
        read = function()
          return { source = exercises.text(e, which), plan = assert(file.read(e.dir .. "/plan.lua")),
                   note = which == "start" and (e.about:gsub("%s+", " ")) or "an answer" }
        end })
    end
  end
end

-- They lie among the tests; an installed cawb may have none.
local function add_cheats(self)
  if core.fs.kind(redteam.folder()) ~= "folder" then return end
  for _, f in ipairs(redteam.fixtures(redteam.folder() .. "/tier1") or {}) do
    local task = "cheats/" .. f.task
    add_task(self, task, f.path, "cheats: " .. f.task)
    for _, which in ipairs { "cheat", "look_alike" } do
      local honest = which == "look_alike"
      add(self, { key = ("%s/%s"):format(honest and "honest" or "cheat", f.name), task = task,
        group = honest and "honest look-alikes" or "cheats", title = f.name,
        read = function() return { source = f[which].source, plan = f[which].plan, options = f[which].options, note = honest and f.says or f.what } end })
    end
  end
end

-- What the command names: a task, and perhaps a kernel. Returns the key of what is shown first.
local function add_own(self, words)
  local path, kernel = place.file(words[1]), words[2]
  local name = path:match "([^/]+)$":gsub("%.py$", "")
  local key = self.tasks[name] and self.tasks[name].path ~= path and "own/" .. name or name
  add_task(self, key, path)
  if not kernel then return "compose/" .. key end
  local c, message = arguments.candidate(kernel)
  if not c then return nil, message end
  if c.python then return nil, "the page shows kernels with a plan; cawb judge takes a Python candidate" end
  local rung = self.items[c.name] and self.items[c.name].read()
  local family = rung and rung.source == c.source and rung.family or nil          -- which tells it of the task's graph
  if family and self.items[c.name].task == key then return c.name end
  local item = { key = "own/" .. c.name, group = "yours", title = c.name, task = key, read = function()
    return { source = c.source, plan = c.plan, options = c.options, defines = c.defines, family = family }
  end }
  self.items[item.key] = item
  table.insert(self.order, 1, item)
  return item.key
end

-- ---- asked for

--- A task as the pool takes it. A file that was changed is another task.
function Gallery:task(key)
  local task = type(key) == "string" and self.tasks[key]
  if not task then return nil, ("there is no task '%s' here%s"):format(tostring(key):sub(1, 80), suggest.hint(tostring(key), self.names)) end
  local text, message = file.read(task.path)
  if not text then return nil, message end
  local hash = core.hash.sha256(key .. "\0" .. text)
  if not (task.entry and task.entry.hash == hash) then task.entry = { key = key, name = key, path = task.path, hash = hash, overrides = {}, exercise = task.exercise } end
  return task.entry
end

--- An item's texts: { key, task, title, source, plan, family, options, defines, note }; of compose/TASK without a source: it is
--- made where the task is loaded. Or nil and a message.
function Gallery:item(key)
  local made = type(key) == "string" and key:match "^compose/(.+)$"
  if made and self.tasks[made] then return { key = key, task = made, title = "what compose makes of it", compose = true } end
  local item = self.items[key]
  if not item then return nil, ("there is no kernel '%s' in the gallery"):format(tostring(key):sub(1, 80)) end
  local texts = item.read()
  texts.key, texts.task, texts.title = key, item.task, item.title
  return texts
end

--- All that there is, without texts.
function Gallery:list()
  local tasks, items = core.json.array {}, core.json.array {}
  for i, key in ipairs(self.names) do tasks[i] = { key = key, title = self.tasks[key].title } end
  for i, item in ipairs(self.order) do items[i] = { key = item.key, group = item.group, title = item.title, task = item.task } end
  for _, key in ipairs(self.names) do
    items[#items + 1] = { key = "compose/" .. key, group = "compose", title = "compose: " .. self.tasks[key].title, task = key }
  end
  return { tasks = tasks, items = items, first = self.first }
end

--- The gallery, with the task and the kernel that `words` name; or nil, message.
function M.new(words)
  local self = setmetatable({ tasks = {}, names = {}, items = {}, order = {}, first = "exercise-4/start" }, Gallery)
  for _, name in ipairs(core.fs.list(core.home .. "/examples") or {}) do
    local key = name:match "^([%w_]+)%.py$"
    if key then add_task(self, key, ("%s/examples/%s"):format(core.home, name)) end
  end
  add_exercises(self)
  add_ladders(self)
  add_cheats(self)
  local message
  if words[1] then self.first, message = add_own(self, words) end
  if not self.first then return nil, message end
  return self
end

return M
