// A tiled product of two matrices, with tiles in dynamic shared memory.
#include "check.h"

__global__ void product(const float *a, const float *b, float *c, int n, int tile) {
  extern __shared__ float s[];
  float *sa = s, *sb = s + tile * tile, sum = 0;
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
  for (int k = 0; k < n; k += tile) {
    sa[y * tile + x] = a[row * n + k + x];
    sb[y * tile + x] = b[(k + y) * n + col];
    __syncthreads();
    for (int i = 0; i < tile; i++) sum += sa[y * tile + i] * sb[i * tile + x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

int main() {
  const int n = 64, tile = 16;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; i++) a[i] = i % 7 - 3, b[i] = i % 5 - 2;
  float *x, *y, *z;
  CUDA(cudaMalloc(&x, n * n * 4));
  CUDA(cudaMalloc(&y, n * n * 4));
  CUDA(cudaMalloc(&z, n * n * 4));
  CUDA(cudaMemcpy(x, a.data(), n * n * 4, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(y, b.data(), n * n * 4, cudaMemcpyHostToDevice));
  product<<<dim3(n / tile, n / tile), dim3(tile, tile), 2 * tile * tile * 4>>>(x, y, z, n, tile);
  CUDA(cudaMemcpy(c.data(), z, n * n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      CHECK(c[i * n + j] == sum);
    }
  CUDA(cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  product<<<1, dim3(tile, tile), 64 << 10>>>(x, y, z, n, tile);
  CUDA(cudaDeviceSynchronize());
  printf("a product of %d x %d\n", n, n);
  return 0;
}
