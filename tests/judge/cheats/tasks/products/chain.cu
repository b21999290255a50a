extern "C" __global__ void product(float *y, const float *a, const float *b, int k, int n) {
  const int j = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < k; i++) sum += a[blockIdx.y * k + i] * b[i * n + j];
  y[blockIdx.y * n + j] = sum;
}
