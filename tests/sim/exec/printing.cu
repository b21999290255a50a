// printf of kernels: every kind of argument, by lane, in the order of the blocks; and one that asks for more than there is.
#include "check.h"

__device__ int printed;

__global__ void say(const char *none, float f) {
  if (threadIdx.x < 2) printf("block %d thread %u: ", blockIdx.x, threadIdx.x);
  if (threadIdx.x == 1)
    printed = printf("[%5d|%-4d|%x|%lld|%llu|%c|%s|%6.2f|%e|%*d|%.*f|100%%]\n", -3, 7, 255u, -5000000000LL, 18446744073709551615ULL, 'c',
                     blockIdx.x ? "text" : "", f, 1.5, 4, 42, 1, 2.25);
}

__global__ void plain() { printf("no arguments\n"); }

__global__ void wrong(const char *text) { printf("%s", text); }

int main(int argc, char **) {
  int n;
  if (argc > 1) {
    wrong<<<1, 1>>>((const char *)12345);
    return cudaDeviceSynchronize() == cudaSuccess;
  }
  printf("before\n");
  say<<<2, 33>>>(nullptr, 3.14159f);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaMemcpyFromSymbol(&n, printed, 4));
  plain<<<1, 1>>>();
  CUDA(cudaDeviceSynchronize());
  printf("after %d\n", n);
  return 0;
}
