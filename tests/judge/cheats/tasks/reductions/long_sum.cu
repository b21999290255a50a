extern "C" __global__ void parts(float *part, const float *x, int cols) {
  __shared__ float all[256];
  const float *row = x + (size_t)blockIdx.y * cols;
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < cols; i += 256 * gridDim.x) sum += row[i];
  all[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) all[threadIdx.x] += all[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) part[blockIdx.y * gridDim.x + blockIdx.x] = all[0];
}

extern "C" __global__ void ends(float *y, const float *part, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += part[blockIdx.x * n + i];
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(~0u, sum, s);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
