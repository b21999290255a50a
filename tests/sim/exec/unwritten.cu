// A copy is forgotten: a kernel reads what nothing has written. And calls that are wrong.
#include "check.h"

__global__ void twice(const float *x, float *y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }

int main() {
  float *x, *y, h[32];
  CUDA(cudaMalloc(&x, sizeof h));
  CUDA(cudaMalloc(&y, sizeof h));
  twice<<<1, 32>>>(x, y);
  CUDA(cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(h, y, sizeof h, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(h, y, 2 * sizeof h, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  twice<<<1, 2048>>>(x, y);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  twice<<<1, 32, 64 << 10>>>(x, y);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaFree(x + 1) == cudaErrorInvalidValue);
  printf("done\n");
  return 0;
}
