// The warp's 16 x 16 elements are a fragment; tensor cores add to it what 16 of k contribute.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void matmul(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int n, int k) {
  __shared__ float tile[4][256];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, top = blockIdx.y * 64 + warp * 16, left = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(fa, a + top * k + i, k);
    wmma::load_matrix_sync(fb, b + i * n + left, n);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(tile[warp], sum, 16, wmma::mem_row_major);
  __syncwarp();
  for (int e = lane; e < 256; e += 32) c[(top + e / 16) * n + left + e % 16] = __float2bfloat16(tile[warp][e]);
}
