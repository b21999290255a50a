-- What compute-sanitizer prints, taken apart; the simulated device's findings in the same
-- form; a tool that is missing. tests/cuda/gpu/test_sanitizer.lua runs the tool itself.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local sanitizer = require "cawb.judge.verify.sanitizer"

local device <close> = assert(cawb.device "sim:h100")
local task <close> = assert(cawb.task("examples/gelu.py", { device = device, task = { rows = 8, cols = 64 } }))

local function sanitize(source, plan, opts)
  return cawb.sanitize(task, cawb.candidate { source = source, plan = plan }, opts)
end

local copy = [[
extern "C" __global__ void touch(float *y, const float *x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i + n];
}]]

check.test("a stray access on the simulated device, with its line", function()
  local r = assert(sanitize(copy, 'launch("touch", { grid = 8, block = 64 }, outputs[1], inputs[1], 1)'))
  assert(r.ok, r.reason)
  check.equal(r.clean, false)
  check.equal(#r.findings, 1)
  local f = r.findings[1]
  check.equal(f.tool, "simulator")
  check.equal(f.kind, "read")
  check.equal(f.kernel, "touch")
  check.equal(f.file, "kernel.cu")
  check.equal(f.line, 3)
  check.equal(f.size, 4)
  check.equal(table.concat(f.block, ","), "7,0,0")
  check.equal(table.concat(f.thread, ","), "63,0,0")
  check.matches(f.text, "past the end of inputs%[1%]")
  check.matches(sanitizer.words(f), "read of 4 bytes at kernel.cu line 3, by thread %(63,0,0%) of block %(7,0,0%)")
end)

check.test("a race, and a candidate without mistakes", function()
  local r = assert(sanitize([[
extern "C" __global__ void race(float *y, const float *x) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[63 - threadIdx.x];
}]], 'launch("race", { grid = 1, block = 64 }, outputs[1], inputs[1])'))
  check.equal(r.clean, false)
  check.equal(r.findings[1].kind, "race")
  assert(r.findings[1].line == 3 or r.findings[1].line == 4)
  check.equal(r.findings[1].kernel, "race")
  assert(r.findings[1].times > 0)
  r = assert(sanitize(copy, 'launch("touch", { grid = 8, block = 64 }, outputs[1], inputs[1], 0)'))
  assert(r.ok and r.clean and #r.findings == 0)
end)

check.test("a smaller task; a candidate that does not build; misuse", function()
  local plan = 'launch("touch", { grid = outputs[1].numel // 64, block = 64 }, outputs[1], inputs[1], 0)'
  assert(assert(sanitize(copy, plan, { task = { rows = 1 } })).clean)
  local r = assert(sanitize("nonsense", plan))
  check.equal(r.ok, false)
  check.equal(r.stage, "compile")
  check.raises("no tool 'memchek'", sanitize, copy, plan, { tools = { "memchek" } })
  check.raises("unknown option 'tool'", sanitize, copy, plan, { tool = "memcheck" })
end)

check.test("what memcheck prints: two accesses of one place are one finding, others their own", function()
  local found = sanitizer.parse([[
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at void past<float>(float *, const float *, int)+0xd0 in kernel.cu:3
=========     by thread (0,0,0) in block (12,0,0)
=========     Access to 0x7fdb1ea08000 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7fdb1ea04000 of size 16,384 bytes
========= 
========= Invalid __global__ write of size 4 bytes
=========     at void past<float>(float *, const float *, int)+0xd0 in kernel.cu:3
=========     by thread (1,0,0) in block (12,0,0)
=========     Access to 0x7fdb1ea08004 is out of bounds
========= 
========= Invalid __shared__ read of size 16 bytes
=========     at crooked+0x70 in /somewhere/else.cuh:2
=========     by thread (5,6,7) in block (1,2,3)
=========     Access to 0x4 is misaligned
========= 
========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to "unspecified launch failure" on CUDA API call to cuStreamSynchronize.
========= 
========= ERROR SUMMARY: 4 errors
]], "memcheck")
  check.equal(#found, 2)
  local f = found[1]
  check.equal(f.kind, "invalid global write")
  check.equal(f.kernel, "past")
  check.equal(f.line, 3)
  check.equal(f.times, 2)
  check.equal(f.address, "0x7fdb1ea08000")
  check.equal(table.concat(f.thread, ","), "0,0,0")
  check.equal(table.concat(f.block, ","), "12,0,0")
  check.matches(f.text, "1 bytes after the nearest allocation")
  f = found[2]
  check.equal(f.kind, "misaligned shared read")
  check.equal(f.file, "else.cuh")
  check.equal(f.size, 16)
  check.equal(table.concat(f.thread, ","), "5,6,7")
  check.equal(sanitizer.words(f), "misaligned shared read of 16 bytes at else.cuh line 2, by thread (5,6,7) of block (1,2,3)")
end)

check.test("what the other tools print", function()
  local r = sanitizer.parse([[
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at race+0xe0 in kernel.cu:3
=========     and Read access at race+0xf0 in kernel.cu:4 [1024 hazards]
========= 
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
]], "racecheck")
  check.equal(#r, 1)
  check.equal(r[1].kind, "race")
  check.equal(r[1].line, 3)
  check.equal(r[1].other.line, 4)
  r = sanitizer.parse([[
========= Barrier error detected. Divergent thread(s) in warp.
=========     at sync+0x70 in kernel.cu:2
=========     by thread (0,0,0) in block (0,0,0)
========= 
========= ERROR SUMMARY: 1 error
]], "synccheck")
  check.equal(r[1].kind, "barrier error: divergent thread(s) in warp")
  check.equal(r[1].line, 2)
  r = sanitizer.parse([[
========= Uninitialized __global__ memory read of size 4 bytes
=========     at uninit+0x50 in kernel.cu:2
=========     by thread (3,0,0) in block (0,0,0)
=========     Access to 0x7f0d86c00000
]], "initcheck")
  check.equal(r[1].kind, "uninitialized global read")
  check.equal(r[1].size, 4)
  check.equal(#sanitizer.parse("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", "memcheck"), 0)
  check.equal(#sanitizer.parse("", "memcheck"), 0)
end)

check.test("a failure on the simulated device already has its line", function()
  local ran = cawb.run(task, cawb.candidate { source = copy,
    plan = 'launch("touch", { grid = 8, block = 64 }, outputs[1], inputs[1], 1)' })
  check.equal(sanitizer.explain(task, {}, ran, cawb.defaults), ran)
  check.matches(ran.reason, "kernel%.cu line 3")
end)

return check.done()
