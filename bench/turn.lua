-- cawb bench/turn.lua [DEVICE] [N]: what one turn on examples/softmax.py costs once
-- everything is warm, split by compile, verify and measure. Each turn compiles a text
-- that was never compiled before, so no cache helps. Prints one JSON object last.

local core = require "cawb.core"
local cawb = require "cawb"
local evaluate = require "cawb.evaluate"
local report = require "cawb.report"
local stats = require "cawb.stats"

local name, turns = ... or "sim:h100", tonumber((select(2, ...)) or 20)
local here = arg[0]:match "^(.*)/" or "."
local root = here .. "/.."

local device <close> = assert(cawb.device(name))
local task <close> = assert(cawb.task(root .. "/examples/softmax.py", { device = device }))
local base = assert(cawb.candidate(root .. "/kernels/softmax/v5_registers"))

-- The same kernel with a text of its own: every turn is a real build.
local function fresh(i)
  return cawb.candidate { plan = base.plan, source = base.source ..
    ("\n// %s %d\n"):format(core.clock.random(8):gsub(".", function(c) return ("%02x"):format(c:byte()) end), i) }
end

local function first_member(candidate)
  local declared = assert(require("cawb.execute").tunables(task, candidate))
  local values = {}
  for _, t in ipairs(declared.tunables) do values[t.name] = t.values[1] end
  return candidate:with(values)
end

local columns = { "turn", "compile", "verify", "measure" }
local samples = { turn = {}, compile = {}, verify = {}, measure = {} }
for i = 0, turns do
  local candidate = fresh(i)
  local from = core.clock.now()
  local facts = assert(evaluate.one(task, first_member(candidate), {}))
  assert(facts.ok, facts.reason)
  if i > 0 then                                -- turn 0 warms everything
    table.insert(samples.turn, core.clock.now() - from)
    for _, key in ipairs { "compile", "verify", "measure" } do
      table.insert(samples[key], facts.seconds[key])
    end
  end
end

local rows, data = {}, {}
for _, key in ipairs(columns) do
  local s = stats.summary(samples[key])
  rows[#rows + 1] = { key, report.interval(s), report.time(stats.quantile(samples[key], 0.95)) }
  data[key] = { median = s.median, lo = s.lo, hi = s.hi, samples = s.samples }
end
print(("%s, %d turns after one to warm up"):format(device.info.model, turns))
for _, line in ipairs(report.table({ "", "median [95% interval]", "p95" }, rows)) do print(line) end
data.device, data.task, data.version = device.info.name, task.name, cawb.version
print(core.json.encode(data))
