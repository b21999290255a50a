-- The real device: right kernels pass, wrong ones are rejected with the driver's
-- reason, and what takes the worker down costs one candidate. No assertion here
-- depends on speed.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local families = require "cawb.run.families"
local options = require "cawb.base.options"

local device <close> = assert(cawb.device "cuda:0")

local function open(file, constants)
  return assert(cawb.task("examples/" .. file, { device = device, task = constants }))
end

local task <close> = open("softmax.py", { rows = 64, cols = 1000 })

local source = [[
extern "C" __global__ void softmax(float *y, const float *x, int cols) {
  __shared__ float part[32];
  const float *row = x + (size_t)blockIdx.x * cols;
  float m = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32) m = fmaxf(m, row[i]);
  part[threadIdx.x] = m;
  __syncthreads();
  for (int i = 0; i < 32; i++) m = fmaxf(m, part[i]);
  __syncthreads();
  for (int i = threadIdx.x; i < cols; i += 32) sum += expf(row[i] - m);
  part[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < 32; i++) sum += part[i];
  for (int i = threadIdx.x; i < cols; i += 32) y[(size_t)blockIdx.x * cols + i] = expf(row[i] - m) / sum;
}
]]
local plan = 'launch("softmax", { grid = inputs[1].shape[1], block = 32 }, outputs[1], inputs[1], inputs[1].shape[2])'

local edit = check.edit

local function verify(changed_source, changed_plan, all)
  return assert(cawb.verify(task, cawb.candidate { source = changed_source or source,
    plan = changed_plan or plan }, { options = all }))
end

local function rejected(stage, pattern, ...)
  local result = verify(...)
  assert(not result.ok, "it was accepted")
  check.equal(result.stage, stage, "stage")
  check.matches(result.reason, pattern)
  local after = verify()
  assert(after.ok, "the next candidate failed: " .. tostring(after.reason))
end

check.test("a right kernel passes and is timed", function()
  local result = verify()
  assert(result.ok, result.reason)
  local time = assert(cawb.measure(task, cawb.candidate { source = source, plan = plan }))
  assert(time.ok and not time.modelled, time.reason)
  assert(time.time_s.samples >= 10 and time.time_s.lo <= time.time_s.median)
  assert(time.speedup.eager.median > 0)
end)

check.test("one skipped row is found by its poison", function()
  rejected("verify", "1000 of 64000 elements were never written", nil,
    edit(plan, "grid = inputs[1].shape[1]", "grid = inputs[1].shape[1] - 1"))
end)

check.test("NaN never passes", function()
  rejected("verify", "NaN", edit(source, "/ sum;", "/ sum + (blockIdx.x == 7 && i == 9 ? NAN : 0);"))
end)

check.test("a wrong value is named", function()
  rejected("verify", "outputs%[1%] is wrong", edit(source, "/ sum;", "/ (sum + 1e-3f);"))
end)

check.test("a write past the end", function()
  rejected("run", "outputs%[1%]", edit(source, "* cols + i] =", "* cols + i + 1] ="))
end)

check.test("an illegal address", function()
  rejected("run", "CUDA_ERROR_ILLEGAL_ADDRESS", edit(source, "= fmaxf(m, row[i])", "= fmaxf(m, row[i + (1ll << 40)])"))
end)

check.test("a misaligned address", function()
  rejected("run", "CUDA_ERROR_MISALIGNED_ADDRESS",
    edit(source, "= fmaxf(m, row[i])", "= fmaxf(m, *(const float *)((const char *)row + 4 * i + 1))"))
end)

check.test("a trap", function()
  rejected("run", "CUDA_ERROR", edit(source, "float m =", "__trap(); float m ="))
end)

check.test("an endless loop is stopped by its deadline", function()
  local hasty = options.copy(cawb.defaults)
  hasty.deadlines.run = 1
  local result = verify(edit(source, "float m =", "while (*(volatile const float *)x != 1e30f) {} float m ="), nil, hasty)
  assert(not result.ok, "it was accepted")
  check.matches(result.reason, "did not end in time")
  local after = verify()
  assert(after.ok, after.reason)
end)

check.test("a flood of output", function()
  local result = verify(edit(source, "float m =",
    'for (int i = 0; i < 10000; i++) printf("%d\\n", i); float m ='))
  local after = verify()
  assert(after.ok, tostring(after.reason) .. " after " .. tostring(result.reason))
end)

check.test("__device__ variables do not remember an earlier call", function()
  for _, kind in ipairs { "__device__", "static __device__" } do
    local marked = kind .. " int seen[64];\n" .. edit(source, "  const float *row",
      "  if (seen[blockIdx.x] != 0) return;\n  __syncwarp();\n  if (threadIdx.x == 0) seen[blockIdx.x] = 1;\n  const float *row")
    local time = assert(cawb.measure(task, cawb.candidate { source = marked, plan = plan }, { against = {} }))
    assert(time.ok, kind .. ": " .. tostring(time.reason))     -- it never found its own mark
  end
end)

check.test("a kernel that works once, from scratch memory, works every time", function()
  local marked = edit(edit(source, "float *y, const", "int *seen, float *y, const"), "  const float *row",
    "  if (seen[blockIdx.x] == 1) return;\n  __syncwarp();\n  if (threadIdx.x == 0) seen[blockIdx.x] = 1;\n  const float *row")
  local time = assert(cawb.measure(task, cawb.candidate { source = marked,
    plan = "local s = scratch(256)\n" .. edit(plan, "}, outputs", "}, s, outputs") }, { against = {} }))
  assert(time.ok, time.reason)
end)

check.test("inputs are read-only, and whoever writes to one is told", function()
  rejected(device.info.protects and "run" or "verify",
    device.info.protects and "wrote to an input" or "it writes to inputs%[1%]",
    edit(edit(source, "const float *x, int", "float *x, int"), "/ sum;", "/ sum; x[0] = 0;"))
end)

check.test("too much shared memory, too many threads", function()
  rejected("plan", "232448", nil, edit(plan, "block = 32", "block = 32, shared = 1 << 20"))
  rejected("plan", "the device allows 1024", nil, edit(plan, "block = 32", "block = 2048"))
end)

for _, case in ipairs {
  { "gelu.py", { rows = 33, cols = 1000 } }, { "softmax.py", { rows = 33, cols = 1001 } },
  { "layernorm.py", { rows = 33, cols = 1000 } }, { "row_sum.py", { rows = 33, cols = 4099 } },
  { "matmul.py", { m = 130, n = 70, k = 100 } }, { "gelu.py", {} }, { "layernorm.py", {} },
  { "row_sum.py", {} }, { "matmul.py", {} },
} do
  check.test("every rung is right on " .. case[1] .. " " .. require("cawb.core").json.encode(case[2]), function()
    local t <close> = open(case[1], case[2])
    local family = assert(families.match(t))
    for n = 1, #family.versions do
      local result = assert(cawb.verify(t, family:rung(n, t), { trials = 2 }))
      assert(result.ok, family.versions[n] .. ": " .. tostring(result.reason))
    end
  end)
end

return check.done()
