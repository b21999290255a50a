// One thread too many writes behind the end. The program ends as it would on a GPU, by the next call's error.
#include "check.h"

__global__ void fill(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] = 1;
}

int main() {
  float *x;
  CUDA(cudaMalloc(&x, 400));
  fill<<<1, 128>>>(x, 100);
  CUDA(cudaGetLastError());
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(cudaMemset(x, 0, 4) == cudaErrorIllegalAddress);
  printf("done\n");
  return 0;
}
