-- What is made of a worker's counts, on answers made by hand, and of the simulator's:
-- no GPU. tests/gpu/test_profile.lua has the rest.

local check = dofile "tests/lua/check.lua"
local cawb = require "cawb"
local metrics = require "cawb.metrics"
local profile = require "cawb.profile"

local function launch(kernel, values)
  local k = { kernel = kernel, metrics = { registers = 32 }, sources = { registers = "driver" } }
  for name, value in pairs(values) do
    k.metrics[name], k.sources[name] = value, name == "seconds" and "events" or "cupti"
  end
  return k
end

local function counts(scale)
  return { ["gpu__time_duration.sum"] = 1000 * scale, ["smsp__inst_executed.sum"] = 64 * scale,
    ["dram__bytes_read.sum"] = 4096 * scale, ["dram__bytes_write.sum"] = 1024 * scale,
    ["lts__t_sectors.sum"] = 200, ["lts__t_sectors_lookup_hit.sum"] = 50,
    ["smsp__issue_active.avg.pct_of_peak_sustained_active"] = 10 * scale,
    ["smsp__average_thread_inst_executed_per_inst_executed.ratio"] = 31 }
end

local function digest(kernels, passes, note)
  return profile.digest({ kernels = kernels, passes = passes, note = note, setup = 0.25, seconds = 0.07 },
    { { kernel = "first" }, { memset = "outputs[1]" }, { kernel = "second" } },
    { kernels = { { name = "first", spill_stores = 8 } } }, { "gpu__time_duration.sum", "no_such.sum" })
end

local function near(got, want, what)
  if not (math.abs(got - want) <= 1e-12 * math.abs(want)) then check.equal(got, want, what) end
end

check.test("one launch is the whole plan, every value with its source", function()
  local p = digest({ launch("_Z5firstv", counts(1)) }, 3)
  check.equal(p.source, "cupti")
  check.equal(p.kernels[1].kernel, "first", "the name in the source")
  near(p.seconds, 1e-6, "seconds")
  check.equal(p.metrics.warp_instructions, 64)
  check.equal(p.metrics.thread_instructions, 64 * 31)
  check.equal(p.metrics.lanes_per_instruction, 31)
  check.equal(p.metrics.dram_bytes, 5120)
  near(p.metrics.dram_bytes_per_second, 5.12e9, "rate")
  check.equal(p.metrics.l2_hit_rate, 0.25)
  check.equal(p.metrics.load_sectors_per_request, nil, "of what was not counted")
  for name in pairs(p.metrics) do assert(p.sources[name], name .. " has no source") end
  check.equal(p.sources.registers, "driver")
  check.equal(p.sources.dram_bytes, "cupti")
  check.equal(p.sources.spill_stores, "ptxas")
  check.equal(table.concat(p.missing, " "), "no_such.sum")
end)

check.test("launches add up, shares of a peak count by time, ratios have no whole", function()
  local p = digest({ launch("first", counts(1)), launch("second", counts(3)) }, 3)
  check.equal(p.metrics["smsp__inst_executed.sum"], 4 * 64)
  check.equal(p.metrics.dram_bytes, 4 * 5120)
  near(p.seconds, 4e-6, "seconds")
  check.equal(p.metrics["smsp__issue_active.avg.pct_of_peak_sustained_active"], 0.25 * 10 + 0.75 * 30)
  check.equal(p.metrics["smsp__average_thread_inst_executed_per_inst_executed.ratio"], nil)
  check.equal(p.metrics.lanes_per_instruction, nil)
  check.equal(p.metrics.registers, nil, "a fact of each kernel")
  check.equal(p.metrics.l2_hit_rate, 0.25)
  check.equal(p.kernels[2].kernel, "second")
  near(p.kernels[2].metrics.seconds, 3e-6, "seconds of the second")
end)

check.test("without counters there are times, facts and the reason", function()
  local p = digest({ launch("first", { seconds = 2e-6 }), launch("second", { seconds = 3e-6 }) }, 0, "refused")
  check.equal(p.source, "events")
  check.equal(p.note, "refused")
  near(p.seconds, 5e-6, "seconds")
  check.equal(p.sources.seconds, "events")
  check.equal(p.kernels[1].metrics.registers, 32)
  check.equal(p.missing, nil)
end)

check.test("a plan without a launch has no counts", function()
  local p = digest({}, 0)
  assert(p.ok and next(p.metrics) == nil and p.seconds == nil)
end)

check.test("what to count is checked", function()
  check.raises("unknown option 'metric'", cawb.profile, {}, {}, { metric = "quick" })
  check.raises("got 'slow'", cawb.profile, {}, {}, { metrics = "slow" })
  check.raises("a list of names, got table", cawb.profile, {}, {}, { metrics = {} })
  check.raises("got number", cawb.profile, {}, {}, { metrics = 3 })
  for name, set in pairs(metrics) do
    check.equal(#set, 16, name)
  end
end)

check.test("the simulator counts what it executes", function()
  local device <close> = assert(cawb.device "sim:h100")
  local task <close> = assert(cawb.task("examples/gelu.py", { device = device, task = { rows = 8, cols = 64 } }))
  local candidate = assert(require("cawb.families").match(task)):rung(1, task)
  local p = assert(cawb.profile(task, candidate))
  assert(p.ok, p.reason)
  check.equal(p.source, "simulated")
  assert(p.modelled and p.seconds > 0 and p.bound.memory > 0)
  check.equal(p.metrics.thread_instructions, p.metrics.warp_instructions * p.metrics.lanes_per_instruction)
  local refused = assert(require("cawb.execute").call(task, candidate,
    { op = "profile", metrics = { "smsp__inst_executed.sum" } }, "test", 30))
  check.equal(refused.name, "unsupported")
  check.matches(refused.reason, "sim:h100 has no hardware counters")
  check.fails("invalid", "metrics must be a list of names", require("cawb.execute").call(task, candidate,
    { op = "profile", metrics = { 3 } }, "test", 30))
end)

return check.done()
