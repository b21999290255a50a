__device__ float larger(float a, float b) { return a > b || a != a ? a : b; }   // NaN wins

extern "C" __global__ void wide_max(float *y, const float *x, int cols) {
  __shared__ float part[8];
  const float *row = x + (size_t)blockIdx.x * cols;
  float most = -INFINITY;
  for (int i = threadIdx.x; i < cols; i += 256) most = larger(most, row[i]);
  for (int s = 16; s > 0; s /= 2) most = larger(most, __shfl_xor_sync(~0u, most, s));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
  __syncthreads();
  for (int i = 0; i < 8; i++) most = larger(most, part[i]);
  if (threadIdx.x == 0) y[blockIdx.x] = most;
}
