// 16 of k at a time: tiles of both matrices go to shared memory, and 4 + 4 values from there to registers feed 16 multiplications.
extern "C" __global__ void matmul(float *c, const float *a, const float *b, int n, int k) {
  __shared__ float ta[64][17], tb[16][64];
  int x = threadIdx.x, y = threadIdx.y, top = blockIdx.y * 64, left = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int first = 0; first < k; first += 16) {
    for (int r = 0; r < 4; r++) {
      ta[y + 16 * r][x] = a[(top + y + 16 * r) * k + first + x];
      tb[y][x + 16 * r] = b[(first + y) * n + left + x + 16 * r];
    }
    __syncthreads();
    for (int i = 0; i < 16; i++) {
      float va[4], vb[4];
#pragma unroll
      for (int r = 0; r < 4; r++) va[r] = ta[y + 16 * r][i], vb[r] = tb[i][x + 16 * r];
#pragma unroll
      for (int r = 0; r < 4; r++)
#pragma unroll
        for (int s = 0; s < 4; s++) sum[r][s] += va[r] * vb[s];
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; r++)
#pragma unroll
    for (int s = 0; s < 4; s++) c[(top + y + 16 * r) * n + left + x + 16 * s] = sum[r][s];
}
