extern "C" __global__ void relu(float *y, const float *x, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] < 0 ? 0.0f : x[i];          // a NaN stays one
}
