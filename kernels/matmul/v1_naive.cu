// Changed: nothing yet. One thread per element of C; x runs down the rows, as in the formula c[i][j].
// Why:     it is the definition written down, and what the rest is measured against.
// Look at: sectors per request: the lanes of a warp read A, and write C, a whole row apart.

extern "C" __global__ void matmul(float *__restrict__ c, const float *__restrict__ a,
                                  const float *__restrict__ b, int m, int n, int k) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;

  float sum = 0.0f;
  for (int i = 0; i < k; i++) sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
  c[(size_t)row * n + col] = sum;
}
