-- Kernels whose output is an index, through the whole of verify on the simulator: honest ones
-- pass on every kind of inputs, and those that settle ties or near-ties wrongly do not.

local check = dofile "tests/support/check.lua"
local battery = require "cawb.judge.verify.battery"
local cawb = require "cawb"
local core = require "cawb.core"

local device <close> = assert(cawb.device "sim:h100")
local dir = check.folder()

local function task_of(forward, inputs)
  return assert(cawb.task(check.write(("%s/t%s.py"):format(dir, tostring({}):match "0x(%x+)"), ([[
import torch
class Model(torch.nn.Module):
    def forward(self, x, *w):
        return %s
def get_inputs():
    return [%s]
def get_init_inputs():
    return []
]]):format(forward, inputs)), { device = device }))
end

local argmax = [[
// The larger, and of equals the one that comes first.
__device__ bool better(float a, int i, float b, int j) { return a > b || (a == b && i < j); }

extern "C" __global__ void row_argmax(long long *y, const float *x, int cols) {
  float most = -INFINITY;
  int at = cols;
  for (int i = threadIdx.x; i < cols; i += 32) {
    float v = x[(size_t)blockIdx.x * cols + i];
    if (better(v, i, most, at)) most = v, at = i;
  }
  for (int s = 16; s > 0; s /= 2) {
    float other = __shfl_xor_sync(~0u, most, s);
    int place = __shfl_xor_sync(~0u, at, s);
    if (better(other, place, most, at)) most = other, at = place;
  }
  if (threadIdx.x == 0) y[blockIdx.x] = at;
}
]]
local plan = [[
local y, x = outputs[1], inputs[1]
launch("row_argmax", { grid = x.shape[1], block = 32 }, y, x, x.shape[2])
]]

local function verify(task, source, more)
  local c = cawb.candidate { source = source, plan = more or plan, name = "argmax" }
  return assert(cawb.verify(task, c))
end

local function edit(text, from, to)
  local at, last = text:find(from, 1, true)
  assert(at, "not in the text: " .. from)
  return text:sub(1, at - 1) .. to .. text:sub(last + 1)
end

check.test("an argmax is tried on inputs with ties, and an honest one passes them all", function()
  local task <close> = task_of("torch.argmax(x, dim=1)", "torch.randn(9, 200)")
  check.equal(task.outputs[1].index, "argmax")
  local r = verify(task, argmax)
  check.equal(r.ok, true, r.reason)
  for _, case in ipairs { "ties", "integers", "constant", "mixed" } do
    assert(r.battery[case] and not r.battery[case].left_out, core.json.encode(r.battery))
  end
  check.matches(r.battery.nan.left_out, "no place for NaN")
end)

check.test("the last of equals, or whichever came in, is not what PyTorch documents", function()
  local task <close> = task_of("torch.argmax(x, dim=1)", "torch.randn(9, 200)")
  for from, to in pairs { ["i < j"] = "i > j", ["a == b && i < j"] = "false" } do
    local r = verify(task, edit(argmax, from, to))
    check.equal(r.ok, false)
    check.matches(r.reason, "PyTorch documents argmax to return the first")
  end
end)

check.test("scores that are rounded on the way point to lesser ones", function()
  local task <close> = task_of("torch.argmax(x, dim=1)", "torch.rand(64, 300)")
  local r = verify(task, edit(argmax, "float v = x[(size_t)blockIdx.x * cols + i]",
    "float v = __uint_as_float(__float_as_uint(x[(size_t)blockIdx.x * cols + i]) & 0xffff0000u)"))
  check.equal(r.ok, false)
  check.matches(r.reason, "indices differ")
end)

check.test("where scores are computed, near-ties go either way", function()
  -- Columns come in pairs that differ by less than the rounding of a product.
  local task <close> = task_of("torch.argmax(x @ w[0], dim=1)",
    "torch.rand(40, 64), torch.rand(64, 1) + 6e-8 * torch.rand(64, 50)")
  local source = [[
extern "C" __global__ void row_argmax(long long *y, const float *x, const float *w, int k, int n) {
  float most = -INFINITY;
  int at = 0;
  for (int j = 0; j < n; j++) {
    float sum = 0;
    for (int i = k - 1; i >= 0; i--) sum += x[blockIdx.x * k + i] * w[i * n + j];
    if (sum > most) most = sum, at = j;
  }
  y[blockIdx.x] = at;
}
]]
  local call = [[
launch("row_argmax", { grid = inputs[1].shape[1], block = 1 }, outputs[1], inputs[1], inputs[2], inputs[1].shape[2],
  inputs[2].shape[2])
]]
  local r = verify(task, source, call)
  check.equal(r.ok, true, r.reason)
  local differ = 0
  for _, t in ipairs(r.trials) do differ = differ + t.outputs[1].mismatches end
  assert(differ > 0, "no near-tie was settled differently: the test says nothing")
  r = verify(task, edit(source, "i = k - 1", "i = k - 2"), call)
  check.equal(r.ok, false)
end)

check.test("tasks without indices are spared the kind", function()
  local task <close> = task_of("x + 1", "torch.rand(5)")
  for _, case in ipairs(battery.kinds(task, cawb.defaults.verify)) do assert(case ~= "ties") end
  check.equal(battery.kinds(task, cawb.defaults.verify, { "ties" })[1], "ties")
end)

return check.done()
