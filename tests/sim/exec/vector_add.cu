// Sums of two vectors, and what the runtime says of wrong calls.
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 1000;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i;
  float *x, *y, *z;
  CUDA(cudaMalloc(&x, n * 4));
  CUDA(cudaMalloc(&y, n * 4));
  CUDA(cudaMalloc(&z, n * 4));
  CUDA(cudaMemcpy(x, a.data(), n * 4, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(y, b.data(), n * 4, cudaMemcpyHostToDevice));
  add<<<(n + 255) / 256, 256>>>(x, y, z, n);
  CUDA(cudaGetLastError());
  CUDA(cudaMemcpy(c.data(), z, n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) CHECK(c[i] == 3 * i);
  cudaDeviceProp p;
  int devices, sms;
  CUDA(cudaGetDeviceCount(&devices));
  CUDA(cudaGetDeviceProperties(&p, 0));
  CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(devices == 1 && p.warpSize == 32 && p.multiProcessorCount == sms && p.major == 9 && sms == 132);
  CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaSuccess);
  CUDA(cudaFree(x));
  CUDA(cudaFree(y));
  CUDA(cudaFree(z));
  printf("%d sums on %s\n", n, p.name);
  return 0;
}
