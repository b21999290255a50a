// The row is loaded once, and stays in registers: a loop whose length the compiler knows is written out.
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

constexpr int EACH = (COLS + 255) / 256;

extern "C" __global__ void softmax(float *y, const float *x) {
  x += (size_t)blockIdx.x * COLS;
  y += (size_t)blockIdx.x * COLS;
  float v[EACH], top = -INFINITY, sum = 0;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int i = threadIdx.x + 256 * k;
    v[k] = i < COLS ? x[i] : -INFINITY;
    top = fmaxf(top, v[k]);
  }
  top = block_join(top, true);
#pragma unroll
  for (int k = 0; k < EACH; k++) sum += v[k] = expf(v[k] - top);
  sum = block_join(sum, false);
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int i = threadIdx.x + 256 * k;
    if (i < COLS) y[i] = v[k] / sum;
  }
}
