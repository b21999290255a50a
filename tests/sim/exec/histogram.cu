// A histogram with atomics in shared and in global memory.
#include "check.h"

__global__ void histogram(const unsigned char *x, unsigned *bins, int n) {
  __shared__ unsigned mine[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[x[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}

int main() {
  const int n = 4099;
  std::vector<unsigned char> h(n);
  std::vector<unsigned> want(256), got(256);
  for (int i = 0; i < n; i++) h[i] = i * i % 251, want[h[i]]++;
  unsigned char *x;
  unsigned *bins;
  CUDA(cudaMalloc(&x, n));
  CUDA(cudaMalloc(&bins, 1024));
  CUDA(cudaMemcpy(x, h.data(), n, cudaMemcpyHostToDevice));
  CUDA(cudaMemset(bins, 0, 1024));
  histogram<<<5, 96>>>(x, bins, n);
  CUDA(cudaMemcpy(got.data(), bins, 1024, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 256; i++) CHECK(got[i] == want[i]);
  printf("%d bytes counted\n", n);
  return 0;
}
