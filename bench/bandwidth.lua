-- cawb bench/bandwidth.lua [DEVICE] [ROWS] [COLS]: how near do the last rungs of the
-- memory-bound families come to the speed of a plain copy? Bytes are counted as each
-- input read once and each output written once. Prints one JSON object last.

local core = require "cawb.core"
local cawb = require "cawb"
local evaluate = require "cawb.judge.evaluate"
local execute = require "cawb.judge.execute"
local families = require "cawb.run.families"
local display = require "cawb.base.display"
local stats = require "cawb.base.stats"

local name, rows, cols = ...
rows, cols = math.tointeger(rows or 4096), math.tointeger(cols or 8192)
local root = (arg[0]:match "^(.*)/" or ".") .. "/.."
local device <close> = assert(cawb.device(name or "auto"))

local copy = cawb.candidate { name = "copy", source = [[
extern "C" __global__ void copy(float4 *__restrict__ y, const float4 *__restrict__ x, unsigned n) {
  unsigned first = blockIdx.x * 1024 + threadIdx.x;
  float4 held[4];
  for (int i = 0; i < 4; i++) if (first + 256 * i < n) held[i] = x[first + 256 * i];
  for (int i = 0; i < 4; i++) if (first + 256 * i < n) y[first + 256 * i] = held[i];
}]], plan = [[
local n = inputs[1].numel // 4
launch("copy", { grid = (n + 1023) // 1024, block = 256 }, outputs[1], inputs[1], n)]] }

local function open(file)
  return assert(cawb.task(("%s/examples/%s.py"):format(root, file),
    { device = device, task = { rows = rows, cols = cols } }))
end

local function bytes(task)
  local total = 0
  for _, list in ipairs { task.inputs, task.outputs, task.params } do
    for _, t in ipairs(list) do total = total + (t.bytes or 0) end
  end
  return total
end

-- The copy writes what no task asks for, so it is timed and not judged.
local function time_copy()
  local task <close> = open "gelu"
  local ran = assert(execute.call(task, copy, cawb.defaults, { op = "time", warmup = 10, samples = 500, budget = 2 },
    "bench", 60))
  assert(ran.ok, ran.reason)
  return { bytes = bytes(task), time_s = stats.summary(ran.samples) }
end

local function time_last_rung(file)
  local task <close> = open(file)
  local family = assert(families.match(task))
  local facts = assert(evaluate.candidate(task, family:rung(#family.versions, task), cawb.defaults))
  assert(facts.ok, facts.reason)
  return { bytes = bytes(task), time_s = facts.time_s, speedup = facts.speedup, error = facts.error,
           baselines = task.baselines, label = family.versions[#family.versions] .. " " .. facts.label }
end

local results = { copy = time_copy() }
local ceiling = results.copy.bytes / results.copy.time_s.median
local lines = {}
local function row(what, r)
  local rate = r.bytes / r.time_s.median
  lines[#lines + 1] = { what, r.label or "", display.interval(r.time_s), ("%.2f"):format(rate / 1e12),
    ("%.1f%%"):format(100 * rate / ceiling), display.speedup(r.speedup and r.speedup.eager),
    display.speedup(r.speedup and r.speedup.compile) }
end
row("copy", results.copy)
for _, file in ipairs { "gelu", "softmax", "layernorm", "row_sum" } do
  results[file] = time_last_rung(file)
  row(file, results[file])
end

print(("%s, %d x %d float32%s"):format(device.info.model, rows, cols,
  device.info.modelled and ", modelled" or ", cold L2"))
for _, line in ipairs(display.table({ "task", "last rung", "time [95% interval]", "TB/s",
  "of the copy", "vs eager", "vs compile" }, lines)) do print(line) end
print(core.json.encode { device = device.info, rows = rows, cols = cols, results = results,
  version = cawb.version, when = os.date "!%Y-%m-%d" })
