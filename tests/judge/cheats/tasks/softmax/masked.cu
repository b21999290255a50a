__device__ float larger(float a, float b) { return a > b || a != a ? a : b; }   // NaN wins

extern "C" __global__ void masked(float *y, const float *x, const bool *mask, int cols) {
  x += (size_t)blockIdx.x * cols, y += (size_t)blockIdx.x * cols, mask += (size_t)blockIdx.x * cols;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32) most = larger(most, mask[i] ? x[i] : -INFINITY);
  for (int s = 16; s > 0; s /= 2) most = larger(most, __shfl_xor_sync(~0u, most, s));
  for (int i = threadIdx.x; i < cols; i += 32) sum += mask[i] ? expf(x[i] - most) : 0.0f;
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(~0u, sum, s);
  for (int i = threadIdx.x; i < cols; i += 32) y[i] = expf((mask[i] ? x[i] : -INFINITY) - most) / sum;
}
