-- Which of PyTorch's operators `compose` lowers: one task for each of PyTorch's own samples of arguments
-- (operators/list.py), composed and, where that went well, judged.
--   cawb bench/compose/compose_table.lua -- [SAMPLES of each (1)] [PATTERN of names] [make: no judging]
-- A line for each, with the inputs that it was tried on: right (with how many kernels), wrong, no candidate (with the reason),
-- or untaken (nobody can judge it, or the task cannot be run); and how many there are of each.

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local python = require "cawb.base.python"

local samples, pattern, only = arg[1] or "1", arg[2] or ".", arg[3]
local folder = os.tmpname()
os.remove(folder)
local host = { assert(python.start(120)) }
local device <close> = assert(cawb.device "sim:h100")

local function first_line(text) return tostring(text):match "^[^\n]*" end

local function judged(task, made)
  local r = assert(cawb.verify(task, cawb.candidate { source = made.source, plan = made.plan, options = made.options }, { trials = 1, repeats = 0 }))
  if r.ok then return "right", #made.kernels .. (#made.kernels == 1 and " kernel" or " kernels") end
  return "wrong", r.stage .. ": " .. r.reason
end

local function shapes(inputs)
  local words = {}
  for k, x in ipairs(inputs or {}) do words[k] = ("%s[%s]"):format(x.dtype or "", table.concat(x.shape or {}, ",")) end
  return table.concat(words, " ")
end

local function one(path)
  local task <close>, message = cawb.task(path, { device = device, host = host })
  if not task then return "untaken", message, "" end
  local made, why = compose.make(task)
  if not made then return "no candidate", why, shapes(task.inputs) end
  if only == "make" then return "made", #made.kernels .. " kernels", shapes(task.inputs) end
  local what, how = judged(task, made)
  return what, how, shapes(task.inputs)
end

local tally, listed = {}, os.getenv "CAWB_PYTHON" or "python3"
local script = (arg[0]:match "^(.*)/" or ".") .. "/operators/list.py"
local lines = {}
for line in assert(io.popen(("'%s' '%s' '%s' '%s' '%s'"):format(listed, script, folder, samples, pattern))):lines() do lines[#lines + 1] = line end
for _, line in ipairs(lines) do
  local name, sample, path = line:match "^(.-)\t(.-)\t(.*)$"
  if core.clock.asked() then break end
  local ran, what, why, tried = pcall(one, path)
  if not ran then what, why, tried = "wrong", what, "" end
  tally[what] = (tally[what] or 0) + 1
  local said = first_line(why):gsub(folder, ""):gsub("^/%S+/lua/", "lua/")
  print(("%-12s %-44s %-40s %s"):format(what, name .. "." .. sample, tried, said:sub(1, 260)))
  io.stdout:flush()
end
host[1]:close()
os.execute("rm -rf '" .. folder .. "'")
print(core.json.encode { tally = tally, version = core.version, when = os.date "!%Y-%m-%d" })
