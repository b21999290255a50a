-- Which of PyTorch's operators `compose` lowers: one task for each of PyTorch's own samples of arguments
-- (operators/list.py), composed and, where that went well, judged.
--   cawb bench/compose_table.lua -- [SAMPLES of each (1)] [PATTERN of names] [make: no judging]
-- A line for each: lowered, refused (with the message), wrong, or untaken (nobody can judge it, or the task cannot be run),
-- and how many there are of each.

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
  if r.ok then return "lowered", #made.kernels .. " kernels" end
  return "wrong", r.stage .. ": " .. r.reason
end

local function one(path)
  local task <close>, message = cawb.task(path, { device = device, host = host })
  if not task then return "untaken", message end
  local made, why = compose.make(task)
  if not made then return "refused", why end
  if only == "make" then return "lowered", #made.kernels .. " kernels" end
  return judged(task, made)
end

local tally, listed = {}, os.getenv "CAWB_PYTHON" or "python3"
local script = (arg[0]:match "^(.*)/" or ".") .. "/operators/list.py"
local lines = {}
for line in assert(io.popen(("'%s' '%s' '%s' '%s' '%s'"):format(listed, script, folder, samples, pattern))):lines() do lines[#lines + 1] = line end
for _, line in ipairs(lines) do
  local name, sample, path = line:match "^(.-)\t(.-)\t(.*)$"
  if core.clock.asked() then break end
  local ran, what, why = pcall(one, path)
  if not ran then what, why = "wrong", what end
  tally[what] = (tally[what] or 0) + 1
  print(("%-8s %-44s %s"):format(what, name .. "." .. sample, first_line(why):gsub(folder, ""):sub(1, 260)))
  io.stdout:flush()
end
host[1]:close()
os.execute("rm -rf '" .. folder .. "'")
print(core.json.encode { tally = tally, version = core.version, when = os.date "!%Y-%m-%d" })
