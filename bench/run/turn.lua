-- cawb bench/run/turn.lua [DEVICE] [N] [TASK.py]...: what a whole turn costs once everything
-- is resident, split by stage: compile, five verification inputs, a measurement against
-- eager and torch.compile, the record. A folder with kernel.cu and plan.lua beside
-- TASK.py is the candidate; else the last rung of the family that serves the task, one
-- member of it. Each turn compiles a text that was never compiled before, so no cache
-- helps. Without a TASK: axpby of 128 elements. Prints one JSON object last.

local core = require "cawb.core"
local cawb = require "cawb"
local families = require "cawb.run.families"
local ledger = require "cawb.run.ledger"
local options = require "cawb.base.options"
local display = require "cawb.base.display"
local report = require "cawb.door.report"
local run = require "cawb.run.run"
local stats = require "cawb.base.stats"
local strategy = require "cawb.base.strategy"

local name, turns = ... or "sim:h100", tonumber((select(2, ...)) or 20)
local root = arg[0]:match "^(.*)/" or "."
local paths = { select(3, ...) }
if #paths == 0 then paths[1] = root .. "/axpby/task.py" end
local folder = (os.getenv "TMPDIR" or "/tmp") .. "/cawb-bench-turn"
local device <close> = assert(cawb.device(name))

local function new_run(task, all)
  return assert(run.new { task = task, options = all, ledger = assert(ledger.open(folder)),
    strategy = assert(strategy.check({ settings = {} }, "bench/run/turn.lua")),
    report = report.new(io.stderr, 2, true) })
end

local function beside(path)
  local dir = path:match "^(.*)/" or "."
  return core.fs.kind(dir .. "/kernel.cu") and assert(cawb.candidate(dir))
end

local function last_rung(task)
  local family = assert(families.match(task))
  return family:rung(#family.versions, task)
end

-- The same kernel with a text of its own: every turn is a real build.
local function fresh(c, i)
  local salt = core.clock.random(8):gsub(".", function(b) return ("%02x"):format(b:byte()) end)
  return cawb.candidate { plan = c.plan, defines = c.defines, name = c.name,
    source = c.source .. ("\n// %s %d\n"):format(salt, i) }
end

local stages = { "turn", "compile", "verify", "measure", "confirm" }

-- One turn; its seconds by stage.
local function one(r, c, i)
  local from = core.clock.now()
  local turn = assert(r:evaluate(fresh(c, i)))
  local seconds = { turn = core.clock.now() - from }
  assert(turn.ok, turn.reason)
  for stage, s in pairs(turn.seconds) do seconds[stage] = s end
  return seconds, turn
end

-- `turns` of them after one that warms everything, and what confirming one costs.
local function measure(path)
  local all = options.copy(cawb.defaults)
  all.turns, all.seconds, all.sweep.variants, all.confirm.enabled = turns + 2, 3600.0, 1, false
  local from = core.clock.now()
  local task <close> = assert(cawb.task(path, { device = device, options = all }))
  local result = { task = task.name, load_s = core.clock.now() - from, stages = {}, python = task.python }
  local c, r = beside(path) or last_rung(task), new_run(task, all)
  local samples = {}
  from = core.clock.now()
  one(r, c, 0)
  result.first_s = core.clock.now() - from
  for i = 1, turns do
    local seconds, turn = one(r, c, i)
    result.turn = turn
    for stage, s in pairs(seconds) do
      samples[stage] = samples[stage] or {}
      table.insert(samples[stage], s)
    end
  end
  all.confirm.enabled = true
  r.best = nil
  samples.confirm = { one(r, c, turns + 1).confirm }
  for _, stage in ipairs(stages) do
    result.stages[stage] = stats.summary(samples[stage])
    result.stages[stage].p95 = stats.quantile(samples[stage], 0.95)
  end
  return result
end

-- The machine around the device: a simulated one is as fast as its processor.
local function host()
  local model, cores = "unknown processor", 0
  for line in io.lines "/proc/cpuinfo" do
    model = line:match "^model name%s*:%s*(.*)" or model
    if line:match "^processor" then cores = cores + 1 end
  end
  return ("%s, %d cores"):format(model, cores)
end

local data = { device = device.info, host = host(), version = cawb.version,
               when = os.date "!%Y-%m-%d", tasks = {} }
for i, path in ipairs(paths) do
  local result = measure(path)
  local turn = result.turn
  result.turn = { name = turn.name, time_s = turn.time_s, speedup = turn.speedup, error = turn.error }
  result.torch, result.python = result.python.torch, nil
  if i == 1 then
    print(("%s; host: %s; cawb %s, PyTorch %s, %s"):format(device.info.model, data.host,
      data.version, result.torch, data.when))
  end
  print(("%s, %s: %s%s; %d turns after a first one of %s; the task took %s to load"):format(result.task,
    turn.name, display.interval(turn.time_s), turn.modelled and " modelled" or "", turns,
    display.time(result.first_s), display.time(result.load_s)))
  local rows = {}
  for _, stage in ipairs(stages) do
    local s = result.stages[stage]
    rows[#rows + 1] = { stage, display.interval(s), display.time(s.p95) }
  end
  for _, line in ipairs(display.table({ "", "median [95% interval]", "p95" }, rows)) do print(line) end
  data.tasks[i] = result
end
print(core.json.encode(data))
os.execute("rm -rf '" .. folder .. "'")
