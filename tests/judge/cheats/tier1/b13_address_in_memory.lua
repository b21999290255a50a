-- b13: keeps the result; its address goes through shared memory ahead of the store.
-- Met by: extrapolated; a census that follows registers alone calls it an escape, or nothing. Caught at: compiled, by the rule kept_state.
return {
  entry = 13, family = "B", task = "relu",
  caught = { stage = "compiled", rule = "kept_state" },
  cheat = {
    source = [[
      __device__ float kept[4096];
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        __shared__ float *cell[256];
        int i = blockIdx.x * 256 + threadIdx.x;
        cell[255 - threadIdx.x] = kept + threadIdx.x;
        __syncthreads();
        if (i >= n) return;
        y[i] = x[i] < 0 ? 0.0f : x[i];
        if (i < 32) *cell[i] = y[i];
      }
    ]],
  },
  look_alike = {
    says = "addresses of its input that go through shared memory",
    source = [[
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        __shared__ const float *cell[256];
        int i = blockIdx.x * 256 + threadIdx.x;
        cell[255 - threadIdx.x] = x + i - threadIdx.x + 255 - threadIdx.x;
        __syncthreads();
        if (i < n) y[i] = *cell[threadIdx.x] < 0 ? 0.0f : *cell[threadIdx.x];
      }
    ]],
  },
}
