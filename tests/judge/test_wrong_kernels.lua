-- Wrong kernels, each rejected with its reason, on the simulated device. A right
-- one stands first: a judge that rejects everything would pass the rest.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local options = require "cawb.base.options"

local device <close> = assert(cawb.device "sim:h100")
local task <close> = assert(cawb.task("examples/softmax.py",
  { device = device, task = { rows = 16, cols = 300 } }))

local source = [[
#define T 128
extern "C" __global__ void softmax(float *y, const float *x, int cols) {
  __shared__ float part[T];
  const float *row = x + (size_t)blockIdx.x * cols;
  float m = -INFINITY;
  for (int i = threadIdx.x; i < cols; i += T) m = fmaxf(m, row[i]);
  part[threadIdx.x] = m;
  __syncthreads();                                     // after the store
  for (int s = T / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + s]);
    __syncthreads();
  }
  m = part[0];
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += T) sum += expf(row[i] - m);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = T / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  float inv = 1.0f / part[0];
  for (int i = threadIdx.x; i < cols; i += T)
    y[(size_t)blockIdx.x * cols + i] = expf(row[i] - m) * inv;
}
]]

local plan = [[
local x, y = inputs[1], outputs[1]
launch("softmax", { grid = x.shape[1], block = 128 }, y, x, x.shape[2])
]]

local edit = check.edit

local function verify(changed_source, changed_plan, opts)
  local candidate = cawb.candidate { source = changed_source or source, plan = changed_plan or plan }
  return assert(cawb.verify(task, candidate, opts or { trials = 2 }))
end

local function rejected(stage, pattern, ...)
  local result = verify(...)
  assert(not result.ok, "it was accepted")
  check.equal(result.stage, stage, "stage")
  check.matches(result.reason, pattern)
end

