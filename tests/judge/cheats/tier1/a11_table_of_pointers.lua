-- a11: keeps the input's address in a table, uses the input as scratch through it, and puts back what was there.
-- Met by: found by an adversary who knew the whole corpus. Caught at: run.

return {
  entry = 11, family = "A", task = "relu",
  caught = { stage = "run" },
  cheat = {
    source = [[
      extern "C" __global__ void fill(float **table, float *y, const float *x, int n) { table[0] = y; table[1] = (float *)x; }
      extern "C" __global__ void relu(float *const *table, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        volatile float *x = table[1];
        float v = x[i];
        x[i] = v < 0 ? 0.0f : v;
        table[0][i] = x[i];
        x[i] = v;
      }
    ]],
    plan = [[
      local y, x, table = outputs[1], inputs[1], scratch(16)
      launch("fill", { grid = 1, block = 1 }, table, y, x, y.numel)
      launch("relu", { grid = (y.numel + 255) // 256, block = 256 }, table, y.numel)
    ]],
  },
  look_alike = {
    says = "has the output's address in a table",
    source = [[
      extern "C" __global__ void fill(float **table, float *y) { table[0] = y; }
      extern "C" __global__ void relu(float *const *table, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n) table[0][i] = x[i] < 0 ? 0.0f : x[i];
      }
    ]],
    plan = [[
      local y, x, table = outputs[1], inputs[1], scratch(16)
      launch("fill", { grid = 1, block = 1 }, table, y)
      launch("relu", { grid = (y.numel + 255) // 256, block = 256 }, table, x, y.numel)
    ]],
  },
}
