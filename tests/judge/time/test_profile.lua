-- What is made of a worker's counts, on answers made by hand, and of the simulator's:
-- no GPU. tests/cuda/gpu/test_profile.lua has the rest.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local options = require "cawb.base.options"
local metrics = require "cawb.judge.profile.metrics"
local lines = require "cawb.judge.profile.lines"
local profile = require "cawb.judge.profile.profile"

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

check.test("a worker that cannot count what was asked for says so to who asked", function()
  local execute = require "cawb.judge.worker.execute"
  local call = execute.call
  execute.call = function() return { ok = false, name = "invalid", reason = "none of the metrics asked for" } end
  local device <close> = assert(cawb.device "sim:h100")
  local task <close> = assert(cawb.task("examples/gelu.py", { device = device }))
  local candidate = cawb.candidate { source = "", plan = "" }
  check.fails("invalid", "none of the metrics", cawb.profile(task, candidate, { metrics = { "no_such.sum" } }))
  execute.call = call
end)

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
  check.raises("got 'slow'", cawb.profile, {}, {}, { set = "slow" })
  check.raises("not both", cawb.profile, {}, {}, { set = "quick", metrics = { "a.sum" } })
  for name, set in pairs(metrics) do
    check.equal(#set, 16, name)
  end
end)

check.test("samples of lines: reasons made short, the most first, with the source's text", function()
  local s = lines.digest({ unit = "samples", runs = 4, dropped = 2, lines = {
    { kernel = "_Z1kv", file = "/tmp/kernel.cu", line = 2, reasons = { smsp__pcsamp_warps_issue_stalled_wait = 10 } },
    { kernel = "_Z1kv", file = "kernel.cu", line = 3, reasons = {
      smsp__pcsamp_warps_issue_stalled_long_scoreboard = 60, smsp__pcsamp_warps_issue_stalled_wait = 5,
      smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued = 50 } },
    { kernel = "_Z1kv", file = "", line = 0, reasons = { smsp__pcsamp_warps_issue_stalled_selected_not_issued = 7 } },
    { kernel = "_Z1kv", file = "cmath", line = 3, reasons = { smsp__pcsamp_warps_issue_stalled_wait = 25 } },
  } }, "first\n  second;\n\tthird();\n", { _Z1kv = "k" })
  check.equal(#s.lines, 3, "a line without a sample is left out")
  check.equal(s.samples, 100)
  check.equal(s.lines[1].line, 3)
  check.equal(s.lines[1].text, "third();")
  check.equal(s.lines[1].samples, 65)
  check.equal(s.lines[1].share, 0.65)
  check.equal(s.lines[1].idle, 50)
  check.equal(s.lines[1].stalls[1].reason, "long_scoreboard")
  check.equal(s.lines[2].file, "cmath")
  check.equal(s.lines[2].text, nil, "of another file")
  check.equal(s.lines[3].text, "second;")
  check.equal(s.stalls[1].reason, "long_scoreboard")
  check.equal(s.stalls[2].samples, 40)
  check.equal(s.dropped, 2)
end)

local device <close> = assert(cawb.device "sim:h100")

check.test("the simulator counts what it executes", function()
  local task <close> = assert(cawb.task("examples/gelu.py", { device = device, task = { rows = 8, cols = 64 } }))
  local candidate = assert(require("cawb.run.families").match(task)):rung(1, task)
  local p = assert(cawb.profile(task, candidate))
  assert(p.ok, p.reason)
  check.equal(p.source, "simulator")
  assert(p.modelled and p.seconds > 0 and p.bound.memory > 0)
  local m = p.metrics
  check.equal(m.thread_instructions, m.warp_instructions * m.lanes_per_instruction)
  check.equal(m.dram_bytes, 2 * 8 * 64 * 4)
  assert(m.blocks >= 1 and m.threads_per_block >= 32 and m.ptx_global_loads >= 1)
  for name in pairs(m) do assert(p.sources[name], name .. " has no source") end
  check.equal(p.sources.warp_instructions, "simulator")
  check.equal(p.sources.ptx_global_loads, "ptx")
  check.equal(p.lines, nil, "they were not asked for")
  check.matches(p.roofline.sentence, "^modelled: ")
  local wire = require "cawb.base.wire"
  wire.check_requests = false                  -- the worker's own check
  check.matches(require("cawb.judge.worker.execute").call(task, candidate, cawb.defaults, { op = "profile", metrics = { 3 } }, "test", 30).reason,
    "metrics must be a list of names")
  wire.check_requests = true
end)

check.test("each launch has its own counts there, and lines have theirs", function()
  local task <close> = assert(cawb.task("examples/gelu.py", { device = device, task = { rows = 8, cols = 64 } }))
  local candidate = cawb.candidate { source = [[
extern "C" __global__ void touch(float *y, const float *x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i];
}]], plan = [[
launch("touch", { grid = 2, block = 64 }, outputs[1], inputs[1], 128)
memset(outputs[1], 0)
launch("touch", { grid = 4, block = 64 }, outputs[1], inputs[1], 256)
]] }
  local p = assert(cawb.profile(task, candidate, { lines = true }))
  assert(p.ok, p.reason)
  check.equal(#p.kernels, 2)
  local one, two = p.kernels[1].metrics, p.kernels[2].metrics
  check.equal(one.blocks, 2)
  check.equal(one.global_requests, 2 * 128 / 32)
  check.equal(two.warp_instructions, 2 * one.warp_instructions)
  check.equal(p.metrics.warp_instructions, one.warp_instructions + two.warp_instructions)
  check.equal(p.metrics.blocks, nil, "a fact of each kernel")
  check.equal(p.sampling.unit, "warp instructions")
  check.equal(p.sampling.samples, p.metrics.warp_instructions)
  local copy
  for _, l in ipairs(p.lines) do if l.line == 4 then copy = l end end
  check.equal(copy.text, "y[i] = x[i];")
  check.equal(copy.kernel, "touch")
  local memory
  for _, s in ipairs(copy.stalls) do if s.reason == "memory" then memory = s.samples end end
  check.equal(memory, 2 * (128 + 256) / 32, "a load and a store of each warp")
  check.equal(copy.traffic.global_requests, memory)
  check.equal(copy.traffic.global_sectors, 4 * memory)
  check.equal(copy.traffic.shared_requests, 0)
end)

check.test("a line's requests to memory are counted for itself, on every number of threads", function()
  for _, threads in ipairs { 1, 2 } do
    local device <close> = assert(cawb.device("sim:h100", { simulate = { threads = threads } }))
    local task <close> = assert(cawb.task("examples/softmax.py", { device = device, task = { rows = 64, cols = 1024 } }))
    local p = assert(cawb.profile(task, cawb.candidate { source = [[extern "C" __global__ void turn(float *y, const float *x) {
  __shared__ float tile[32 * 32];
  int i = blockIdx.x * 1024 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  tile[threadIdx.x] = x[i];
  __syncthreads();
  float v = tile[lane * 32 + warp];
  y[blockIdx.x * 1024 + threadIdx.x * 33 % 1024] = v;
}]], plan = [[launch("turn", { grid = 64, block = 1024 }, outputs[1], inputs[1])]] }, { lines = true }))
    assert(p.ok, p.reason)
    local at, sum = {}, { global_sectors = 0, shared_wavefronts = 0 }
    for _, l in ipairs(p.lines) do
      if l.traffic then at[l.line] = l.traffic end
      for name in pairs(sum) do sum[name] = sum[name] + (l.traffic and l.traffic[name] or 0) end
    end
    check.equal(at[4].global_sectors, 4 * at[4].global_requests)
    check.equal(at[4].shared_wavefronts, at[4].shared_least)
    check.equal(at[6].shared_wavefronts, 32 * at[6].shared_least, "each lane asks the same bank")
    check.equal(at[7].global_requests, 64 * 32)
    assert(at[7].global_sectors > 16 * at[7].global_requests)
    for name, value in pairs(sum) do check.equal(value, p.metrics[name], name) end
  end
end)

-- The instructions of a kernel's machine code up to its EXIT, from the ELF file that a cubin is.
local function instructions(path, kernel)
  local file = assert(io.open(path, "rb"))
  local elf = file:read "a"
  file:close()
  local at = ("<I8"):unpack(elf, 41)
  local size, count, names = ("<I2I2I2"):unpack(elf, 59)
  local function section(i) return ("<I4I4I8I8I8I8"):unpack(elf, at + i * size + 1) end
  local texts = select(5, section(names))
  for i = 0, count - 1 do
    local name, _, _, _, from, bytes = section(i)
    if ("z"):unpack(elf, texts + name + 1) == ".text." .. kernel then
      for n = 1, bytes // 16 do
        if ("<I2"):unpack(elf, from + 16 * n - 15) == 0x794d then return n end
      end
    end
  end
end

check.test("instructions are counted as the machine code has them", function()
  local task <close> = assert(cawb.task("examples/gelu.py", { device = device, task = { rows = 8, cols = 64 } }))
  local source = [[
extern "C" __global__ void twice(float *y, const float *x) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}]]
  local built = assert(cawb.compile { source = source, device = device })
  local each = instructions(built.cubin, "twice")
  assert(each > 8 and each < 30, each)
  local candidate = cawb.candidate { source = source,
    plan = 'launch("twice", { grid = 4, block = 128 }, outputs[1], inputs[1])' }
  local p = assert(cawb.profile(task, candidate))
  assert(p.ok, p.reason)
  check.equal(p.metrics["smsp__inst_executed.sum"], 4 * 4 * each)
  check.equal(p.metrics["smsp__thread_inst_executed.sum"], 4 * 4 * each * 32)
  check.equal(p.metrics.warp_instructions % 16, 0, "those of the PTX are another number")
end)

