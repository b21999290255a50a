-- exercises: those of the workshop, and a judge for answers. An exercise is a folder of examples/workshop/exercises: exercise.lua says
-- what is to be done and which counts are the goal; task.py, plan.lua, start.cu and solution.cu stand beside it.

local cawb = require "cawb"
local core = require "cawb.core"
local file = require "cawb.base.file"
local judge = require "cawb.judge.judge"
local needed = require "cawb.base.need"
local options = require "cawb.base.options"
local python = require "cawb.base.python"

local M = {}

local need = needed.need

local function folder() return core.home .. "/examples/workshop/exercises" end

-- The folders in the order of their numbers.
local function folders()
  local list = {}
  for _, name in ipairs(core.fs.list(folder()) or {}) do
    if name:match "^%d%d_%l+$" then list[#list + 1] = name end
  end
  table.sort(list)
  return list
end

local parts = { "exercise.lua", "task.py", "plan.lua", "start.cu", "solution.cu" }

-- What a goal lacks, or nil.
local function goal_lacks(goal)
  return not goal[1] and "its name, first" or not (goal.most or goal.least) and "most or least" or not (goal.metric or goal.value) and "metric or value"
    or not goal.says and "says, a text" or nil
end

-- The exercise in a folder; or nil and what is wrong with it.
local function load_from(dir)
  for _, part in ipairs(parts) do
    if not core.fs.kind(dir .. "/" .. part) then return nil, ("%s is missing: an exercise has %s"):format(dir .. "/" .. part, table.concat(parts, ", ")) end
  end
  local chunk, message = loadfile(dir .. "/exercise.lua", "t", { math = math })
  if not chunk then return nil, message end
  local ok, e = pcall(chunk)
  if not ok then return nil, e end
  for _, key in ipairs { "title", "about", "hint", "goals" } do
    if type(e) ~= "table" or not e[key] then return nil, ("%s/exercise.lua returns no %s"):format(dir, key) end
  end
  for i, goal in ipairs(e.goals) do
    local lack = goal_lacks(goal)
    if lack then return nil, ("%s/exercise.lua: goal %d lacks %s"):format(dir, i, lack) end
  end
  e.dir = dir
  return e
end

local function load_one(name)
  local e = assert(load_from(folder() .. "/" .. name))
  e.number, e.name = tonumber(name:match "^%d+"), name:match "^%d+_(.*)$"
  e.word = tostring(e.number)
  return e
end

-- An exercise of one's own, in any folder.
local function load_own(dir)
  dir = dir:gsub("(.)/+$", "%1")
  local e, message = load_from(dir)
  if not e then return nil, message end
  e.word, e.name = dir, dir:match "[^/]+$"
  return e
end

--- All of them: { number =, word = what names it on the command line, name =, title =, about =, hint =, goals =, small =, dir = }.
function M.list()
  local list = {}
  for i, name in ipairs(folders()) do list[i] = load_one(name) end
  return list
end

--- One by its number, its name, or its folder, which has no number; nil and a message.
function M.find(word)
  if word:find("/", 1, true) or core.fs.kind(word .. "/exercise.lua") then return load_own(word) end
  for _, e in ipairs(M.list()) do
    if tonumber(word) == e.number or word == e.name then return e end
  end
  return nil, ("there is no exercise '%s': they are 1 to %d, and cawb exercise lists them; one of your own is named by its folder"):format(word, #folders())
end

--- Its text of "start" or "solution".
function M.text(e, which) return assert(file.read(("%s/%s.cu"):format(e.dir, which))) end

-- ---- judging

-- An answer's own plan, for those who want other blocks: NAME.lua beside NAME.cu.
local function candidate(e, source, plan)
  return cawb.candidate { source = source, plan = plan or assert(file.read(e.dir .. "/plan.lua")), name = e.name }
end

-- A few draws are enough to tell a right kernel from a wrong one here, and keep an answer short.
local function settings()
  local all = options.copy(cawb.defaults)
  all.verify.trials, all.verify.battery, all.verify.repeats = 2, {}, 0
  return all
end

-- A constant of the task file: "rows = 512".
local function sizes(e, small)
  local found = {}
  for name, value in ("\n" .. assert(file.read(e.dir .. "/task.py"))):gmatch "\n(%l+) = (%d+)" do found[name] = tonumber(value) end
  for name, value in pairs(small and e.small or {}) do found[name] = value end
  return found
end

local function settled(goal, metrics, s)
  local value = goal.metric and metrics[goal.metric] or goal.value and goal.value(metrics, s) or nil
  local reached = value ~= nil and value == value and not (goal.most and value > goal.most) and not (goal.least and value < goal.least)
  return { name = goal[1], value = value == value and value or nil, most = goal.most, least = goal.least, says = goal.says,
    reached = reached }
end

--- How far the counts of a profile reach an exercise's goals, at these sizes: { name =, value =, most =, least =, says =, reached = }
--- each.
function M.goals(e, metrics, s)
  local list = {}
  for i, goal in ipairs(e.goals) do list[i] = settled(goal, metrics, s) end
  return list
end

-- What the last exercise is measured against: what compose makes of the same task. It needs PyTorch to see the task; without it the
-- time counts that was recorded.
local function rival(e, task, all)
  if task.plain then
    return need(task.device.info.name == "sim:h100" and e.compose, "without PyTorch this exercise is judged on sim:h100 alone", "missing")
  end
  local made, message = require "cawb.compose.candidate".make(task)
  need(made, message, "missing")
  local p = cawb.profile(task, cawb.candidate { source = made.source, plan = made.plan }, { options = all })
  return need(p and p.ok and p.metrics.seconds, "compose's candidate could not be profiled", "missing")
end

local function beside_compose(e, task, all, seconds)
  local other = rival(e, task, all)
  return { name = "modelled time, us", value = 1e6 * seconds, most = 1e6 * other, reached = seconds < other,
    says = "compose, which was told nothing of this task, is not faster" }
end

-- Whether the machine lacks headers of CUDA: all, or those of the package nvidia-cuda-crt.
local function lacks_headers(v)
  return v.stage == "compile" and (v.reason:find "^its compiler failed %(missing%)" or v.reason:find 'open source file "crt/')
end

-- Nothing is counted of what does not build or is wrong. What the machine lacks is no fault of an answer.
local function failed(v)
  need(not lacks_headers(v), v.reason, "missing")
  return { ok = false, stage = v.stage, reason = v.reason, log = v.log, found = v.findings or {}, goals = {} }
end

-- A name that the device does not count would be a goal that nobody reaches.
local function known(e, metrics)
  for _, goal in ipairs(e.goals) do
    need(not goal.metric or metrics[goal.metric], ("%s/exercise.lua: nothing is counted as '%s': cawb exercise 1 my.cu --counts prints all names")
      :format(e.dir, goal.metric), "usage")
  end
end

local function count(e, task, c, all, s, verdict)
  local p = need(cawb.profile(task, c, { options = all }))
  if not p.ok then return failed(p) end
  known(e, p.metrics)
  verdict.seconds, verdict.metrics = p.metrics.seconds, p.metrics
  verdict.goals = M.goals(e, p.metrics, s)
  if e.compose then table.insert(verdict.goals, beside_compose(e, task, all, p.metrics.seconds)) end
  return verdict
end

local function passed(v)
  local all = v.ok and #v.found == 0
  for _, goal in ipairs(v.goals) do all = all and goal.reached end
  return all
end

local function judge_on(e, task, source, plan, s)
  local all, c = settings(), candidate(e, source, plan)
  local v = need(cawb.verify(task, c, { options = all }))
  if not v.ok then return failed(v) end
  return count(e, task, c, all, s, { ok = true, found = v.findings or {}, goals = {} })
end

-- A task host for an exercise: PyTorch's, or one that needs none. Returns { process, hello } and whether it is plain.
local function host_of(plain)
  local all = cawb.defaults
  if not plain then
    local process, hello = python.start(all.deadlines.start)
    if process then return { process, hello }, false end
  end
  local process, hello, name = python.plain(all.deadlines.start)
  return process and { process, hello } or need(nil, hello, name), true
end

local refusal = "the goals are counts of a simulated device: leave out --device, or name sim:a100 or another one; "
  .. "cawb judge %s/task.py my.cu measures on a GPU, with a plan my.lua as that beside the task"

local Session = {}
Session.__index = Session

--- One answer's text, with a plan of its own or the exercise's: { passed =, ok = right, reason =, log =, found = { findings },
--- seconds = modelled, plain = judged without PyTorch, goals = {{ name =, value =, most =, least =, reached =, says = }}, sizes = }; or
--- nil, message, name. All its counts are then in `metrics` of the session, nil of a wrong answer.
function Session:judge(source, plan)
  local v, message, name = needed.caught(judge_on, self.e, self.task, source, plan, self.sizes)
  if not v then return nil, message, name end
  v.passed, v.sizes, v.plain = passed(v), self.sizes, self.plain
  self.metrics, v.metrics = v.metrics, nil
  return v
end

--- A cheat before the strict judge, rules and all: { cheat = true, caught = "rule NAME" or "stage NAME" or nil, ok =, stage =, reason = }; or
--- nil, message, name.
function Session:cheat(source, plan)
  local facts, message, name = judge.judge(self.task, candidate(self.e, source, plan), settings(), { once = true, against = {} })
  if not facts then return nil, message, name end
  local caught = not facts.ok and (facts.rule and "rule " .. facts.rule or "stage " .. facts.stage) or nil
  local reason = facts.reason and facts.rule and facts.reason:gsub(" %(rule " .. facts.rule .. "%)$", "") or facts.reason
  return { cheat = true, caught = caught, ok = facts.ok, stage = facts.stage, reason = reason }
end

function Session:close()
  self.task:close()
  self.process:close()
end
Session.__close = Session.close

--- An exercise, ready for answers. `opts`: small = true for sizes that are soon done, plain = true without PyTorch, which is also
--- taken where there is none; sizes are small then. Returns it, or nil, message, name.
function M.open(e, device, opts)
  if not device.info.modelled then return nil, refusal:format(e.dir), "usage" end
  return needed.caught(function()
    local host, plain = host_of(opts and opts.plain)
    local all, s = settings(), sizes(e, plain or opts and opts.small)
    all.scale.mode = plain and "none" or all.scale.mode
    local task, message, name = cawb.task(e.dir .. "/task.py", { device = device, task = s, options = all, host = host })
    if not task then
      host[1]:close()
      need(nil, message, name)
    end
    task.plain = plain
    return setmetatable({ e = e, task = task, process = host[1], plain = plain, sizes = s }, Session)
  end)
end

--- Judge texts of answers on a device, one after the other. `opts` as of M.open, with plan = its own text in place of the exercise's.
--- Returns for each what Session:judge returns, in a list; or nil, message, name.
function M.judge(e, device, sources, opts)
  local session <close>, message, name = M.open(e, device, opts)
  if not session then return nil, message, name end
  local list = {}
  for i, source in ipairs(sources) do
    list[i], message, name = session:judge(source, opts and opts.plan)
    if not list[i] then return nil, message, name end
  end
  return list
end

return M
