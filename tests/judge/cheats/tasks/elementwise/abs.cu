extern "C" __global__ void magnitude(float *y, const float *x, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = fabsf(x[i]);
}
