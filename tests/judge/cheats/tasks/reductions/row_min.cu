__device__ float smaller(float a, float b) { return a < b || a != a ? a : b; }   // NaN wins

extern "C" __global__ void row_min(float *y, const float *x, int cols) {
  float least = INFINITY;
  for (int i = threadIdx.x; i < cols; i += 32) least = smaller(least, x[(size_t)blockIdx.x * cols + i]);
  for (int s = 16; s > 0; s /= 2) least = smaller(least, __shfl_xor_sync(~0u, least, s));
  if (threadIdx.x == 0) y[blockIdx.x] = least;
}
