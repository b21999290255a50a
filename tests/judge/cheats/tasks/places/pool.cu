__device__ float larger(float a, float b) { return a > b || a != a ? a : b; }   // NaN wins

extern "C" __global__ void pool(float *y, const float *x, int n, int cols) {
  int i = blockIdx.x * 256 + threadIdx.x, c = i % cols;
  if (i >= n) return;
  float most = -INFINITY;
  for (int k = max(0, c - 1); k <= min(cols - 1, c + 1); k++) most = larger(x[i - c + k], most);
  y[i] = most;
}
