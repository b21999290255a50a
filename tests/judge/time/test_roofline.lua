-- What a profile is said to mean: the limiter, the place on the roofline, the remedies, on
-- facts made by hand; and the mix of a PTX text.

local check = dofile "tests/support/check.lua"
local ptx = require "cawb.judge.profile.ptx"
local remedies = require "cawb.judge.profile.remedies"
local roofline = require "cawb.judge.profile.roofline"

-- A task of `bytes` in all on a device with round ceilings: those of a model.
local function task_of(bytes, flops)
  return { inputs = { { bytes = bytes / 2, dtype = "float32" } }, outputs = { { bytes = bytes / 2 } }, params = {},
    graph = { { flops = flops or bytes / 4 } },
    device = { info = { name = "sim:test", modelled = true, sms = 100, rates = { dram = 1e12, fp32 = 10e12, launch = 1e-6 } } } }
end

local function counted(metrics, more)
  local p = { ok = true, source = "cupti", seconds = metrics.seconds, metrics = metrics, passes = 1,
              kernels = { { kernel = "k", metrics = metrics, sources = {} } } }
  for key, value in pairs(more or {}) do p[key] = value end
  return p
end

local function skills(r)
  local names = {}
  for i, one in ipairs(r.remedies) do names[i] = one.skill end
  return table.concat(names, " ")
end

check.test("a kernel at the bandwidth of a copy is limited by DRAM, and little is left", function()
  local r = roofline.of(task_of(950e6), counted { seconds = 1e-3, dram_bytes = 950e6, blocks = 10000, ptx_bytes_per_load = 16 })
  check.equal(r.limiter, "dram")
  check.equal(r.sentence, "limited by DRAM: 950 GB/s of 1 TB/s (95%)")
  check.equal(r.roof, "memory")
  check.equal(r.intensity, 0.25)
  check.equal(r.ridge, 10)
  check.equal(r.flops_source, "graph")
  check.equal(skills(r), "at-the-ceiling")
end)

check.test("bytes that are read twice are named", function()
  local r = roofline.of(task_of(400e6), counted { seconds = 1e-3, dram_bytes = 900e6, blocks = 10000 })
  check.equal(r.remedies[1].skill, "keep-rows-on-chip")
  check.matches(r.remedies[1].why, "2%.25x the bytes")
end)

check.test("short kernels wait for their launch", function()
  local p = counted { seconds = 3e-6, dram_bytes = 1e6, blocks = 10000 }
  p.kernels = { p.kernels[1], p.kernels[1] }
  local r = roofline.of(task_of(1e6), p)
  check.equal(r.limiter, "launch")
  check.matches(r.sentence, "launch bound: 3 us of kernels in 2 launches")
  check.equal(r.remedies[1].skill, "fuse-launches")
end)

check.test("arithmetic: counted operations before those of the graph", function()
  local name = "smsp__sass_thread_inst_executed_op_%s_pred_on.sum"
  local r = roofline.of(task_of(1e6, 1), counted { seconds = 1e-3, dram_bytes = 1e6, blocks = 10000,
    [name:format "fadd"] = 1e9, [name:format "fmul"] = 1e9, [name:format "ffma"] = 3e9 })
  check.equal(r.flops, 8e9)
  check.equal(r.flops_source, "cupti")
  check.equal(r.limiter, "compute")
  check.equal(r.sentence, "limited by arithmetic: 8 TFLOP/s of 10 TFLOP/s in fp32 (80%)")
  check.equal(r.roof, "compute")
  check.equal(r.share, 0.8)
end)

check.test("latency: the reason that warps wait for is named, from samples where there are any", function()
  local m = { seconds = 1e-3, dram_bytes = 300e6, blocks = 10000, occupancy = 0.25,
    ["smsp__issue_active.avg.pct_of_peak_sustained_active"] = 12.0,
    ["smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"] = 3.0,
    ["smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"] = 9.0 }
  local r = roofline.of(task_of(300e6), counted(m))
  check.equal(r.limiter, "latency")
  check.equal(r.sentence, "latency: nothing above 30% (DRAM); warps wait on long_scoreboard (loads from global memory)")
  check.matches(skills(r), "more%-loads%-in%-flight")
  check.matches(skills(r), "higher%-occupancy")
  r = roofline.of(task_of(300e6), counted(m, { sampling = { unit = "samples",
    stalls = { { reason = "selected" }, { reason = "barrier" } } } }))
  check.matches(r.sentence, "warps wait on barrier %(a barrier%)")
end)

