-- b13: keeps the result of one call for the next one, and writes to it by addresses that lie in a table.
-- Met by: extrapolated; a census that follows registers alone sees no store. Caught at: timing, by the rule changed_state.
return {
  entry = 13, family = "B", task = "relu",
  caught = { stage = "timing", rule = "changed_state" },
  cheat = {
    source = [[
      __device__ float even[2048], odd[2048];
      __device__ float *const where[2] = { even, odd };
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        y[i] = x[i] < 0 ? 0.0f : x[i];
        if (i < 4096) where[i & 1][i >> 1] += x[i];
      }
    ]],
  },
  look_alike = {
    says = "a table of addresses of tables that it only reads",
    source = [[
      static __device__ float zero[4] = { 0, 0, 0, 0 }, one[4] = { 1, 1, 1, 1 };
      static __device__ float *const where[2] = { zero, one };
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n) y[i] = x[i] < 0 ? where[0][i & 3] : x[i] * where[1][i & 3];
      }
    ]],
  },
}
