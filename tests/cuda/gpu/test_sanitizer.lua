-- compute-sanitizer around the worker: known mistakes are found, with their lines; what is
-- right is not accused. Skipped, with the reason, where the tool is not installed.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local evaluate = require "cawb.judge.evaluate"
local options = require "cawb.base.options"
local sanitizer = require "cawb.judge.verify.sanitizer"

local device <close> = assert(cawb.device "cuda:0")
local task <close> = assert(cawb.task("examples/softmax.py", { device = device, task = { rows = 8, cols = 256 } }))

local function candidate(source, plan) return cawb.candidate { source = source, plan = plan } end

local good = candidate([[
extern "C" __global__ void good(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}]], 'launch("good", { grid = 8, block = 256 }, outputs[1], inputs[1], 2048)')

local first, message, name = cawb.sanitize(task, good, { tools = { "memcheck" } })
if not first then
  check.equal(name, "missing")
  print("skipped: " .. message)
  return check.done()
end

-- The first finding of one tool.
local function finding(c, tool)
  local r = assert(cawb.sanitize(task, c, { tools = { tool } }))
  assert(r.ok, r.reason)
  check.equal(r.clean, false)
  assert(#r.findings > 0, r.tools[tool].text)
  check.equal(r.findings[1].tool, tool)
  return r.findings[1]
end

check.test("what is right is not accused, by any of the tools", function()
  assert(first.ok and first.clean, first.tools.memcheck.text)
  local r = assert(cawb.sanitize(task, good))
  assert(r.ok and r.clean, r.findings[1] and r.findings[1].text)
  for _, tool in ipairs(sanitizer.tools) do check.equal(r.tools[tool].findings, 0, tool) end
end)

check.test("a stray write, with line, thread and block; its failure explained", function()
  local stray = candidate([[
extern "C" __global__ void stray(float *y) {
  float *far = y + (1ll << 40);
  far[threadIdx.x] = 1;
}]], 'launch("stray", { grid = 1, block = 32 }, outputs[1])')
  local f = finding(stray, "memcheck")
  check.matches(f.kind, "write")
  check.equal(f.kernel, "stray")
  check.equal(f.file, "kernel.cu")
  check.equal(f.line, 3)
  check.equal(f.size, 4)
  check.equal(table.concat(f.block, ","), "0,0,0")
  local ran = assert(cawb.run(task, stray))
  check.equal(ran.ok, false)
  check.matches(sanitizer.explain(task, stray, ran, cawb.defaults).reason, "kernel%.cu line 3")
end)

check.test("a misaligned access", function()
  local f = finding(candidate([[
extern "C" __global__ void crooked(float *y) {
  *(float4 *)(y + 1) = make_float4(1, 2, 3, 4);
}]], 'launch("crooked", { grid = 1, block = 1 }, outputs[1])'), "memcheck")
  check.equal(f.line, 2)
  check.equal(f.size, 16)
end)

check.test("a race in shared memory", function()
  local f = finding(candidate([[
extern "C" __global__ void race(float *y, const float *x) {
  __shared__ float s[256];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[255 - threadIdx.x];
}]], 'launch("race", { grid = 1, block = 256 }, outputs[1], inputs[1])'), "racecheck")
  check.matches(f.kind, "race")
  assert(f.line == 3 or f.line == 4, f.text)
end)

check.test("a barrier that not all threads reach", function()
  local f = finding(candidate([[
extern "C" __global__ void lonely(float *y) {
  if (threadIdx.x < 16) __syncthreads();
  y[threadIdx.x] = 1;
}]], 'launch("lonely", { grid = 1, block = 64 }, outputs[1])'), "synccheck")
  check.equal(f.line, 2)
end)

check.test("the device goes on as before", function()
  local ran = assert(cawb.run(task, good))
  assert(ran.ok, ran.reason)
end)

check.test("a turn that faulted has its line; a write to an input is a fault of its own", function()
  local source = [[
extern "C" __global__ void stray(float *y, float *x) {
  if (threadIdx.x == 40) x[threadIdx.x + (1 << 24)] = 1;
  y[threadIdx.x] = x[threadIdx.x];
}]]
  local plan = 'launch("stray", { grid = 1, block = 64 }, outputs[1], inputs[1])'
  local all = options.copy(cawb.defaults)
  all.rules = "off"                  -- they would see the store before it is made
  local facts = assert(evaluate.candidate(task, candidate(source, plan), all))
  check.matches(facts.reason, "reached outside its tensors.*ILLEGAL_ADDRESS.*kernel%.cu line 2")
  assert(facts.seconds.sanitize > 0)
  facts = assert(evaluate.candidate(task, candidate((source:gsub(" %+ %(1 << 24%)", "")), plan), all))
  print("     " .. facts.reason)
  check.matches(facts.reason, task.device.info.protects and "wrote to an input" or "writes to inputs")
end)

return check.done()
