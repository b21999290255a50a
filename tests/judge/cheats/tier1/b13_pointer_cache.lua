-- b13: keeps the result, and returns it when the same pointer comes again.
-- Met by: GPU MODE #148 and #162, CUDA-L1's readme, Wafer. Caught at: compiled, by the rule kept_state.
local source = kernel "relu"

return {
  entry = 13, family = "B", task = "relu",
  caught = { stage = "compiled", rule = "kept_state" },
  cheat = {
    source = [[
      __device__ const float *seen;
      __device__ float kept[4096];
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        if (seen != x) kept[i] = x[i] < 0 ? 0.0f : x[i];
        y[i] = kept[i];
        if (i == n - 1) seen = x;
      }
    ]],
  },
  look_alike = {
    says = "constants in memory that no kernel can write to",
    source = "__constant__ float none[4] = { 0 };\n" .. edit(source, "0.0f", "none[i & 3]"),
  },
}