check.test("a grid too small for the device; issue slots; a model's own parts; nothing known", function()
  local r = roofline.of(task_of(1e8), counted { seconds = 1e-3, dram_bytes = 1e8, blocks = 8 })
  check.equal(r.sentence, "too few blocks: 8 for 100 multiprocessors")
  check.equal(r.remedies[1].skill, "split-rows-over-clusters")
  r = roofline.of(task_of(1e8), counted { seconds = 1e-3, dram_bytes = 1e8, blocks = 1000, ptx_special = 3,
    ["smsp__issue_active.avg.pct_of_peak_sustained_active"] = 80.0 })
  check.equal(r.limiter, "issue")
  check.matches(skills(r), "cheaper%-transcendentals")
  r = roofline.of(task_of(1e8), counted({ seconds = 1e-3, dram_bytes = 1e8 },
    { bound = { memory = 1e-5, l2 = 9e-4, shared = 0.0, issue = 1e-4, launch = 2e-6 } }))
  check.equal(r.limiter, "l2")
  check.matches(r.sentence, "modelled: L2 is the longest part, 900 us of 1 ms; then instructions, 100 us")
  r = roofline.of(task_of(1e8), { ok = true, source = "ptx", metrics = {}, kernels = {}, passes = 0 })
  check.equal(r.sentence, "unknown: nothing was executed")
end)

check.test("without ceilings there are shares that the hardware gives, and the reason", function()
  local task = task_of(1e8)
  task.device.info = { modelled = false, name = "cuda:7", model = "none", sms = 100, memory = 1, l2 = 1, uuid = "", driver = "" }
  local r = roofline.of(task, counted { seconds = 1e-3, dram_bytes = 1e8, blocks = 1000,
    ["dram__throughput.avg.pct_of_peak_sustained_elapsed"] = 91.0 })
  check.matches(r.note, "run cawb doctor %-%-calibrate")
  check.equal(r.sentence, "limited by DRAM: busy for 91% of the time")
  check.equal(r.dram_share, nil)
  r = roofline.of(task, { ok = true, source = "events", seconds = 1e-3, metrics = { seconds = 1e-3 }, passes = 0,
    kernels = { { kernel = "k", metrics = { seconds = 1e-3 }, sources = {} } } })
  check.matches(r.sentence, "unknown: there is no bandwidth to hold the traffic against")
end)

