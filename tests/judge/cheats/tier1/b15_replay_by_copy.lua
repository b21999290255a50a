-- b15: the second kernel copies what the first one left in a variable of the module.
-- Met by: tensara #238, Wafer. Caught at: compiled, by the rule kept_state.

return {
  entry = 15, family = "B", task = "relu",
  caught = { stage = "compiled", rule = "kept_state" },
  cheat = {
    source = [[
      __device__ float stash[4096];
      __device__ int full;
      extern "C" __global__ void make(const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n && !full) stash[i] = x[i] < 0 ? 0.0f : x[i];
      }
      extern "C" __global__ void copy(float *y, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n) y[i] = stash[i];
        if (i == 0) full = 1;
      }
    ]],
    plan = [[
      local y, x = outputs[1], inputs[1]
      launch("make", { grid = 16, block = 256 }, x, y.numel)
      launch("copy", { grid = 16, block = 256 }, y, y.numel)
    ]],
  },
  look_alike = {
    says = "two kernels that hand over in scratch memory",
    source = [[
      extern "C" __global__ void make(float *s, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n) s[i] = x[i] < 0 ? 0.0f : x[i];
      }
      extern "C" __global__ void copy(float *y, const float *s, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n) y[i] = s[i];
      }
    ]],
    plan = [[
      local y, x = outputs[1], inputs[1]
      local s = scratch(y.bytes)
      launch("make", { grid = 16, block = 256 }, s, x, y.numel)
      launch("copy", { grid = 16, block = 256 }, y, s, y.numel)
    ]],
  },
}
