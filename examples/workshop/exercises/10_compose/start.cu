// The product as it is written: all of a row of it, of which one element is wanted.
extern "C" __global__ void partners(float *y, const float *a, const float *b, int n, int k) {
  for (int row = 4 * blockIdx.x; row < 4 * blockIdx.x + 4 && row < n; row++)
    for (int col = threadIdx.x; col < n; col += blockDim.x) {
      float sum = 0;
      for (int i = 0; i < k; i++) sum += a[row * k + i] * b[col * k + i];
      if (col == row) y[row] = sum;
    }
}
