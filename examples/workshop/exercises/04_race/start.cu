// Pieces of 128 elements are turned round in shared memory. Something is missing.
extern "C" __global__ void reverse(float *y, const float *x, int cols) {
  __shared__ float piece[128];
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  for (int first = 0; first < cols; first += 128) {
    piece[127 - threadIdx.x] = x[first + threadIdx.x];
    y[cols - 128 - first + threadIdx.x] = piece[threadIdx.x];
  }
}
