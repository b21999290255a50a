// Three passes over the row: its maximum, the sum, the result.
__device__ float join(float a, float b, bool top) { return top ? fmaxf(a, b) : a + b; }

// The maximum (top) or the sum over the block, for all of its threads.
__device__ float block_join(float v, bool top) {
  __shared__ float part[8];
  for (int d = 16; d > 0; d /= 2) v = join(v, __shfl_xor_sync(0xffffffff, v, d), top);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[0];
  for (int w = 1; w < 8; w++) v = join(v, part[w], top);
  return v;
}

extern "C" __global__ void softmax(float *y, const float *x) {
  x += (size_t)blockIdx.x * COLS;
  y += (size_t)blockIdx.x * COLS;
  float top = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < COLS; i += 256) top = fmaxf(top, x[i]);
  top = block_join(top, true);
  for (int i = threadIdx.x; i < COLS; i += 256) sum += expf(x[i] - top);
  sum = block_join(sum, false);
  for (int i = threadIdx.x; i < COLS; i += 256) y[i] = expf(x[i] - top) / sum;
}
