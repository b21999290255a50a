extern "C" __global__ void frozen(float *y, const float *x, const float *scale, int n, int cols) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = tanhf(x[i] * scale[i % cols]);
}
