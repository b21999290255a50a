// A row is held in shared memory, which can be written and read fast.
extern "C" __global__ void bell(float *y, const float *x, int cols) {
  __shared__ float row[4096];
  x += (size_t)blockIdx.x * cols;
  y += (size_t)blockIdx.x * cols;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) row[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[i] = expf(-row[i] * row[i]);
}
