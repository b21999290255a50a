// Variables of the device: constant, written by kernels and kept from launch to launch, and their addresses.
#include "check.h"

__constant__ float weights[4];
__device__ int counter = 5;
namespace hidden { __device__ double table[3] = { 1, 2, 3 }; }

__global__ void count(float *y) {
  atomicAdd(&counter, 1);
  if (threadIdx.x < 3) hidden::table[threadIdx.x] *= 2;
  if (threadIdx.x < 4) y[threadIdx.x] = weights[threadIdx.x];
}

int main() {
  const float w[4] = { 1, 2, 3, 4 };
  float *y, got[4];
  int n, *at;
  double table[3];
  size_t size;
  CUDA(cudaMalloc(&y, 16));
  CUDA(cudaMemcpyToSymbol(weights, w, sizeof w));
  for (int i = 0; i < 3; i++) count<<<1, 32>>>(y);
  CUDA(cudaMemcpyFromSymbol(&n, counter, 4));
  CHECK(n == 5 + 3 * 32);
  CUDA(cudaMemcpyFromSymbol(table, hidden::table, sizeof table));
  CHECK(table[0] == 8 && table[2] == 24);
  CUDA(cudaMemcpy(got, y, 16, cudaMemcpyDeviceToHost));
  CHECK(got[3] == 4);
  CUDA(cudaGetSymbolAddress((void **)&at, counter));
  CUDA(cudaGetSymbolSize(&size, hidden::table));
  CUDA(cudaMemset(at, 0, 4));
  CUDA(cudaMemcpyFromSymbol(&n, counter, 4));
  CHECK(n == 0 && size == 24);
  CHECK(cudaMemcpyToSymbol(weights, w, sizeof w, 4) == cudaErrorInvalidValue);
  printf("variables keep what is written\n");
  return 0;
}
