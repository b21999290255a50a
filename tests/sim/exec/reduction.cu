// A sum in shared memory and in shuffles, a template over the size of the block.
#include "check.h"

template <int THREADS> __global__ void sum_shared(const float *x, float *y, int n) {
  __shared__ float s[THREADS];
  float v = 0;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) v += x[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = THREADS / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(y, s[0]);
}

__global__ void sum_shuffles(const float *x, float *y, int n) {
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) atomicAdd(y, v);
}

int main() {
  const int n = 5000;
  std::vector<float> h(n, 1);
  float *x, *y, got;
  CUDA(cudaMalloc(&x, n * 4));
  CUDA(cudaMalloc(&y, 4));
  CUDA(cudaMemcpy(x, h.data(), n * 4, cudaMemcpyHostToDevice));
  for (int which = 0; which < 3; which++) {
    CUDA(cudaMemset(y, 0, 4));
    if (which == 0) sum_shared<128><<<4, 128>>>(x, y, n);
    if (which == 1) sum_shared<256><<<3, 256>>>(x, y, n);
    if (which == 2) sum_shuffles<<<4, 128>>>(x, y, n);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(&got, y, 4, cudaMemcpyDeviceToHost));
    CHECK(got == n);
  }
  int blocks;
  cudaFuncAttributes a;
  CUDA(cudaFuncGetAttributes(&a, sum_shared<256>));
  CHECK(a.sharedSizeBytes == 1024 && a.maxThreadsPerBlock == 1024);
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum_shuffles, 1024, 0));
  CHECK(blocks == 2);
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum_shuffles, 64, 100 << 10));
  CHECK(blocks == 2);
  printf("three sums of %d\n", n);
  return 0;
}
