-- What a simulated device finds fails a candidate, unless findings are to be data; with its
-- sanitizer off it finds nothing and counts the same.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local execute = require "cawb.judge.worker.execute"
local families = require "cawb.run.families"
local options = require "cawb.base.options"

local function opened(sanitize)
  local simulate = { memory = cawb.defaults.simulate.memory, blocks = 0, sanitize = sanitize }
  local device = assert(cawb.device("sim:h100", { simulate = simulate }))
  local task = assert(cawb.task("examples/gelu.py", { device = device, task = { rows = 8, cols = 64 } }))
  return device, task
end

local gelu = "  float v = x[i];\n  y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));\n}"

-- Right, as the warps take their turns here; warps that exchange nothing need no barrier.
local kernels = {
  race = [[
extern "C" __global__ void k(float *y, const float *x) {
  __shared__ float s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = x[i];
  if (threadIdx.x >= 32) s[threadIdx.x - 32] += 1.0f;
]] .. gelu,
  unset = [[
extern "C" __global__ void k(float *y, const float *x) {
  __shared__ float s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (s[threadIdx.x] == 3.0f) y[i] = 1.0f;
]] .. gelu,
  blocks = [[
extern "C" __global__ void k(float *y, const float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[0] = (float)blockIdx.x;
]] .. gelu:gsub("y%[i%] =", "if (i > 0) y[i] ="):gsub("}$", "  if (i == 511) y[0] = 0.5f * x[0] * (1.0f + erff(x[0] * 0.70710678f));\n}"),
  copies = [[
#include <cuda_pipeline.h>
extern "C" __global__ void k(float *y, const float *x) {
  __shared__ float s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = 0.0f;
  __pipeline_memcpy_async(&s[threadIdx.x], &x[i], 4);
  __pipeline_commit();
  if (s[threadIdx.x] == 3.0f) y[i] = 1.0f;
  __pipeline_wait_prior(0);
]] .. gelu,
}
local plan = 'launch("k", { grid = 8, block = 64 }, outputs[1], inputs[1])'
local function candidate(name) return cawb.candidate { source = kernels[name], plan = plan } end

-- All that was counted, but the findings.
local function counts(report)
  local t = {}
  for key, value in pairs(report) do
    if type(value) == "number" and key ~= "races" then t[#t + 1] = ("%s %.17g"):format(key, value) end
  end
  table.sort(t)
  return table.concat(t, "\n")
end

local names = { "race", "unset", "blocks", "copies" }

check.test("findings fail a candidate, and are data", function()
  local at_device, at_task = opened(true)
  local device <close> = at_device
  local task <close> = at_task
  for _, name in ipairs(names) do
    local r = assert(cawb.verify(task, candidate(name), { trials = 1, battery = {} }))
    assert(not r.ok, name .. " passed")
    check.equal(r.stage, "verify")
    check.matches(r.reason, name == "unset" and "reads memory that nothing has written" or "a race on")
    check.equal(#r.findings, 1)
    check.equal(r.findings[1].kind, name == "unset" and "uninitialised read" or "race")
    assert(r.findings[1].line > 1 and r.findings[1].times > 0)
  end
end)

check.test("with tolerance.findings off they are data only", function()
  local at_device, at_task = opened(true)
  local all = options.copy(cawb.defaults)
  all.tolerance.findings = false
  local device <close> = at_device
  local task <close> = at_task
  for _, name in ipairs(names) do
    local r = assert(cawb.verify(task, candidate(name), { trials = 2, battery = {}, options = all }))
    assert(r.ok, ("%s: %s"):format(name, r.reason))
    check.equal(#r.findings, 1)
    assert(r.report.races > 0)
  end
end)

check.test("without the sanitizer there are none, and the counts are the same", function()
  local at_with, at_task = opened(true)
  local with <close> = at_with
  local task <close> = at_task
  local at_without, at_other = opened(false)
  local without <close> = at_without
  local other <close> = at_other
  for _, name in ipairs(names) do
    local seed = task.next_seed "run"
    local a = assert(execute.run(task, candidate(name), cawb.defaults, nil, seed))
    local b = assert(execute.run(other, candidate(name), cawb.defaults, nil, seed))
    assert(a.report.races > 0)
    check.equal(b.report.races, 0)
    check.equal(counts(b.report), counts(a.report), name)
    local r = assert(cawb.verify(other, candidate(name), { trials = 1, battery = {} }))
    assert(r.ok and r.findings == nil, r.reason)
  end
end)

check.test("a stray access ends a launch in any case", function()
  local at_device, at_task = opened(false)
  local device <close> = at_device
  local task <close> = at_task
  local r = assert(cawb.sanitize(task, cawb.candidate { plan = plan, source = [[
extern "C" __global__ void k(float *y, const float *x) { __shared__ float s[4]; s[threadIdx.x] = x[0]; y[0] = s[0]; }]] }))
  check.equal(r.clean, false)
  check.matches(r.findings[1].text, "shared memory")
end)

check.test("ladders count the same without the sanitizer", function()
  for file, constants in pairs { ["matmul.py"] = { m = 70, n = 66, k = 36 }, ["softmax.py"] = { rows = 5, cols = 333 } } do
    local reports, seeds = {}, {}
    for i, sanitize in ipairs { true, false } do
      local device <close> = assert(cawb.device("sim:h100",
        { simulate = { memory = cawb.defaults.simulate.memory, blocks = 0, sanitize = sanitize } }))
      local task <close> = assert(cawb.task("examples/" .. file, { device = device, task = constants }))
      local family = assert(families.match(task))
      for n = 1, #family.versions do
        seeds[n] = seeds[n] or task.next_seed "run"
        local ran = assert(execute.run(task, family:rung(n, task), cawb.defaults, nil, seeds[n]))
        if ran.ok then reports[n] = (reports[n] or "") .. "|" .. i .. "\n" .. counts(ran.report) end
      end
    end
    for n, text in pairs(reports) do
      local a, b = text:match "^|1\n(.*)|2\n(.*)$"
      check.equal(b, a, file .. " rung " .. n)
    end
  end
end)

return check.done()
