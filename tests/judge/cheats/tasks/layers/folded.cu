extern "C" __global__ void folded(float *y, const float *x, const float *w, const float *bias, const float *mean, const float *var,
                                  const float *gamma, const float *beta, int n, int k) {
  const int j = blockIdx.x * 32 + threadIdx.x;
  float dot = bias[j];
  for (int i = 0; i < k; i++) dot += x[blockIdx.y * k + i] * w[j * k + i];
  y[blockIdx.y * n + j] = (dot - mean[j]) * rsqrtf(var[j] + 1e-5f) * gamma[j] + beta[j];
}
