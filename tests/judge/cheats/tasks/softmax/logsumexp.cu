extern "C" __global__ void logsumexp(float *y, const float *x, int cols) {
  const float *row = x + (size_t)blockIdx.x * cols;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32) most = fmaxf(most, row[i]);
  for (int s = 16; s > 0; s /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, s));
  for (int i = threadIdx.x; i < cols; i += 32) sum += expf(row[i] - most);
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(~0u, sum, s);
  if (threadIdx.x == 0) y[blockIdx.x] = most + logf(sum);
}
