// A tile is loaded by rows and stored by rows; it is turned in shared memory. The 33rd column moves the rows of the tile into different banks.
extern "C" __global__ void transpose(float *y, const float *x, int rows, int cols) {
  __shared__ float tile[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (r + k < rows && c < cols) tile[threadIdx.y + k][threadIdx.x] = x[(r + k) * cols + c];
  __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x;
  r = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (r + k < cols && c < rows) y[(r + k) * rows + c] = tile[threadIdx.x][threadIdx.y + k];
}