check.test("remedies: at most as many as asked for, each a skill, advice and a reason", function()
  local seen = {}
  for _, one in ipairs(remedies.list) do
    assert(one.skill:match "^[%l%d-]+$" and #one.advice > 10 and not seen[one.skill], one.skill)
    seen[one.skill] = true
    one.promise { launches = 1, least_bytes = 0, sms = 1 }       -- nothing known: no error
  end
  local all = remedies.best({ launches = 3, least_bytes = 10, bytes = 40, sms = 100, blocks = 3, spill_loads = 8,
    conflicts = 2.0, ptx_bytes_per_load = 4, limiter = "latency", stall = "barrier", ptx_barriers = 9, ptx_shuffles = 0,
    lanes_per_instruction = 8, load_sectors_per_request = 32 }, 5)
  check.equal(#all, 5)
  for i = 2, 5 do assert(all[i - 1].promise >= all[i].promise) end
  for _, one in ipairs(all) do assert(one.promise > 0 and one.promise <= 1 and one.why and one.advice) end
end)

check.test("a launch that takes longest: fewer blocks where they take turns, else what is larger than this kernel", function()
  local facts = { launches = 1, least_bytes = 0, sms = 100, limiter = "launch", blocks = 800, blocks_per_sm = 8 }
  local tip = remedies.best(facts, 1)[1]
  check.equal(tip.skill, "fuse-launches")
  check.matches(tip.advice, "^only a larger problem, or one launch for this and what comes before or after it")
  facts.blocks = 801
  check.equal(remedies.best(facts, 1)[1].skill, "one-wave-grid")
end)

check.test("where memory takes longest, nothing is advised that only keeps more under way", function()
  for _, limiter in ipairs { "memory", "dram" } do
    local facts = { launches = 1, limiter = limiter, dram_share = 0.4, bytes = 1e6, least_bytes = 1e6, sms = 100, blocks = 50, occupancy = 0.2,
                    ptx_bytes_per_load = 4, ptx_barriers = 9, ptx_shuffles = 0, stall = "long_scoreboard" }
    for _, one in ipairs(remedies.best(facts, 9)) do
      assert(one.promise <= 0.5, one.skill)
      assert(one.skill ~= "more-loads-in-flight" and one.skill ~= "split-rows-over-clusters" and one.skill ~= "higher-occupancy", one.skill)
    end
    facts.bytes = 2e6
    check.equal(remedies.best(facts, 1)[1].skill, "keep-rows-on-chip", limiter)
  end
  local r = roofline.of(task_of(1e8), counted({ seconds = 2.5e-4, dram_bytes = 1e8 }, { bound = { memory = 2e-4, latency = 1e-4, launch = 4e-6 } }))
  check.equal(r.limiter, "memory")
  check.equal(skills(r), "at-the-ceiling")
end)

check.test("how many blocks run at once is known of a GPU and of the simulator", function()
  local task = { device = { info = { sms = 132 } }, inputs = {}, outputs = {}, params = {} }
  for _, name in ipairs { "blocks_per_sm", "resident_blocks" } do
    local kernels = { { kernel = "k", metrics = { blocks = 512, [name] = 8 } } }
    check.equal(roofline.facts(task, { kernels = kernels, metrics = {} }).blocks_per_sm, 8, name)
  end
end)

check.test("wide loads are not called scattered, whatever else the text has", function()
  local facts = { launches = 1, least_bytes = 0, sms = 1, load_sectors_per_request = 16, ptx_bytes_per_load = 6, ptx_widest_load = 16 }
  for _, one in ipairs(remedies.best(facts, 9)) do assert(one.skill ~= "coalesced-access", one.why) end
  facts.ptx_widest_load = 4
  check.equal(remedies.best(facts, 1)[1].why, "4.0x the sectors that the loads need")
end)

check.test("the mix of a PTX text", function()
  local mix = ptx.kernels [[
.version 8.0
.visible .entry first(.param .u64 a) // { a comment
{
	.reg .b32 %r<9>;
	ld.param.u64 %rd1, [a];
	cvta.to.global.u64 %rd2, %rd1;
	ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2];
	ld.global.f32 %f5, [%rd2+64];
	cp.async.cg.shared.global [%r1], [%rd2], 16;
$L1:
	fma.rn.f32 %f1, %f2, %f3, %f4;
	@%p1 ld.shared.f32 %f6, [%r1];
	ex2.approx.ftz.f32 %f1, %f1;
	bar.sync 0;
	{ // callseq
	shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;
	}
	@!%p2 bra $L1;
	st.global.f32 [%rd2], %f1;
	atom.global.add.f32 %f1, [%rd2], %f2;
	ret;
}
.visible .entry second()
{
	ret;
}
]]
  local m = mix.first
  check.equal(m.ptx_instructions, 14)
  check.equal(m.ptx_global_loads, 3)
  check.equal(m.ptx_bytes_per_load, 12)
  check.equal(m.ptx_widest_load, 16)
  check.equal(m.ptx_global_stores, 1)
  check.equal(m.ptx_shared_loads, 1)
  check.equal(m.ptx_float, 1)
  check.equal(m.ptx_special, 1)
  check.equal(m.ptx_barriers, 1)
  check.equal(m.ptx_branches, 1)
  check.equal(m.ptx_shuffles, 1)
  check.equal(m.ptx_atomics, 1)
  check.equal(mix.second.ptx_instructions, 1)
  check.equal(mix.second.ptx_bytes_per_load, nil)
  check.equal(next(ptx.read "/nowhere"), nil)
end)

return check.done()
