-- Hardware counters on a real device. No assertion depends on speed; where counters
-- are refused, what takes their place is looked at, and the reason printed.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local families = require "cawb.run.families"

local device <close> = assert(cawb.device "cuda:0")
local task <close> = assert(cawb.task("examples/softmax.py", { device = device, task = { rows = 4096, cols = 8192 } }))
local family = assert(families.match(task))
local best = family:rung(#family.versions, task)
local bytes = 4096 * 8192 * 4

local first = assert(cawb.profile(task, best))
assert(first.ok, first.reason)
if first.note then print("no counters here: " .. first.note) end

check.test("facts of the code come with every profile, times too", function()
  local m = first.metrics
  assert(m.registers > 0 and m.blocks > 0 and m.threads_per_block >= 32)
  assert(m.occupancy > 0 and m.occupancy <= 1 and m.blocks_per_sm >= 1)
  assert(first.seconds > 0)
  check.equal(first.sources.registers, "driver")
  check.equal(first.kernels[1].kernel, "softmax")
  for name in pairs(m) do assert(first.sources[name], name .. " has no source") end
end)

check.test("all of the default set is counted", function()
  if first.note then return end
  check.equal(first.source, "cupti")
  check.equal(#first.missing, 0, table.concat(first.missing, ", "))
  -- each input element read once; of what is written some stays in L2
  local m = first.metrics
  assert(m["dram__bytes_read.sum"] > 0.99 * bytes and m["dram__bytes_read.sum"] < 1.1 * bytes)
  assert(m["dram__bytes_write.sum"] < 1.1 * bytes)
  assert(m["dram__bytes_write.sum"] > bytes - device.info.l2)
  assert(m.lanes_per_instruction > 1 and m.lanes_per_instruction <= 32)
end)

check.test("counts of instructions are the same again, in one pass too", function()
  if first.note then return end
  local again = assert(cawb.profile(task, best))
  check.equal(again.metrics.warp_instructions, first.metrics.warp_instructions)
  local quick = assert(cawb.profile(task, best, { metrics = "quick" }))
  check.equal(quick.metrics.warp_instructions, first.metrics.warp_instructions)
  assert(quick.passes <= first.passes and quick.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] * 32 == bytes)
end)

check.test("any metric by name; what does not exist is named", function()
  if first.note then return end
  local p = assert(cawb.profile(task, best, { metrics = { "smsp__inst_executed.sum", "no__such.sum" } }))
  check.equal(p.metrics["smsp__inst_executed.sum"], first.metrics.warp_instructions)
  check.equal(table.concat(p.missing, " "), "no__such.sum")
  check.fails("invalid", "none of the metrics asked for", cawb.profile(task, best, { metrics = { "no__such.sum" } }))
end)

check.test("every launch of a plan is counted, memory sets are not", function()
  local candidate = cawb.candidate { source = [[
extern "C" __global__ void touch(float *y, const float *x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}]], plan = [[
local s = scratch { shape = { 4096 }, dtype = "float32" }
prepare(function() launch("touch", { grid = 1, block = 32 }, s, s, 32) end)
memset(s, 0)
launch("touch", { grid = 8, block = 128 }, outputs[1], inputs[1], 1024)
memset(s, 1)
launch("touch", { grid = 16, block = 128 }, outputs[1], inputs[1], 2048)
]] }
  local p = assert(cawb.profile(task, candidate))
  assert(p.ok, p.reason)
  check.equal(#p.kernels, 2)
  check.equal(p.kernels[1].metrics.blocks, 8)
  check.equal(p.kernels[2].metrics.blocks, 16)
  if p.note then return end
  local one, two = p.kernels[1].metrics, p.kernels[2].metrics
  check.equal(one["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 1024 / 32)
  check.equal(two["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 2048 / 32)
  check.equal(one.load_sectors_per_request, 4)
  check.equal(two.warp_instructions, 2 * one.warp_instructions)
  check.equal(p.metrics.warp_instructions, one.warp_instructions + two.warp_instructions)
end)

check.test("lines: the kernel's own, the most first, again and again and between counts", function()
  if first.note then return end
  for _ = 1, 2 do
    local p = assert(cawb.profile(task, best, { lines = true }))
    assert(p.ok, p.reason)
    assert(#p.lines > 0, p.sampling.note)
    check.equal(p.sampling.unit, "samples")
    local seen, last = 0, math.huge
    for _, l in ipairs(p.lines) do
      assert(l.samples <= last and #l.stalls > 0)
      last = l.samples
      if l.file == "kernel.cu" then
        check.equal(l.kernel, "softmax")
        assert(l.line >= 1 and l.text, "a line of the source")
        seen = seen + l.samples
      end
    end
    assert(seen > 0.5 * p.sampling.samples, "most samples are of the kernel's own lines")
    check.equal(p.metrics.warp_instructions, first.metrics.warp_instructions)
    local quick = assert(cawb.profile(task, best, { set = "quick" }))
    check.equal(quick.note, nil)
    check.equal(quick.metrics.warp_instructions, first.metrics.warp_instructions)
  end
end)

check.test("what it means", function()
  local r = first.roofline
  assert(type(r.sentence) == "string" and r.limiter)
  check.equal(r.ceilings == "measured" or type(r.note) == "string", true, "ceilings, or why not")
end)

check.test("a fault after a profile costs one candidate", function()
  local bad = assert(cawb.profile(task, cawb.candidate { source = [[
extern "C" __global__ void stray(float *y) { y[(1ll << 40) + threadIdx.x] = 1; }]],
    plan = 'launch("stray", { grid = 1, block = 32 }, outputs[1])' }))
  assert(not bad.ok, "it was accepted")
  check.matches(bad.reason, "CUDA_ERROR_ILLEGAL_ADDRESS")
  local p = assert(cawb.profile(task, best))
  assert(p.ok, p.reason)
  check.equal(p.passes, first.passes)
  check.equal(p.metrics.warp_instructions, first.metrics.warp_instructions)
end)

check.test("what was profiled is still right, and can be timed", function()
  local verified = assert(cawb.verify(task, best))
  assert(verified.ok, verified.reason)
  local measured = assert(cawb.measure(task, best))
  assert(measured.ok, measured.reason)
end)

return check.done()
