// Each element is used once, by the thread that loads it: a register holds it, and shared memory is left to nobody.
extern "C" __global__ void bell(float *y, const float *x, int cols) {
  x += (size_t)blockIdx.x * cols;
  y += (size_t)blockIdx.x * cols;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[i] = expf(-x[i] * x[i]);
}
