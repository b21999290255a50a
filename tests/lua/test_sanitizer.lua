-- What compute-sanitizer prints, taken apart; the simulated device's findings in the same
-- form; a tool that is missing. tests/gpu/test_sanitizer.lua runs the tool itself.

local check = dofile "tests/lua/check.lua"
local cawb = require "cawb"
local sanitizer = require "cawb.sanitizer"

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

check.test("a failure on the simulated device already has its line", function()
  local ran = cawb.run(task, cawb.candidate { source = copy,
    plan = 'launch("touch", { grid = 8, block = 64 }, outputs[1], inputs[1], 1)' })
  check.equal(sanitizer.explain(task, {}, ran), ran)
  check.matches(ran.reason, "kernel%.cu line 3")
end)

return check.done()
