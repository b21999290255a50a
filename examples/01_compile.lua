-- cawb examples/01_compile.lua: from CUDA source to registers, without a GPU.
local cawb = require "cawb"

local source = [[
extern "C" __global__ void scale(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
]]

local device <close> = assert(cawb.device(... or "auto"))
local built = assert(cawb.compile { source = source, device = device })
print(("built for %s in %.0f ms"):format(device.info.arch, built.seconds * 1e3))
for _, k in ipairs(built.kernels) do
  print(("%s: %d registers, %d bytes spilled"):format(k.name, k.registers, k.spill_stores))
end
