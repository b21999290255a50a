// A barrier is missing: the result may be right, and the race is told with its line.
#include "check.h"

__global__ void reverse(int *x) {
  __shared__ int s[128];
  s[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = s[127 - threadIdx.x];
}

int main() {
  int *x, h[128];
  for (int i = 0; i < 128; i++) h[i] = i;
  CUDA(cudaMalloc(&x, sizeof h));
  CUDA(cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice));
  reverse<<<1, 128>>>(x);
  CUDA(cudaDeviceSynchronize());
  printf("done\n");
  return 0;
}
