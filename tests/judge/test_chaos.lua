-- Inputs on which nothing can be judged: one rounding of what goes in moves the reference far, so that two right
-- programs are far apart. The judge draws others, says so, and still catches what is wrong.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local candidates = require "cawb.judge.task.candidate"
local defaults = require "cawb.base.defaults"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local tasks = require "cawb.judge.task.task"
local verify = require "cawb.judge.verify.verify"

-- A map that is applied fifteen times: tame near the task's own inputs, chaotic far from them.
local task = [[
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(2048) + 0.5)

    def forward(self, x):
        mean = x.mean(1)
        rate = 1 + mean.abs().clamp(max=10) / 4
        y = mean / (1 + mean.abs())
        for _ in range(15):
            y = torch.sin(rate * y)
        return (y + 2).unsqueeze(1) * self.weight

def get_inputs():
    return [torch.rand(3, 2048)]
]]

-- The same, with sums, the first value and sines taken in other ways. FROM and TO are where a wrong one is cut off.
local source = [[
extern "C" __global__ void chaos(const float* x, const float* w, float* out) {
  __shared__ float part[128];
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = t; i < 2048; i += 128) sum += x[blockIdx.x * 2048 + i];
  part[t] = sum;
  __syncthreads();
  for (int n = 64; n > 0; n /= 2) {
    if (t < n) part[t] += part[t + n];
    __syncthreads();
  }
  float mean = fminf(fmaxf(part[0] / 2048.0f, FROM), TO), size = fabsf(mean);
  float rate = 1.0f + fminf(size, 10.0f) / 4.0f, y = copysignf(1.0f - 1.0f / (1.0f + size), mean);
  for (int i = 0; i < 15; i++) {
    float half = 0.5f * rate * y;
    y = 2.0f * sinf(half) * cosf(half);
  }
  for (int i = t; i < 2048; i += 128) out[blockIdx.x * 2048 + i] = (y + 2.0f) * w[i];
}
]]

local plan = 'launch("chaos", { grid = 3, block = 128 }, inputs[1], params.weight, outputs[1])'

local function candidate(from, to)
  return candidates.new { source = ("#define FROM %s\n#define TO %s\n%s"):format(from, to, source), plan = plan, name = "chaos" }
end

local right, fitted = candidate("-1e30f", "1e30f"), candidate("0.4f", "0.6f")
local path = check.write(check.folder() .. "/chaos.py", task)
local device <close> = assert(cawb.device "sim:h100")
local process, hello = assert(python.start(defaults.deadlines.start))

local function judged(one, seed)
  local all = options.copy(defaults)
  local open <close> = assert(tasks.open(path, { device = device, options = all, host = { process, hello }, seed = seed }))
  return assert(verify.verify(open, one, all, { trials = 1, battery = { "offset" }, repeats = 0 }))
end

check.test("of inputs on which the reference is chaotic others are drawn, and the record says why", function()
  local anew = 0
  for seed = 1, 6 do
    local facts = judged(right, tostring(seed))
    assert(facts.ok, facts.reason)
    local seen = facts.battery.offset
    check.equal(seen.left_out, nil)
    if seen.lowered then
      anew = anew + 1
      assert(seen.lowered.level == "again" or seen.lowered.level == "within", seen.lowered.level)
      assert(seen.lowered.why:find "one rounding of what goes in moves the reference" or seen.lowered.why:find "PyTorch itself is far",
        seen.lowered.why)
    end
  end
  assert(anew >= 3, anew)
end)

check.test("what is right on the task's own inputs alone is caught on the others, with every seed", function()
  for seed = 1, 4 do
    local facts = judged(fitted, tostring(seed))
    check.equal(facts.ok, false)
    check.matches(facts.reason, "^on inputs of the kind 'offset': outputs%[1%] is wrong")
  end
end)

process:close()
-- A recurrence that is chaos with weights of the usual size. The kernel does the same, from its first step on or from a later one.
local net = [[
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(64, 64) / 2)

    def forward(self, x):
        for _ in range(40):
            x = torch.tanh(x @ self.weight)
        return x

def get_inputs():
    return [torch.randn(8, 64)]
]]

local steps = [[
extern "C" __global__ void net(const float* x, const float* w, float* y) {
  __shared__ float now[64];
  int t = threadIdx.x;
  now[t] = x[blockIdx.x * 64 + t];
  __syncthreads();
  for (int i = FIRST; i < 40; i++) {
    float sum = 0;
    for (int k = 0; k < 64; k++) sum += now[k] * w[k * 64 + t];
    __syncthreads();
    now[t] = tanhf(sum) * BY;
    __syncthreads();
  }
  y[blockIdx.x * 64 + t] = now[t];
}
]]

check.test("a chaotic net is judged with smaller weights, and its notes say so", function()
  local own = options.copy(defaults)
  local task <close> = assert(tasks.open(check.write(check.folder() .. "/net.py", net), { device = device, options = own }))
  check.matches(table.concat(task.notes, "\n"), "it is judged with weights [%d.]+ times as large")
  local function verdict(first, by)
    return assert(verify.verify(task, candidates.new { name = "net", plan = 'launch("net", { grid = 8, block = 64 }, inputs[1], params.weight, outputs[1])',
      source = ("#define FIRST %d\n#define BY %s\n%s"):format(first, by, steps) }, own))
  end
  local right = verdict(0, "1.0f")
  assert(right.ok, right.reason)
  assert(not verdict(0, "1.001f").ok and not verdict(1, "1.0f").ok, "a wrong one passed")
end)

return check.done()
