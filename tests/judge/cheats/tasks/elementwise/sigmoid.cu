__device__ float f(float x) { return 1 / (1 + expf(-x)); }

extern "C" __global__ void sigmoid(float *y, const float *x, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = f(x[i]);
}
