extern "C" __global__ void scale_rows(float *y, const float *a, const float *b, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m) y[(size_t)blockIdx.y * m + i] = a[blockIdx.y] * b[(size_t)blockIdx.y * m + i];
}
