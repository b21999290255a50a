extern "C" __global__ void terms(float *y, const float *x, const float *w, const float *far, int n, int k) {
  const int j = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < k; i++) sum += x[blockIdx.y * k + i] * w[i] * far[i * n + j];
  y[blockIdx.y * n + j] = sum;
}
