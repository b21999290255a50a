// Half of the threads add what the other half has, until one is left: a barrier for each halving.
extern "C" __global__ void row_sum(float *y, const float *x, int cols) {
  __shared__ float part[256];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = t; i < cols; i += 256) sum += x[(size_t)blockIdx.x * cols + i];
  part[t] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = part[0];
}
