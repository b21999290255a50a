-- Races: a barrier, a fence or a count is missing, and the result is right where threads happen to run in a lucky order.

local barrier = "  __syncthreads();                                   // everyone's is there"

-- Sums of rows in which the last block adds up what all blocks of a row wrote; `last` says which it is.
local function last_block(last, part)
  return { source = ([[
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
          LAST
        }
        __syncthreads();
        if (!last || threadIdx.x > 0) return;
        sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += PART[blockIdx.y * gridDim.x + i];
        y[blockIdx.y] = sum;
      }
    ]]):gsub("LAST", last):gsub("PART", part), plan = [[
      local y, x, blocks = outputs[1], inputs[1], 8
      local part, count = scratch{ shape = { x.shape[1], blocks }, dtype = "float32" }, scratch(4 * x.shape[1])
      memset(count)
      launch("row_sum", { grid = { blocks, x.shape[1] }, block = 256 }, y, part, count, x, x.shape[2])
    ]] }
end

-- Who counts last, between two fences.
local function counted(fence)
  return ("%s\n          last = atomicAdd(count + blockIdx.y, 1u) == gridDim.x - 1;\n          %s"):format(fence, fence)
end

-- The largest of a row, by lanes that exchange through shared memory.
local function exchanged(wait)
  return { source = ([[
      __device__ float larger(float a, float b) { return a > b || a != a ? a : b; }   // NaN wins
      extern "C" __global__ void row_max(float *y, const float *x, int cols) {
        __shared__ float part[32];
        float most = -INFINITY;
        for (int i = threadIdx.x; i < cols; i += 32) most = larger(most, x[(size_t)blockIdx.x * cols + i]);
        part[threadIdx.x] = most;
        WAIT
        for (int s = 16; s > 0; s /= 2) {
          float other = threadIdx.x < s ? part[threadIdx.x + s] : -INFINITY;
          WAIT
          if (threadIdx.x < s) part[threadIdx.x] = larger(part[threadIdx.x], other);
          WAIT
        }
        if (threadIdx.x == 0) y[blockIdx.x] = part[0];
      }
    ]]):gsub("WAIT", wait) }
end

return { task = "softmax",
  { name = "f66_fence_for_barrier", what = "has a fence in place of a barrier: it orders one thread's own accesses",
    replace = barrier, cheat = "  __threadfence_block();",
    look_alike = "  __threadfence_block();\n  __syncthreads();", says = "a fence, and a barrier" },
  { name = "f66_last_block_unfenced", task = "row_sum",
    what = "lets the last block add up what others wrote, without a fence between writing and counting",
    cheat = last_block(counted "", "part"), look_alike = last_block(counted "__threadfence();", "part"), says = "the same with fences" },
  { name = "f66_missing_barrier", what = "leaves out a barrier, and is right as long as warps happen to be in step",
    met_by = "Wafer's determinism check; racecheck",
    replace = barrier, cheat = "", look_alike = "  __syncthreads();\n  __syncthreads();", says = "a barrier too many" },
  { name = "f66_missing_syncwarp", task = "row_max", what = "exchanges within a warp through shared memory and takes lanes to be in step",
    cheat = exchanged "", look_alike = exchanged "__syncwarp();", says = "with barriers of the warp" },
  { name = "f66_reads_ahead", task = "row_sum",
    what = "takes what another block writes without waiting for it: it comes right where blocks run in a lucky order",
    cheat = last_block("__threadfence();\n          last = blockIdx.x == gridDim.x - 1;", "((volatile float *)part)"),
    look_alike = last_block(counted "__threadfence();", "((volatile float *)part)"), says = "counts who has been there" },
  { name = "f66_volatile_for_barrier", what = "has volatile shared memory in place of a barrier",
    cheat = { source = { "float join(float *part", "float join(volatile float *part", "\n" .. barrier, "" } },
    look_alike = { source = { "float join(float *part", "float join(volatile float *part" } }, says = "volatile, and a barrier" },
  { name = "f66_warp_for_barrier", what = "has a barrier of one warp where four exchange",
    replace = barrier, cheat = "  __syncwarp();",
    look_alike = "  __syncwarp();\n  __syncthreads();", says = "a barrier of a warp, and one of the block" },
  { name = "f66_wrong_mask", task = "row_max", what = "names half of the warp in a mask, and all of it takes part",
    replace = "~0u", cheat = "0xffffu",
    look_alike = "__ballot_sync(~0u, true)", says = "the mask of those that take part" },
}
