// Changed: each thread computes TM x TN elements of C, kept in registers.
// Why:     TM + TN reads of shared memory now feed TM * TN multiplications; before it was two for one.
// Look at: shared wavefronts per multiplication, registers, and how many blocks are left for the GPU.

#ifndef BM
#define BM 64  // rows of C in a block's tile
#endif
#ifndef BN
#define BN 64  // columns of C in a block's tile
#endif
#ifndef BK
#define BK 16  // of k at a time
#endif
#ifndef TM
#define TM 4   // rows of C in a thread
#endif
#ifndef TN
#define TN 4   // columns of C in a thread
#endif

constexpr int ACROSS = BN / TN, DOWN = BM / TM, THREADS = ACROSS * DOWN;

extern "C" __global__ void __launch_bounds__(THREADS, THREADS < 512 ? 512 / THREADS : 1)
matmul(float *__restrict__ c, const float *__restrict__ a, const float *__restrict__ b,
       int m, int n, int k) {
  __shared__ float as[BM][BK + 1], bs[BK][BN];  // + 1: rows of A start in different banks
  const int t = threadIdx.x, x = t % ACROSS, y = t / ACROSS;
  const int top = blockIdx.y * BM, left = blockIdx.x * BN;

  float sum[TM][TN] = {};
  for (int first = 0; first < k; first += BK) {
    for (int i = t; i < BM * BK; i += THREADS) {
      const int row = top + i / BK, col = first + i % BK;
      as[i / BK][i % BK] = row < m && col < k ? a[(size_t)row * k + col] : 0.0f;
    }
    for (int i = t; i < BK * BN; i += THREADS) {
      const int row = first + i / BN, col = left + i % BN;
      bs[i / BN][i % BN] = row < k && col < n ? b[(size_t)row * n + col] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BK; i++) {
      float av[TM], bv[TN];  // a thread's elements lie DOWN and ACROSS apart: no bank conflicts
#pragma unroll
      for (int r = 0; r < TM; r++) av[r] = as[y + r * DOWN][i];
#pragma unroll
      for (int s = 0; s < TN; s++) bv[s] = bs[i][x + s * ACROSS];
#pragma unroll
      for (int r = 0; r < TM; r++)
#pragma unroll
        for (int s = 0; s < TN; s++) sum[r][s] += av[r] * bv[s];
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < TM; r++)
#pragma unroll
    for (int s = 0; s < TN; s++) {
      const int row = top + y + r * DOWN, col = left + x + s * ACROSS;
      if (row < m && col < n) c[(size_t)row * n + col] = sum[r][s];
    }
}
