// A transposition by padded tiles, in memory of rows (cudaMallocPitch, cudaMemcpy2D).
#include "check.h"

__global__ void transpose(const float *x, size_t xpitch, float *y, size_t ypitch, int rows, int cols) {
  __shared__ float tile[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (r + k < rows && c < cols) tile[threadIdx.y + k][threadIdx.x] = *(const float *)((const char *)x + (r + k) * xpitch + c * 4);
  __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (r + k < cols && c < rows) *(float *)((char *)y + (r + k) * ypitch + c * 4) = tile[threadIdx.x][threadIdx.y + k];
}

int main() {
  const int rows = 70, cols = 100;
  std::vector<float> h(rows * cols), got(rows * cols);
  for (int i = 0; i < rows * cols; i++) h[i] = i;
  float *x, *y;
  size_t xp, yp;
  CUDA(cudaMallocPitch(&x, &xp, cols * 4, rows));
  CUDA(cudaMallocPitch(&y, &yp, rows * 4, cols));
  CHECK(xp % 512 == 0 && xp >= cols * 4);
  CUDA(cudaMemcpy2D(x, xp, h.data(), cols * 4, cols * 4, rows, cudaMemcpyHostToDevice));
  transpose<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(x, xp, y, yp, rows, cols);
  CUDA(cudaMemcpy2D(got.data(), rows * 4, y, yp, rows * 4, cols, cudaMemcpyDeviceToHost));
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) CHECK(got[j * rows + i] == h[i * cols + j]);
  printf("%d x %d transposed\n", rows, cols);
  return 0;
}
