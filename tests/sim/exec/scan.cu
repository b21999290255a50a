// Running sums: blocks, the blocks' sums, and what comes before each block.
#include "check.h"

enum { THREADS = 128 };

__global__ void scan_blocks(const int *x, int *y, int *sums, int n) {
  __shared__ int s[2][THREADS];
  int t = threadIdx.x, i = blockIdx.x * THREADS + t, at = 0;
  s[0][t] = i < n ? x[i] : 0;
  for (int d = 1; d < THREADS; d *= 2, at ^= 1) {
    __syncthreads();
    s[at ^ 1][t] = s[at][t] + (t >= d ? s[at][t - d] : 0);
  }
  if (i < n) y[i] = s[at][t];
  if (t == THREADS - 1 && sums) sums[blockIdx.x] = s[at][t];
}

__global__ void add_before(int *y, const int *sums, int n) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < n && blockIdx.x > 0) y[i] += sums[blockIdx.x - 1];
}

int main() {
  const int n = 3001, blocks = (n + THREADS - 1) / THREADS;
  std::vector<int> h(n), got(n);
  for (int i = 0; i < n; i++) h[i] = i % 11 - 4;
  int *x, *y, *sums;
  CUDA(cudaMalloc(&x, n * 4));
  CUDA(cudaMalloc(&y, n * 4));
  CUDA(cudaMalloc(&sums, blocks * 4));
  CUDA(cudaMemcpy(x, h.data(), n * 4, cudaMemcpyHostToDevice));
  scan_blocks<<<blocks, THREADS>>>(x, y, sums, n);
  scan_blocks<<<1, THREADS>>>(sums, sums, nullptr, blocks);
  add_before<<<blocks, THREADS>>>(y, sums, n);
  CUDA(cudaMemcpy(got.data(), y, n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0, sum = 0; i < n; i++) CHECK(got[i] == (sum += h[i]));
  printf("%d running sums\n", n);
  return 0;
}
