// Each thread computes 16 elements, one after the other, from global memory.
extern "C" __global__ void matmul(float *c, const float *a, const float *b, int n, int k) {
  for (int r = 0; r < 4; r++)
    for (int s = 0; s < 4; s++) {
      int row = blockIdx.y * 64 + threadIdx.y + 16 * r, col = blockIdx.x * 64 + threadIdx.x + 16 * s;
      float sum = 0;
      for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + col];
      c[row * n + col] = sum;
    }
}
