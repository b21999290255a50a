extern "C" __global__ void prelu(float *y, const float *x, const float *slope, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : slope[0] * x[i];
}
