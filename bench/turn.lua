-- cawb bench/turn.lua [DEVICE] [N]: what a whole turn on examples/softmax.py costs once
-- everything is warm, split by compile, verify and measure: the last rung of the
-- ladder, swept over its tunables, rewarded and recorded. Each turn compiles a text
-- that was never compiled before, so no cache helps. Prints one JSON object last.

local core = require "cawb.core"
local cawb = require "cawb"
local families = require "cawb.families"
local ledger = require "cawb.ledger"
local options = require "cawb.options"
local report = require "cawb.report"
local run = require "cawb.run"
local stats = require "cawb.stats"
local strategy = require "cawb.strategy"

local name, turns = ... or "sim:h100", tonumber((select(2, ...)) or 20)
local root = (arg[0]:match "^(.*)/" or ".") .. "/.."
local folder = (os.getenv "TMPDIR" or "/tmp") .. "/cawb-bench-turn"

local all = options.copy(cawb.defaults)
all.turns, all.seconds = turns + 1, 3600.0
local device <close> = assert(cawb.device(name))
local task <close> = assert(cawb.task(root .. "/examples/softmax.py", { device = device, options = all }))
local family = assert(families.match(task))
local rung = family:rung(#family.versions, task)
local r = assert(run.new { task = task, options = all, ledger = assert(ledger.open(folder)),
  strategy = assert(strategy.check({ settings = {} }, "bench/turn.lua")),
  report = report.new(io.stderr, 2, true) })

-- The same kernel with a text of its own: every turn is a real build.
local function fresh(i)
  local salt = core.clock.random(8):gsub(".", function(c) return ("%02x"):format(c:byte()) end)
  return cawb.candidate { plan = rung.plan, defines = rung.defines,
    source = rung.source .. ("\n// %s %d\n"):format(salt, i) }
end

local columns = { "turn", "compile", "verify", "measure" }
local samples, members = { turn = {}, compile = {}, verify = {}, measure = {} }, 0
for i = 0, turns do
  local candidate = fresh(i)
  local from = core.clock.now()
  local turn = assert(r:evaluate(candidate))
  local took = core.clock.now() - from
  assert(turn.ok, turn.reason)
  members = #turn.facts.variants
  if i > 0 then                                -- turn 0 warms everything
    table.insert(samples.turn, took)
    for _, key in ipairs { "compile", "verify", "measure" } do
      table.insert(samples[key], turn.seconds[key])
    end
  end
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

local rows, data = {}, { device = device.info, host = host(), python = task.python, members = members, version = cawb.version,
                         task = task.name, when = os.date "!%Y-%m-%d" }
for _, key in ipairs(columns) do
  local s = stats.summary(samples[key])
  rows[#rows + 1] = { key, report.interval(s), report.time(stats.quantile(samples[key], 0.95)) }
  data[key] = s
end
print(("%s, %d turns after one to warm up; each tries %d members and evaluates the best in full")
  :format(device.info.model, turns, members))
print(("host: %s; cawb %s, PyTorch %s, %s"):format(data.host, data.version, task.python.torch, data.when))
for _, line in ipairs(report.table({ "", "median [95% interval]", "p95" }, rows)) do print(line) end
print(core.json.encode(data))
os.execute("rm -rf '" .. folder .. "'")