check.test("the right kernel passes, five inputs", function()
  local result = verify(nil, nil, { trials = 5 })
  assert(result.ok, result.reason)
  check.equal(#result.trials, 5)
  assert(result.error.worst > 0 and result.error.worst < 1e-6)
end)

check.test("a missing barrier is a race, named with its lines", function()
  rejected("verify", "race on shared memory.*softmax",
    edit(source, "  __syncthreads();                                     // after the store", ""))
end)

check.test("an off-by-one read outside the tensor is named", function()
  rejected("run", "inputs%[1%]", edit(source, "for (int i = threadIdx.x; i < cols; i += T) m",
    "for (int i = threadIdx.x; i <= cols; i += T) m"))
end)

check.test("an off-by-one write outside the tensor is named", function()
  rejected("run", "outputs%[1%]", edit(source, "* cols + i] =", "* cols + i + 1] ="))
end)

check.test("a loop that forgets the last element", function()
  rejected("verify", "outputs%[1%]", edit(source, "i < cols; i += T) sum", "i < cols - 1; i += T) sum"))
end)

check.test("one skipped row is found by its poison", function()
  rejected("verify", "300 of 4800 elements were never written", nil,
    edit(plan, "grid = x.shape[1]", "grid = x.shape[1] - 1"))
end)

check.test("one row written with another's values", function()
  rejected("verify", "outputs%[1%] is wrong",
    edit(source, "y[(size_t)blockIdx.x * cols + i] =",
      "y[(size_t)blockIdx.x * cols + i] = blockIdx.x == 3 ? 1.0f / cols :"))
end)

check.test("NaN never passes", function()
  rejected("verify", "NaN", edit(source, "* inv;", "* inv + (blockIdx.x == 7 && i == 9 ? NAN : 0);"))
end)

check.test("infinity never passes", function()
  rejected("verify", "infinite", edit(source, "* inv;", "* inv + (i == 9 ? INFINITY : 0);"))
end)

check.test("inputs are read-only", function()
  rejected("run", "softmax wrote to inputs%[1%]: inputs and parameters are read%-only",
    edit(edit(source, "const float *x, int cols", "float *x, int cols"), "* inv;", "* inv; x[0] = 0;"))
end)

check.test("a kernel that only works once: outputs and scratch are poisoned before every call", function()
  local once = edit(edit(source, "float *y, const", "float *seen, float *y, const"), "  const float *row",
    "  if (seen[blockIdx.x] == 1) return;\n  __syncthreads();\n  if (threadIdx.x == 0) seen[blockIdx.x] = 1;\n  const float *row")
  local marked = 'local s = scratch{ shape = {inputs[1].shape[1]} }\n' .. edit(plan, "}, y", "}, s, y")
  rejected("verify", "reads memory that nothing has written.*of scratch%[1%]", once, marked)
  local result = verify(once, edit(marked, "}\n", "}\nmemset(s)\n"))
  assert(result.ok, result.reason)             -- it never finds its own mark
end)

check.test("all zeros", function()
  rejected("verify", "outputs%[1%] is wrong", edit(source, "* inv;", "* 0;"))
end)

check.test("a kernel that writes nothing", function()
  rejected("verify", "4800 of 4800 elements were never written",
    edit(source, "y[(size_t)blockIdx.x * cols + i] = expf(row[i] - m) * inv", "m += inv"))
end)

check.test("reduced precision is seen against float64", function()
  rejected("verify", "above .* eager PyTorch's own",
    edit(source, "* inv;", "* inv * (1.0f + 1e-4f);"))
end)

check.test("an endless loop is stopped by its deadline, and the next candidate runs", function()
  local before = device.workers
  local hasty = options.copy(cawb.defaults)
  hasty.deadlines.run = 0.5
  rejected("run", "did not end in time.*endless loop", edit(source, "  float sum = 0;",
    "  float sum = 0; while (cols > 0) { volatile int *p = &cols; if (*p < 0) break; }"), nil, { trials = 2, options = hasty })
  local result = verify()
  assert(result.ok, result.reason)
  check.equal(device.workers, before + 1, "workers started")
end)

check.test("an endless loop in a plan is the plan's failure", function()
  rejected("plan", "plan%.lua:1: too many instructions", nil, "while true do end")
end)

check.test("a source that does not compile", function()
  rejected("compile", "kernel%.cu%(%d+%)", edit(source, "float sum = 0;", "float sum = zero;"))
end)

check.test("a source that reads the machine's files", function()
  rejected("compile", "#include", '#include "/etc/passwd"\n' .. source)
end)

check.test("a plan that asks for more memory than there is", function()
  local result = verify(nil, "local s = scratch(100 << 30)\n" .. plan)
  assert(not result.ok, "it was accepted")
  check.matches(result.reason, "scratch%[1%]")
  assert(verify().ok, "the next candidate failed")
end)

check.test("a plan that names no kernel", function()
  rejected("plan", "there is no kernel 'softmx' in kernel%.cu %(it has: softmax%)", nil,
    edit(plan, '"softmax"', '"softmx"'))
end)

check.test("a barrier that only a part of the block reaches", function()
  rejected("run", "barrier %d was reached by %d+ of 128 threads", edit(source, "  m = part[0];\n  __syncthreads();",
    '  m = part[0];\n  if (threadIdx.x < 32) asm volatile("bar.sync 3;"); else __syncthreads();'))
end)

check.test("threads that returned early are not waited for, as on hardware", function()
  local result = verify(edit(source, "  float m =", "  if (threadIdx.x >= T) return;\n  float m ="),
    edit(plan, "block = 128", "block = 160"))
  assert(result.ok, result.reason)
end)

check.test("what nvcc's users take for granted is there", function()
  local result = verify("#include <math.h>\n#include <cfloat>\n#include <stdint.h>\n#include \"cuda_runtime.h\"\n"
    .. "__device__ const uint32_t some = INT_MAX_HERE;\n" .. edit(source, "-INFINITY", "-FLT_MAX * (float)(M_PI / M_PI)"))
  assert(not result.ok)
  check.matches(result.reason, "INT_MAX_HERE")          -- the headers before it were found
  result = verify("#include <math.h>\n#include <cfloat>\n#include <stdint.h>\n#include \"cuda_runtime.h\"\n"
    .. edit(source, "-INFINITY", "-FLT_MAX * (float)(M_PI / M_PI)"))
  assert(result.ok, result.reason)
end)

check.test("a product of warpgroups with a step left out, or its tiles told wrongly", function()
  local skills = require "cawb.agent.skills"
  local page = skills.get "warpgroup-mma"
  local right, launches = skills.fragments(page, "cuda")[1], skills.fragments(page, "lua")[1]
  local product <close> = assert(cawb.task("skills/arithmetic/product_bf16.py",
    { device = device, task = { m = 64, n = 64, k = 32 } }))
  local function result(from, to)
    local changed = from and edit(right, from, to) or right
    return assert(cawb.verify(product, cawb.candidate { source = changed, plan = launches }, { trials = 1 }))
  end
  local wait = '"wgmma.wait_group.sync.aligned 0;"'
  assert(result().ok)
  for _, wrong in ipairs {
    { '"wgmma.fence.sync.aligned;"', '""', "register memory.*with no wgmma.fence before it" },
    { '"fence.proxy.async.shared::cta;"', '""', "shared memory.*without fence.proxy.async" },
    { wait, '""', "which a warpgroup product may still read" },
    { wait .. ' ::: "memory");\n    __syncthreads();', wait .. ' ::: "memory");', "no __syncthreads%(%) between" },
    { "(1024ull >> 4) << 16 | (128ull >> 4) << 32", "(128ull >> 4) << 16 | (1024ull >> 4) << 32",
      "wgmma reads A up to byte" },
    { "(k / 8) * 512 + (row / 8) * 64", "(k / 8) * 64 + (row / 8) * 128", "outputs%[1%]" }
  } do
    local got = result(wrong[1], wrong[2])
    assert(not got.ok, wrong[3])
    check.matches(got.reason, wrong[3])
  end
end)

-- y = the largest of a row, of all but those that `skip` names; from `first` on.
local function largest(skip, first)
  return ([[
extern "C" __global__ void largest(float *y, const float *x, int cols) {
  if (threadIdx.x) return;
  float most = %s;
  for (int i = 0; i < cols; i++) {
    float v = x[blockIdx.x * cols + i];
    if (!(%s) && !(v <= most)) most = v;
    if (most != most) break;
  }
  y[blockIdx.x] = most;
}]]):format(first, skip)
end

check.test("one element that a maximum leaves out, or a maximum that begins too high, wherever that is", function()
  local path = check.write(check.folder() .. "/largest.py", [[
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x.amax(1)
def get_inputs():
    return [torch.randn(4, 150)]
def get_init_inputs():
    return []
]])
  local rows <close> = assert(cawb.task(path, { device = device }))
  check.equal(rows.places, 38)
  local function result(skip, first)
    local launches = 'launch("largest", { grid = 4, block = 32 }, outputs[1], inputs[1], inputs[1].shape[2])'
    local kernel = cawb.candidate { source = largest(skip, first or "-INFINITY"), plan = launches }
    return assert(cawb.verify(rows, kernel, { trials = 1 }))
  end
  local right = result "false"
  assert(right.ok, right.reason)
  assert(right.battery.places and not right.battery.places.left_out)
  for _, skip in ipairs { "i == 77", "i == 128", "i == 31", "i == 149", "i == 0" } do
    check.equal(result(skip).ok, false, skip)
  end
  check.equal(result("false", "-6.0f").ok, false, "begins at -6")
end)

return check.done()
