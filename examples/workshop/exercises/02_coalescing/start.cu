// Each thread computes 32 elements that lie side by side.
extern "C" __global__ void square(float *y, const float *x, int n) {
  int first = 32 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < first + 32 && i < n; i++) y[i] = x[i] * x[i];
}
