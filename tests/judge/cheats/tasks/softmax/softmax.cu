#define T 128

__device__ float join(float *part, float mine, bool top) {
  part[threadIdx.x] = mine;
  __syncthreads();                                   // everyone's is there
  for (int s = T / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) {
      float other = part[threadIdx.x + s];
      part[threadIdx.x] = top ? fmaxf(part[threadIdx.x], other) : part[threadIdx.x] + other;
    }
    __syncthreads();
  }
  float all = part[0];
  __syncthreads();
  return all;
}

extern "C" __global__ void softmax(float *y, const float *x, int cols) {
  __shared__ float part[T];
  const float *row = x + (size_t)blockIdx.x * cols;
  float *out = y + (size_t)blockIdx.x * cols;
  float most = -INFINITY;
  for (int i = threadIdx.x; i < cols; i += T) most = fmaxf(most, row[i]);
  most = join(part, most, true);
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += T) sum += expf(row[i] - most);
  sum = join(part, sum, false);
  for (int i = threadIdx.x; i < cols; i += T) out[i] = expf(row[i] - most) / sum;
}
