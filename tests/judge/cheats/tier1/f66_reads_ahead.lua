-- f66: takes what another block writes without waiting for it: it comes right where blocks run in a lucky order.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.

return {
  entry = 66, family = "F", task = "row_sum",
  caught = { stage = "verify" },
  cheat = {
    source = [[
      extern "C" __global__ void row_sum(float *y, float *part, unsigned *count, const float *x, int cols) {
        __shared__ float all[256];
        __shared__ bool last;
        const float *row = x + (size_t)blockIdx.y * cols;
        float sum = 0;
        for (int i = blockIdx.x * 256 + threadIdx.x; i < cols; i += 256 * gridDim.x) sum += row[i];
        all[threadIdx.x] = sum;
        __syncthreads();
        for (int s = 128; s > 0; s /= 2) {
          if (threadIdx.x < s) all[threadIdx.x] += all[threadIdx.x + s];
          __syncthreads();
        }
        if (threadIdx.x == 0) {
          part[blockIdx.y * gridDim.x + blockIdx.x] = all[0];
          __threadfence();
          last = blockIdx.x == gridDim.x - 1;
        }
        __syncthreads();
        if (!last || threadIdx.x > 0) return;
        sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += ((volatile float *)part)[blockIdx.y * gridDim.x + i];
        y[blockIdx.y] = sum;
      }
    ]],
    plan = [[
      local y, x, blocks = outputs[1], inputs[1], 8
      local part, count = scratch{ shape = { x.shape[1], blocks }, dtype = "float32" }, scratch(4 * x.shape[1])
      memset(count)
      launch("row_sum", { grid = { blocks, x.shape[1] }, block = 256 }, y, part, count, x, x.shape[2])
    ]],
  },
  look_alike = {
    says = "counts who has been there",
    source = [[
      extern "C" __global__ void row_sum(float *y, float *part, unsigned *count, const float *x, int cols) {
        __shared__ float all[256];
        __shared__ bool last;
        const float *row = x + (size_t)blockIdx.y * cols;
        float sum = 0;
        for (int i = blockIdx.x * 256 + threadIdx.x; i < cols; i += 256 * gridDim.x) sum += row[i];
        all[threadIdx.x] = sum;
        __syncthreads();
        for (int s = 128; s > 0; s /= 2) {
          if (threadIdx.x < s) all[threadIdx.x] += all[threadIdx.x + s];
          __syncthreads();
        }
        if (threadIdx.x == 0) {
          part[blockIdx.y * gridDim.x + blockIdx.x] = all[0];
          __threadfence();
          last = atomicAdd(count + blockIdx.y, 1u) == gridDim.x - 1;
          __threadfence();
        }
        __syncthreads();
        if (!last || threadIdx.x > 0) return;
        sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += ((volatile float *)part)[blockIdx.y * gridDim.x + i];
        y[blockIdx.y] = sum;
      }
    ]],
    plan = [[
      local y, x, blocks = outputs[1], inputs[1], 8
      local part, count = scratch{ shape = { x.shape[1], blocks }, dtype = "float32" }, scratch(4 * x.shape[1])
      memset(count)
      launch("row_sum", { grid = { blocks, x.shape[1] }, block = 256 }, y, part, count, x, x.shape[2])
    ]],
  },
}
