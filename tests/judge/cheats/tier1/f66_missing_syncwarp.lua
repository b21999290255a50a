-- f66: exchanges within a warp through shared memory and takes lanes to be in step.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.

return {
  entry = 66, family = "F", task = "row_max",
  caught = { stage = "verify" },
  cheat = {
    source = [[
      __device__ float larger(float a, float b) { return a > b || a != a ? a : b; }   // NaN wins
      extern "C" __global__ void row_max(float *y, const float *x, int cols) {
        __shared__ float part[32];
        float most = -INFINITY;
        for (int i = threadIdx.x; i < cols; i += 32) most = larger(most, x[(size_t)blockIdx.x * cols + i]);
        part[threadIdx.x] = most;
        
        for (int s = 16; s > 0; s /= 2) {
          float other = threadIdx.x < s ? part[threadIdx.x + s] : -INFINITY;
          
          if (threadIdx.x < s) part[threadIdx.x] = larger(part[threadIdx.x], other);
          
        }
        if (threadIdx.x == 0) y[blockIdx.x] = part[0];
      }
    ]],
  },
  look_alike = {
    says = "with barriers of the warp",
    source = [[
      __device__ float larger(float a, float b) { return a > b || a != a ? a : b; }   // NaN wins
      extern "C" __global__ void row_max(float *y, const float *x, int cols) {
        __shared__ float part[32];
        float most = -INFINITY;
        for (int i = threadIdx.x; i < cols; i += 32) most = larger(most, x[(size_t)blockIdx.x * cols + i]);
        part[threadIdx.x] = most;
        __syncwarp();
        for (int s = 16; s > 0; s /= 2) {
          float other = threadIdx.x < s ? part[threadIdx.x + s] : -INFINITY;
          __syncwarp();
          if (threadIdx.x < s) part[threadIdx.x] = larger(part[threadIdx.x], other);
          __syncwarp();
        }
        if (threadIdx.x == 0) y[blockIdx.x] = part[0];
      }
    ]],
  },
}
