// Streams in order, events with modelled times, copies beside kernels; pinned and managed memory.
#include "check.h"

__global__ void work(float *x, int n, int rounds) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    for (int k = 0; k < rounds; k++) x[i] = x[i] * 0.5f + 1;
}

static float between(cudaEvent_t a, cudaEvent_t b) {
  float ms;
  CUDA(cudaEventElapsedTime(&ms, a, b));
  return ms;
}

static void count_up(void *p) { ++*(int *)p; }

int main() {
  const int n = 1 << 18;
  float *pinned, *x[2], *shared;
  cudaStream_t s[2];
  cudaEvent_t e[6];
  int called = 0;
  float late;
  CUDA(cudaMallocHost(&pinned, n * 4));
  CUDA(cudaMallocManaged(&shared, 4096));
  for (int i = 0; i < n; i++) pinned[i] = 2;
  for (auto &one : e) CUDA(cudaEventCreate(&one));
  for (int i = 0; i < 2; i++) {
    CUDA(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
    CUDA(cudaMalloc(&x[i], n * 4));
  }
  // One after the other, then beside each other.
  CUDA(cudaEventRecord(e[0], s[0]));
  CUDA(cudaMemcpyAsync(x[0], pinned, n * 4, cudaMemcpyHostToDevice, s[0]));
  work<<<132, 256, 0, s[0]>>>(x[0], n, 4);
  CUDA(cudaEventRecord(e[1], s[0]));
  CUDA(cudaMemcpyAsync(x[1], pinned, n * 4, cudaMemcpyHostToDevice, s[0]));
  CUDA(cudaEventRecord(e[2], s[0]));
  CHECK(cudaEventElapsedTime(&late, e[0], e[5]) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  CUDA(cudaStreamSynchronize(s[0]));
  CUDA(cudaEventRecord(e[3], s[0]));
  CUDA(cudaMemcpyAsync(x[0], pinned, n * 4, cudaMemcpyHostToDevice, s[0]));
  work<<<132, 256, 0, s[0]>>>(x[0], n, 4);
  CUDA(cudaEventRecord(e[4], s[0]));
  CUDA(cudaMemcpyAsync(x[1], pinned, n * 4, cudaMemcpyHostToDevice, s[1]));
  CUDA(cudaStreamWaitEvent(s[1], e[4], 0));
  CUDA(cudaEventRecord(e[5], s[1]));
  CHECK(between(e[0], e[1]) > 0.016f);                     // 1 MiB over 64 GB/s takes 16.4 us
  CHECK(between(e[0], e[2]) > between(e[0], e[1]) + 0.016f);
  CHECK(between(e[3], e[5]) < between(e[0], e[2]));
  CHECK(fabsf(between(e[3], e[4]) + between(e[4], e[5]) - between(e[3], e[5])) < 1e-6f);
  CUDA(cudaLaunchHostFunc(s[1], count_up, &called));
  CUDA(cudaDeviceSynchronize());
  CHECK(called == 1);
  for (int i = 0; i < 1024; i++) shared[i] = i;
  work<<<4, 256>>>(shared, 1024, 1);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 1024; i++) CHECK(shared[i] == i * 0.5f + 1);
  CUDA(cudaMemcpy(pinned, x[0], n * 4, cudaMemcpyDeviceToHost));
  CHECK(pinned[0] == 2 && pinned[n - 1] == 2);
  cudaPointerAttributes a;
  CUDA(cudaPointerGetAttributes(&a, shared));
  CHECK(a.type == cudaMemoryTypeManaged);
  CUDA(cudaPointerGetAttributes(&a, pinned));
  CHECK(a.type == cudaMemoryTypeHost);
  CUDA(cudaFreeHost(pinned));
  CUDA(cudaFree(shared));
  CUDA(cudaStreamDestroy(s[0]));
  CHECK(cudaStreamSynchronize(s[0]) == cudaErrorInvalidResourceHandle);
  printf("copies beside kernels\n");
  return 0;
}
