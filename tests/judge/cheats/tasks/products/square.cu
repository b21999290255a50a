extern "C" __global__ void product(float *y, const float *a, const float *b, int n, int m) {
  const int i = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int p = 0; p < n; p++) sum += a[i * n + p] * b[p * m + j];
  y[i * m + j] = sum;
}
