-- cawb bench/cuda/profile.lua [DEVICE] [N]: what hardware counters cost, and whether they
-- agree with ncu. First the last rung of examples/gelu.py, 256 MB each way: N profiles
-- of each kind after one to set up, and one run of the ncu command over the same kernel. Then every
-- rung of softmax, counted here and by ncu. Prints one JSON object last.

local core = require "cawb.core"
local cawb = require "cawb"
local families = require "cawb.run.families"
local metrics = require "cawb.judge.profile.metrics"
local display = require "cawb.base.display"
local stats = require "cawb.base.stats"

local here = arg[0]:match "^(.*)/" or "."
local seed = "70726f66696c65"            -- the same inputs, here and under ncu

local function open(device, file, rows, cols)
  return assert(cawb.task(("%s/../../examples/%s.py"):format(here, file),
    { device = device, seed = seed, task = { rows = rows, cols = cols } }))
end

-- Calls `visit` with a task and each of the candidates of "gelu" or "softmax".
local function each(device, which, visit)
  local rows = which == "gelu" and 8192 or 16384
  local task <close> = open(device, which, rows, 8192 * 8192 // rows)
  local family = assert(families.match(task))
  for n = which == "gelu" and #family.versions or 1, #family.versions do
    visit(task, family:rung(n, task), family.versions[n])
  end
end

-- What ncu watches: each candidate once, no counters of ours.
if arg[1] == "--launch" then
  local device <close> = assert(cawb.device(arg[2]))
  each(device, arg[3], function(task, candidate)
    local ran = assert(cawb.run(task, candidate))
    assert(ran.ok, ran.reason)
  end)
  return
end

local name, turns = arg[1] or "cuda:0", tonumber(arg[2] or 20)
local device <close> = assert(cawb.device(name))
assert(not device.info.modelled, "hardware counters need a GPU: name one, as in cuda:0")

-- ---- ncu

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- One row for each metric of each launch; the columns are named by the first line.
local function read_csv(path)
  local launches, columns = {}, nil
  for line in io.lines(path) do
    local cells = {}
    for cell in line:gmatch '"([^"]*)"' do cells[#cells + 1] = cell end
    if cells[1] == "ID" then
      columns = {}
      for i, title in ipairs(cells) do columns[title] = i end
    elseif columns and #cells > 0 then
      local id = tonumber(cells[1])
      launches[id + 1] = launches[id + 1] or {}
      launches[id + 1][cells[columns["Metric Name"]]] =
        tonumber((cells[columns["Metric Value"]]:gsub(",", "")))
    end
  end
  return launches
end

-- The default set of each launch of `kernel`, and the seconds that the command took.
local function ncu(which, kernel)
  local log = os.tmpname()
  device:drop_worker()                    -- it holds the counters
  local from = core.clock.now()
  os.execute(("ncu -f --target-processes all -k %s --clock-control none --csv "
    .. "--print-units base --log-file %s --metrics %s %s %s --launch %s %s >/dev/null 2>&1"):format(
    quote("regex:^" .. kernel .. "$"), quote(log), table.concat(metrics.default, ","), quote(core.program), quote(arg[0]),
    quote(name), which))
  local seconds = core.clock.now() - from
  local launches = read_csv(log)         -- whatever it thought of how the worker ended
  os.remove(log)
  return #launches > 0 and launches or nil, seconds
end

-- ---- the cost

local function cost(task, candidate, set, lines)
  local opts = { set = set, lines = lines }
  local setup = assert(cawb.profile(task, candidate, opts))
  assert(setup.ok and not setup.note, setup.reason or setup.note)
  local counting, calls = {}, {}
  for i = 1, turns do
    local from = core.clock.now()
    local p = assert(cawb.profile(task, candidate, opts))
    calls[i] = core.clock.now() - from
    counting[i] = p.took.setup + p.took.count
  end
  return { set = set .. (lines and ", lines" or ""), metrics = #metrics[set], samples = setup.sampling and setup.sampling.samples, passes = setup.passes, kernel = setup.seconds,
    first = setup.took.setup + setup.took.count, counting = stats.summary(counting),
    call = stats.summary(calls), name = setup.kernels[1].kernel }
end

local costs = {}
each(device, "gelu", function(task, candidate)
  costs = { cost(task, candidate, "default"), cost(task, candidate, "quick"),
            cost(task, candidate, "quick", true) }
end)
local rows = {}
for i, c in ipairs(costs) do
  rows[i] = { c.set, c.metrics, c.passes, display.time(c.kernel), display.time(c.first),
              display.interval(c.counting), display.interval(c.call) }
end
print(("%s, a kernel of 256 MB each way, median of %d [95%% interval]"):format(device.info.model, turns))
for _, line in ipairs(display.table({ "set", "metrics", "passes", "kernel", "first time", "counting",
  "cawb.profile, inputs and all" }, rows)) do print(line) end
local seen, ncu_seconds = ncu("gelu", costs[1].name)
if seen then
  print(("the default set of this launch by an ncu command, start to end: %s, %.0f times as long as cawb.profile")
    :format(display.time(ncu_seconds), ncu_seconds / costs[1].call.median))
end

-- ---- the agreement

local compared = { "gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
                   "smsp__inst_executed.sum" }

local function ours()
  local list = {}
  each(device, "softmax", function(task, candidate, version)
    local p = assert(cawb.profile(task, candidate))
    assert(p.ok and not p.note, p.reason or p.note)
    list[#list + 1] = { version = version, metrics = p.metrics }
  end)
  return list
end

local function difference(a, b) return ("%+.2f%%"):format(100 * (a - b) / b) end

local function compare()
  local mine, found = ours(), ncu("softmax", "softmax")
  if not found or #found ~= #mine then
    print "ncu is not on the path, or did not see the same launches: nothing to compare with"
    return mine
  end
  local lines = {}
  for i, rung in ipairs(mine) do
    local a, b = rung.metrics, found[i]
    rung.ncu = b
    local traffic = b["dram__bytes_read.sum"] + b["dram__bytes_write.sum"]
    lines[i] = { rung.version, display.time(a.seconds), display.time(b["gpu__time_duration.sum"] * 1e-9),
      difference(a["gpu__time_duration.sum"], b["gpu__time_duration.sum"]),
      ("%.1f"):format(a.dram_bytes / 1e6), ("%.1f"):format(traffic / 1e6), difference(a.dram_bytes, traffic),
      ("%d"):format(a["smsp__inst_executed.sum"]),
      ("%+d"):format(a["smsp__inst_executed.sum"] - b["smsp__inst_executed.sum"]) }
  end
  print "\nsoftmax of 16384 x 4096: here and in ncu"
  for _, line in ipairs(display.table({ "rung", "time", "ncu", "", "DRAM, MB", "ncu", "", "warp instructions",
    "less ncu's" }, lines)) do print(line) end
  return mine
end

local rungs = compare()
for _, rung in ipairs(rungs) do
  for _, side in ipairs { "metrics", "ncu" } do
    local kept = {}
    for _, metric in ipairs(compared) do kept[metric] = rung[side] and rung[side][metric] end
    rung[side] = rung[side] and kept
  end
end
print(core.json.encode { device = device.info, costs = costs,
  rungs = rungs, ncu_seconds = ncu_seconds,
  version = cawb.version, when = os.date "!%Y-%m-%d" })
