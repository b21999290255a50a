__device__ float joined(float v, int largest) {
  for (int s = 16; s > 0; s /= 2) {
    float other = __shfl_xor_sync(~0u, v, s);
    v = !largest ? v + other : v != v || v > other ? v : other;
  }
  return v;
}

extern "C" __global__ void softmax(float *y, const float *x, const float *c, const float *d, int cols) {
  const float *row = x + blockIdx.x * cols;
  float top = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32) {
    float v = row[i] + c[blockIdx.x] + d[i];
    top = v != v || v > top ? v : top;
  }
  top = joined(top, 1);
  for (int i = threadIdx.x; i < cols; i += 32) sum += expf(row[i] + c[blockIdx.x] + d[i] - top);
  sum = joined(sum, 0);
  for (int i = threadIdx.x; i < cols; i += 32) y[blockIdx.x * cols + i] = expf(row[i] + c[blockIdx.x] + d[i] - top) / sum;
}
