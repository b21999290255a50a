// Changed: 16-byte accesses throughout; A lies transposed in shared memory; the next tile loads meanwhile.
// Why:     a quarter of the load instructions, and the wait for L2 is hidden behind the multiplications.
// Look at: the share of FFMA in the instruction mix, LDS.128 in SASS, registers (no spills).

#ifndef BM
#define BM 64  // rows of C in a block's tile
#endif
#ifndef BN
#define BN 64  // columns of C in a block's tile
#endif
#ifndef BK
#define BK 16  // of k at a time: a multiple of 4
#endif
#ifndef TM
#define TM 4   // rows of C in a thread: a multiple of 4
#endif
#ifndef TN
#define TN 4   // columns of C in a thread: a multiple of 4
#endif
#ifndef VEC
#define VEC 4  // floats in a global access: 4 where n and k are multiples of 4, else 1
#endif

constexpr int ACROSS = BN / TN, DOWN = BM / TM, THREADS = ACROSS * DOWN;
constexpr int A_PACKS = BM * BK / VEC, A_EACH = (A_PACKS + THREADS - 1) / THREADS;
constexpr int B_PACKS = BK * BN / VEC, B_EACH = (B_PACKS + THREADS - 1) / THREADS;

struct alignas(4 * VEC) pack { float v[VEC]; };

// Past the edge it reads the last pack and makes it 0: a branch would keep loads apart.
__device__ pack fetch(const float *from, int row, int col, int rows, int cols) {
  pack a = *(const pack *)&from[(size_t)min(row, rows - 1) * cols + min(col, cols - VEC)];
  for (int j = 0; j < VEC; j++) a.v[j] = row < rows && col < cols ? a.v[j] : 0.0f;
  return a;
}

struct tile {  // what one thread carries of the next tiles
  pack a[A_EACH], b[B_EACH];

  __device__ void load(const float *from_a, const float *from_b, int top, int left, int first,
                       int m, int n, int k) {
#pragma unroll
    for (int e = 0; e < A_EACH; e++) {
      const int p = e * THREADS + threadIdx.x;
      a[e] = fetch(from_a, top + p / (BK / VEC), first + p % (BK / VEC) * VEC, m, k);
    }
#pragma unroll
    for (int e = 0; e < B_EACH; e++) {
      const int p = e * THREADS + threadIdx.x;
      b[e] = fetch(from_b, first + p / (BN / VEC), left + p % (BN / VEC) * VEC, k, n);
    }
  }

  __device__ void store(float (*as)[BM + 4], float (*bs)[BN]) const {
#pragma unroll
    for (int e = 0; e < A_EACH; e++) {
      const int p = e * THREADS + threadIdx.x;
      if (A_PACKS % THREADS != 0 && p >= A_PACKS) break;
      for (int j = 0; j < VEC; j++) as[p % (BK / VEC) * VEC + j][p / (BK / VEC)] = a[e].v[j];
    }
#pragma unroll
    for (int e = 0; e < B_EACH; e++) {
      const int p = e * THREADS + threadIdx.x;
      if (B_PACKS % THREADS != 0 && p >= B_PACKS) break;
      *(pack *)&bs[p / (BN / VEC)][p % (BN / VEC) * VEC] = b[e];
    }
  }
};

extern "C" __global__ void __launch_bounds__(THREADS)
matmul(float *__restrict__ c, const float *__restrict__ a, const float *__restrict__ b,
       int m, int n, int k) {
  __shared__ __align__(16) float as[BK][BM + 4];  // + 4: the transposing stores spread over banks
  __shared__ __align__(16) float bs[BK][BN];
  const int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
  const int top = blockIdx.y * BM, left = blockIdx.x * BN;

  float sum[TM][TN] = {};
  tile next;
  next.load(a, b, top, left, 0, m, n, k);
  for (int first = 0; first < k; first += BK) {
    next.store(as, bs);
    __syncthreads();
    if (first + BK < k) next.load(a, b, top, left, first + BK, m, n, k);
#pragma unroll
    for (int i = 0; i < BK; i++) {
      float4 av[TM / 4], bv[TN / 4];  // groups of four, 4 * DOWN rows and 4 * ACROSS columns apart
#pragma unroll
      for (int r = 0; r < TM / 4; r++) av[r] = *(const float4 *)&as[i][4 * (y + r * DOWN)];
#pragma unroll
      for (int s = 0; s < TN / 4; s++) bv[s] = *(const float4 *)&bs[i][4 * (x + s * ACROSS)];
#pragma unroll
      for (int r = 0; r < TM; r++)
#pragma unroll
        for (int s = 0; s < TN; s++)
          sum[r][s] += (&av[r / 4].x)[r % 4] * (&bv[s / 4].x)[s % 4];
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < TM; r++)
#pragma unroll
    for (int s = 0; s < TN; s += VEC) {
      const int row = top + 4 * (y + r / 4 * DOWN) + r % 4;
      const int col = left + 4 * (x + s / 4 * ACROSS) + s % 4;
      pack out;
      for (int j = 0; j < VEC; j++) out.v[j] = sum[r][s + j];
      if (row < m && col < n) *(pack *)&c[(size_t)row * n + col] = out;
    }
}
