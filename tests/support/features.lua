-- features: what a plan can say, from end to end, on whatever device it is given:
-- tests/gpu/test_features.lua runs it on the simulated one, tests/cuda/gpu on a real one.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"

return function(device_name)
  local dir = check.folder()
  local device <close> = assert(cawb.device(device_name))

  local function case(what, task_text, source, plan, judge)
    check.test(what, function()
      local path = check.write(dir .. "/task.py", "import torch\n" .. task_text)
      local task <close> = assert(cawb.task(path, { device = device }))
      judge(task, function(changed_source, changed_plan)
        local c = cawb.candidate { source = changed_source or source, plan = changed_plan or plan }
        local checked = assert(cawb.verify(task, c))
        if not checked.ok then return checked end
        return assert(cawb.measure(task, c, { against = {} }))
      end)
    end)
  end

  local function passes(_, run)
    local r = run()
    assert(r.ok, r.reason)
  end

  local linear = [[
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(24, 40)
    def forward(self, x):
        return self.fc(x)
def get_inputs():
    return [torch.randn(50, 24)]
def get_init_inputs():
    return []
]]
  local linear_source = [[
extern "C" __global__ void turn(float *t, const float *w, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * k) t[i % k * n + i / k] = w[i];
}
extern "C" __global__ void product(float *y, const float *x, const float *t, const float *b, int m, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  float sum = 0;
  for (int j = 0; j < k; j++) sum += x[i / n * k + j] * t[j * n + i % n];
  y[i] = sum + b[i % n];
}]]
  local linear_plan = [[
local w, b, x, y = params["fc.weight"], params["fc.bias"], inputs[1], outputs[1]
local n, k = w.shape[1], w.shape[2]
local t = scratch{ shape = {k, n}, dtype = "float32" }
prepare(function(p) launch("turn", { grid = (n * k + 63) // 64, block = 64 }, t, p["fc.weight"], n, k) end)
launch("product", { grid = (y.numel + 63) // 64, block = 64 }, y, x, t, b, x.shape[1], n, k)]]

  case("parameters, scratch and prepare", linear, linear_source, linear_plan, function(_, run)
    local r = run()
    assert(r.ok, r.reason)
    r = run(nil, (linear_plan:gsub("prepare(%b())", "")))
    assert(not r.ok, "scratch that nobody filled was accepted")
    r = run((linear_source:gsub("const float %*w, int n", "float *w, int n"):gsub("= w%[i%];", "= w[i]; w[i] = 0;")))
    assert(not r.ok, "a kernel that writes to a parameter was accepted")
  end)

  case("numbers and lists as inputs, several outputs, memset and two launches", [=[
class Model(torch.nn.Module):
    def forward(self, x, scale, pair):
        y = x * scale + pair[0]
        return y, y.sum(dim=0)
def get_inputs():
    return [torch.randn(7, 33), 2.5, [torch.randn(33), 4]]
def get_init_inputs():
    return []
]=], [[
extern "C" __global__ void scale(float *y, const float *x, const float *b, float s, int n, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * s + b[i % cols];
}
extern "C" __global__ void add(float *sum, const float *y, int n, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sum[i % cols], y[i]);
}]], [[
local x, y, sum = inputs[1], outputs[1], outputs[2]
local n, cols = x.numel, x.shape[2]
assert(inputs[3][2] == 4)
memset(sum)
launch("scale", { grid = (n + 63) // 64, block = 64 }, y, x, inputs[3][1], inputs[2], n, cols)
launch("add", { grid = (n + 63) // 64, block = 64 }, sum, y, n, cols)]], passes)

  case("half precision in, whole numbers out", [[
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2, (x > 0).to(torch.int64)
def get_inputs():
    return [torch.randn(1001).half()]
def get_init_inputs():
    return []
]], [[
#include <cuda_fp16.h>
extern "C" __global__ void f(__half *y, long long *positive, const __half *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = __float2half(__half2float(x[i]) * 2.0f);
  positive[i] = __half2float(x[i]) > 0.0f;
}]], [[
launch("f", { grid = (inputs[1].numel + 63) // 64, block = 64 }, outputs[1], outputs[2], inputs[1], inputs[1].numel)]],
  passes)

  case("an input that is not contiguous", [[
class Model(torch.nn.Module):
    def forward(self, x):
        return -x
def get_inputs():
    return [torch.randn(17, 29).t()]
def get_init_inputs():
    return []
]], [[
extern "C" __global__ void f(float *y, const float *x, int rows, int cols, int down, int across) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) y[i] = -x[i / cols * down + i % cols * across];
}]], [[
local x, y = inputs[1], outputs[1]
assert(x.strides[1] == 1 and x.strides[2] == 29)
launch("f", { grid = (x.numel + 63) // 64, block = 64 }, y, x, x.shape[1], x.shape[2], x.strides[1], x.strides[2])]],
  function(task, run)
    local r = run()
    -- the output keeps the reference's shape, and is contiguous whatever PyTorch's was
    assert(task.outputs[1].strides[2] == 1)
    assert(r.ok, r.reason)
  end)

  return check.done()
end
