-- exercises: those of the workshop, and a judge for answers. An exercise is a folder of examples/workshop/exercises: exercise.lua says
-- what is to be done and which counts are the goal; task.py, plan.lua, start.cu and solution.cu stand beside it.

local cawb = require "cawb"
local core = require "cawb.core"
local file = require "cawb.base.file"
local needed = require "cawb.base.need"
local options = require "cawb.base.options"

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

local function load_one(name)
  local dir = folder() .. "/" .. name
  local e = assert(assert(loadfile(dir .. "/exercise.lua", "t", { math = math }))())
  e.number, e.name, e.dir = tonumber(name:match "^%d+"), name:match "^%d+_(.*)$", dir
  return e
end

--- All of them: { number =, name =, title =, about =, hint =, goals =, small =, dir = }.
function M.list()
  local list = {}
  for i, name in ipairs(folders()) do list[i] = load_one(name) end
  return list
end

--- One by its number or name; nil and a message.
function M.find(word)
  for _, e in ipairs(M.list()) do
    if tonumber(word) == e.number or word == e.name then return e end
  end
  return nil, ("there is no exercise '%s': they are 1 to %d, and cawb exercise lists them"):format(word, #folders())
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

-- What the last exercise is measured against: what compose makes of the same task.
local function rival(task, all)
  local made, message = require "cawb.compose.candidate".make(task)
  need(made, message, "missing")
  local p = cawb.profile(task, cawb.candidate { source = made.source, plan = made.plan }, { options = all })
  return need(p and p.ok and p.metrics.seconds, "compose's candidate could not be profiled", "missing")
end

local function beside_compose(task, all, seconds)
  local other = rival(task, all)
  return { name = "modelled time, us", value = 1e6 * seconds, most = 1e6 * other, reached = seconds < other,
    says = "compose, which was told nothing of this task, is not faster" }
end

-- Nothing is counted of what does not build or is wrong.
local function failed(v) return { ok = false, stage = v.stage, reason = v.reason, log = v.log, found = v.findings or {}, goals = {} } end

local function count(e, task, c, all, s, verdict)
  local p = need(cawb.profile(task, c, { options = all }))
  if not p.ok then return failed(p) end
  verdict.seconds = p.metrics.seconds
  for i, goal in ipairs(e.goals) do verdict.goals[i] = settled(goal, p.metrics, s) end
  if e.compose then table.insert(verdict.goals, beside_compose(task, all, p.metrics.seconds)) end
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

--- Judge texts of answers on a device, one after the other. `opts`: plan = its own text in place of the exercise's,
--- small = true for sizes that are soon done. Returns for each { passed =, ok = right, reason =, log =, found = { findings },
--- seconds = modelled, goals = {{ name =, value =, most =, least =, reached =, says = }}, sizes = }, in a list; or nil,
--- message, name.
function M.judge(e, device, sources, opts)
  if not device.info.modelled then
    return nil, ("the goals are counts of a simulated device: leave out --device, or name sim:a100 or another one; "
      .. "cawb judge %s/task.py my.cu measures on a GPU, with a plan my.lua as that beside the task"):format(e.dir), "usage"
  end
  local s, list = sizes(e, opts and opts.small), {}
  return needed.caught(function()
    local task <close> = need(cawb.task(e.dir .. "/task.py", { device = device, task = s, options = settings() }))
    for i, source in ipairs(sources) do
      list[i] = judge_on(e, task, source, opts and opts.plan, s)
      list[i].passed, list[i].sizes = passed(list[i]), s
    end
    return list
  end)
end

return M
