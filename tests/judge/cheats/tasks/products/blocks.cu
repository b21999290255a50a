extern "C" __global__ void blocks(float *y, const float *a, const float *b, const float *c, int k, int n) {
  const int i = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int p = 0; p < 2 * k; p++) {
    float w = 0;
    if (i < k && p < k) w = a[i * k + p];
    if (i >= k && p >= k) w = b[(i - k) * k + p - k];
    sum += w * c[p * n + j];
  }
  y[i * n + j] = sum;
}
