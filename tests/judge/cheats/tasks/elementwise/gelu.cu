__device__ float f(float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); }

extern "C" __global__ void gelu(float *y, const float *x, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = f(x[i]);
}
