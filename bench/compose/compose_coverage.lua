-- Which tasks of a suite `compose` computes right, at sizes that a simulator can execute:
--   cawb bench/compose/compose_coverage.lua SUITE.jsonl [PATTERN of names] [bytes of a task] [operations of a call]
-- A line for each task: pass, or what stands in the way. The verdict is the judge's, on two draws of
-- the task's inputs and each kind of the battery; nothing is timed.

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local options = require "cawb.base.options"
local python = require "cawb.base.python"

local suite, pattern, bytes, operations = ...
assert(suite, "usage: cawb bench/compose/compose_coverage.lua SUITE.jsonl [PATTERN] [BYTES] [OPERATIONS]")

local device <close> = assert(cawb.device "sim:h100")
local folder = os.tmpname()
os.remove(folder)
assert(core.fs.mkdir(folder))

local function settings()
  local o = options.copy(cawb.defaults)
  o.scale.memory, o.scale.operations = tonumber(bytes or 1e6) // 1, tonumber(operations or 1e8) // 1
  o.deadlines.run, o.deadlines.compile = 60, 60
  return o
end

local function open(row)
  local path = ("%s/%s.py"):format(folder, row.name)
  local f = assert(io.open(path, "w"))
  f:write(row.code)
  f:close()
  return cawb.task(path, { device = device, options = settings(), host = { python.start(120) } })
end

-- "pass", "refused", "no candidate", "rejected", and why.
local function outcome(row)
  local task <close>, message = open(row)
  if not task then return "refused", message end
  local made, why = compose.make(task)
  if not made then return "no candidate", why end
  local r = assert(cawb.verify(task, cawb.candidate { source = made.source, plan = made.plan, options = made.options }, { trials = 2, options = settings() }))
  if r.ok then return "pass", ("%d kernels, %d bytes"):format(#made.kernels, #made.source) end
  return "rejected", ("%s: %s"):format(r.stage, r.reason)
end

local counts = {}
for line in io.lines(suite) do
  local row = core.json.decode(line)
  local name = ("%s_%s"):format(row.level, row.name)
  if name:find(pattern or ".") then
    local started = core.clock.now()
    local ok, what, why = xpcall(outcome, debug.traceback, row)
    if not ok then what, why = "error", what end
    counts[what] = (counts[what] or 0) + 1
    print(("%-12s %5.1f s  %-50s %s"):format(what, core.clock.now() - started, name:sub(1, 50), tostring(why):sub(1, 300)))
    io.stdout:flush()
  end
end
for what, n in pairs(counts) do print(what, n) end
