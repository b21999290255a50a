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
constexpr int A_EACH = (BM * BK + THREADS - 1) / THREADS;  // of the tile of A that a thread copies
constexpr int B_EACH = (BK * BN + THREADS - 1) / THREADS;

// Past the edge it reads the last element and makes it 0: a branch would keep loads apart.
__device__ float fetch(const float *from, int row, int col, int rows, int cols) {
  float v = from[(size_t)min(row, rows - 1) * cols + min(col, cols - 1)];
  return row < rows && col < cols ? v : 0.0f;
}

extern "C" __global__ void __launch_bounds__(THREADS)
matmul(float *__restrict__ c, const float *__restrict__ a, const float *__restrict__ b,
       int m, int n, int k) {
  __shared__ float as[BM][BK + 1], bs[BK][BN];  // + 1: rows of A start in different banks
  const int t = threadIdx.x, x = t % ACROSS, y = t / ACROSS;
  const int top = blockIdx.y * BM, left = blockIdx.x * BN;

  float sum[TM][TN] = {};
  for (int first = 0; first < k; first += BK) {
    float held_a[A_EACH], held_b[B_EACH];  // all loads leave before the first is waited for
#pragma unroll
    for (int e = 0, i = t; e < A_EACH; e++, i += THREADS)
      held_a[e] = fetch(a, top + i / BK, first + i % BK, m, k);
#pragma unroll
    for (int e = 0, i = t; e < B_EACH; e++, i += THREADS)
      held_b[e] = fetch(b, first + i / BN, left + i % BN, k, n);
#pragma unroll
    for (int e = 0, i = t; e < A_EACH; e++, i += THREADS)
      if (BM * BK % THREADS == 0 || i < BM * BK) as[i / BK][i % BK] = held_a[e];
#pragma unroll
    for (int e = 0, i = t; e < B_EACH; e++, i += THREADS)
      if (BK * BN % THREADS == 0 || i < BK * BN) bs[i / BN][i % BN] = held_b[e];
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
