-- Registers that spill cost time on the simulated device: the same kernel, once with the registers that it wants and once
-- with fewer, on so few blocks that it has nothing to win by them.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local compile = require "cawb.gpu.compile"
local evaluate = require "cawb.judge.evaluate"
local options = require "cawb.base.options"

local task = check.write(check.folder() .. "/mix.py", [[
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        v = x.view(48, 1024)
        for _ in range(8):
            v = v * 0.5 + v.roll(-1, 0) * 0.25
        return v.sum(0)
def get_inputs():
    return [torch.rand(48 * 1024)]
]])

local source = [[
extern "C" __global__ void __launch_bounds__(256, BLOCKS) mix(float *y, const float *x) {
  const int t = blockIdx.x * 256 + threadIdx.x;
  float v[48];
#pragma unroll
  for (int i = 0; i < 48; i++) v[i] = x[i * 1024 + t];
#pragma unroll 1
  for (int n = 0; n < 8; n++) {
    const float first = v[0];
#pragma unroll
    for (int i = 0; i < 48; i++) v[i] = v[i] * 0.5f + (i < 47 ? v[i + 1] : first) * 0.25f;
  }
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 48; i++) sum += v[i];
  y[t] = sum;
}
]]

local device <close> = assert(cawb.device "sim:h100")

-- Seconds, and the bytes that spill.
local function timed(blocks)
  local all = options.copy(cawb.defaults)
  all.verify.battery, all.measure.launches = {}, 0
  local open <close> = assert(cawb.task(task, { device = device, options = all }))
  local c = cawb.candidate { source = source, plan = 'launch("mix", { grid = 4, block = 256 }, outputs[1], inputs[1])',
                             defines = { BLOCKS = blocks }, name = "mix" }
  local facts = assert(evaluate.candidate(open, c, all, { trials = 1, against = {} }))
  assert(facts.ok, facts.reason)
  local built = assert(compile.compile { source = source, device = device, defines = c:all_defines {}, options = {} })
  return facts.time_s.median, built.kernels[1].spill_stores
end

check.test("a kernel whose registers spill takes longer", function()
  local fast, none = timed(1)
  local slow, some = timed(8)
  check.equal(none, 0)
  assert(some > 0, "nothing spills")
  assert(slow > 1.1 * fast, ("%g s with spills, %g s without"):format(slow, fast))
end)

return check.done()
