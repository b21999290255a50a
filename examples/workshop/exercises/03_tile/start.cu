// y[c][r] = x[r][c]: the loads are coalesced, and the stores are not.
extern "C" __global__ void transpose(float *y, const float *x, int rows, int cols) {
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (r + k < rows && c < cols) y[c * rows + r + k] = x[(r + k) * cols + c];
}
