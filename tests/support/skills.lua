-- skills: the candidates that the pages of skills/ show, evaluated on a device under the default
-- rules. Both the simulated and the real one run this.
--   dofile "tests/support/skills.lua" (device)

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local evaluate = require "cawb.judge.evaluate"
local python = require "cawb.base.python"
local skills = require "cawb.agent.skills"

local host, hello = assert(python.start(cawb.defaults.deadlines.start))   -- one for all tasks

local unknown = "not known to the simulated device"

-- "examples/gelu.py rows=3 cols=100"
local function task_of(page)
  local path, constants = page.task:match "^%S+", {}
  for name, value in page.task:gmatch "(%w+)=(%w+)" do
    constants[name] = math.tointeger(tonumber(value)) or value
  end
  return path, constants
end

local function candidate_of(page)
  return cawb.candidate { name = page.name, source = assert(skills.fragments(page, "cuda")[1], "no cuda block"),
                          plan = assert(skills.fragments(page, "lua")[1], "no lua block") }
end

local function try(device, page)
  local path, constants = task_of(page)
  local built_for = device.info.arch
  if page.arch then device.info.arch = page.arch end
  local task <close> = assert(cawb.task(path, { device = device, task = constants, host = { host, hello } }))
  local ok, result, message = pcall(evaluate.candidate, task, candidate_of(page), cawb.defaults, { against = {} })
  device.info.arch = built_for
  assert(ok, result)
  assert(result, message)
  if page.device == "gpu" and device.info.modelled and not result.ok then
    return check.matches(result.reason, unknown)
  end
  assert(result.ok, ("%s: %s\n%s"):format(tostring(result.stage), tostring(result.reason), result.log or ""))
end

return function(device)
  for _, page in ipairs(skills.list()) do
    if page.task then
      check.test(("%s is right on %s"):format(page.name, page.task), function() try(device, page) end)
    end
  end
  return check
end
