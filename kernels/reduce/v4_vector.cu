// Changed: 16-byte packs, UNROLL of them asked for before the first is added; short rows share a block.
// Why:     a sum does almost nothing per byte, so only the bytes in flight decide; fewer requests carry them.
// Look at: requests per row, the loads at the head of the SASS loop, and UNROLL against blocks that fit.

#ifndef OP
#define OP 0         // 0: sum, 1: mean, 2: maximum, 3: minimum
#endif
#ifndef COLS
#define COLS 2048    // floats in a row
#endif
#ifndef THREADS
#define THREADS 128  // threads that share a row: a power of two, 32 to 1024
#endif
#ifndef ROWS
#define ROWS 1       // rows that share a block
#endif
#ifndef UNROLL
#define UNROLL 4     // packs that a thread has in flight
#endif

constexpr int VEC = COLS % 4 == 0 ? 4 : COLS % 2 == 0 ? 2 : 1;  // what every row's alignment allows
constexpr int PACKS = COLS / VEC;
constexpr int WARPS = THREADS / 32;

struct alignas(4 * VEC) pack { float v[VEC]; };

__device__ float neutral() { return OP < 2 ? 0.0f : __int_as_float(OP == 2 ? 0xff800000 : 0x7f800000); }

// A NaN stays: it is the only number not equal to itself.
__device__ float join(float a, float b) {
  if (OP == 2) return b > a || b != b ? b : a;
  if (OP == 3) return b < a || b != b ? b : a;
  return a + b;
}

__device__ float warp_join(float v, int width) {
  for (int d = width / 2; d > 0; d /= 2) v = join(v, __shfl_xor_sync(~0u, v, d));
  return v;
}

__device__ float row_join(float v) {
  __shared__ float part[ROWS][WARPS];
  v = warp_join(v, 32);
  if constexpr (WARPS > 1) {
    if (threadIdx.x % 32 == 0) part[threadIdx.y][threadIdx.x / 32] = v;
    __syncthreads();
    v = warp_join(part[threadIdx.y][threadIdx.x % WARPS], WARPS);
  }
  return v;
}

// The second number says that 1024 threads at a time will do. Without it ptxas moves the
// loads apart again, to save registers for 2048.
extern "C" __global__ void __launch_bounds__(THREADS * ROWS, 1024 / (THREADS * ROWS))
reduce(float *__restrict__ y, const float *__restrict__ x, int rows) {
  const int row = blockIdx.x * ROWS + threadIdx.y;
  const pack *in = (const pack *)x + (size_t)min(row, rows - 1) * PACKS;

  pack sums, none;
  for (int j = 0; j < VEC; j++) sums.v[j] = none.v[j] = neutral();
#pragma unroll 1
  for (int first = 0; first < PACKS; first += THREADS * UNROLL) {
    pack held[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      const int p = first + u * THREADS + threadIdx.x;
      if (p < PACKS) held[u] = in[p];
      else held[u] = none;
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      for (int j = 0; j < VEC; j++) sums.v[j] = join(sums.v[j], held[u].v[j]);
  }
  float all = sums.v[0];
  for (int j = 1; j < VEC; j++) all = join(all, sums.v[j]);
  all = row_join(all);
  if (threadIdx.x == 0 && row < rows) y[row] = OP == 1 ? all / COLS : all;
}