check.test("what cannot be executed still has the facts of its text, and the reason", function()
  local task <close> = assert(cawb.task("examples/gelu.py", { device = device, task = { rows = 8, cols = 64 } }))
  local candidate = cawb.candidate { source = [[
extern "C" __global__ void odd(float *y) {
  unsigned x = 0;
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%0, %0, %0, %0}, {%0, %0}, {%0, %0}, {%0, %0, %0, %0};"
               : "+r"(x));
  y[threadIdx.x] = x;
}]], plan = 'launch("odd", { grid = 1, block = 32 }, outputs[1])' }
  local p = assert(cawb.profile(task, candidate))
  assert(p.ok, p.reason)
  check.equal(p.source, "ptx")
  check.matches(p.note, "simulated device")
  check.equal(p.metrics.ptx_tensor, 1)
  check.equal(p.sources.ptx_tensor, "ptx")
  check.equal(p.metrics.registers and p.sources.registers, p.metrics.registers and "ptxas")
  check.equal(p.roofline.limiter, "unknown")
  local bad = assert(cawb.profile(task, cawb.candidate { source = "nonsense", plan = "" }))
  check.equal(bad.ok, false, "what does not compile is no profile")
end)

check.test("a turn that passes is profiled where the option asks for it", function()
  local all = options.copy(cawb.defaults)
  assert(options.set(all, "profile=quick"))
  all.measure.against = {}
  local task <close> = assert(cawb.task("examples/gelu.py", { device = device, options = all, task = { rows = 8, cols = 64 } }))
  local candidate = assert(require("cawb.run.families").match(task)):rung(1, task)
  local facts = assert(require("cawb.judge.evaluate").candidate(task, candidate, all))
  assert(facts.ok, facts.reason)
  assert(facts.profile.ok and facts.seconds.profile > 0)
  check.equal(facts.profile.source, "simulator")
  check.equal(#facts.variants > 0 and facts.variants[1].profile, #facts.variants > 0 and nil, "its variants are not")
  all.profile = "none"
  check.equal(require("cawb.judge.evaluate").candidate(task, candidate, all).profile, nil)
  local ok, message = options.set(all, "profile=quik")
  check.equal(ok, nil)
  check.matches(message, "one of none, quick, default, not 'quik' %(did you mean 'quick'")
end)

return check.done()
