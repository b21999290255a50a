// The threads of a warp take elements that lie side by side, and all go on by the size of the grid.
extern "C" __global__ void square(float *y, const float *x, int n) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) y[i] = x[i] * x[i];
}
