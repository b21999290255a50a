// Each warp computes 16 x 16 elements, each thread 8 of them.
#include <cuda_bf16.h>

extern "C" __global__ void matmul(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int n, int k) {
  int lane = threadIdx.x % 32, top = blockIdx.y * 64 + threadIdx.x / 32 * 16, left = blockIdx.x * 16;
  for (int e = lane; e < 256; e += 32) {
    int row = top + e / 16, col = left + e % 16;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += __bfloat162float(a[row * k + i]) * __bfloat162float(b[i * n + col]);
    c[row * n + col] = __float2bfloat16(sum);
  }
}
