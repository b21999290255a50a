// All of a piece is there before it is read, and all of it was read before the next one comes.
extern "C" __global__ void reverse(float *y, const float *x, int cols) {
  __shared__ float piece[128];
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  for (int first = 0; first < cols; first += 128) {
    piece[127 - threadIdx.x] = x[first + threadIdx.x];
    __syncthreads();
    y[cols - 128 - first + threadIdx.x] = piece[threadIdx.x];
    __syncthreads();
  }
}
