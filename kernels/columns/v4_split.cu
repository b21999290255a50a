// Changed: columns are cut into `parts`, each a block's; a second launch joins what they leave.
// Why:     a few very long columns keep every multiprocessor busy. Other shapes have one part.
// Look at: blocks against multiprocessors, and what the second launch costs.

#ifndef OP
#define OP 0         // 0: sum, 1: mean, 2: maximum, 3: minimum
#endif
#ifndef COLS
#define COLS 2048    // floats in a row: as far apart are those of a column
#endif
#ifndef WIDTH
#define WIDTH 128    // columns of a block
#endif
#ifndef THREADS
#define THREADS 512  // of a block, a multiple of WIDTH: THREADS / WIDTH of them share a column
#endif
#ifndef UNROLL
#define UNROLL 8     // a power of two
#endif

constexpr int SLICES = THREADS / WIDTH;

__device__ float neutral() { return OP < 2 ? 0.0f : __int_as_float(OP == 2 ? 0xff800000 : 0x7f800000); }

// A NaN stays: it is the only number not equal to itself.
__device__ float join(float a, float b) {
  if (OP == 2) return b > a || b != b ? b : a;
  if (OP == 3) return b < a || b != b ? b : a;
  return a + b;
}

// What a long sum loses in each addition is kept apart (Knuth's two-sum).
struct running { float sum, lost; };

__device__ void add(running &a, float v) {
  const float next = join(a.sum, v), back = next - a.sum;
  if (OP < 2) a.lost += (a.sum - (next - back)) + (v - back);
  a.sum = next;
}

// An infinite sum has lost a NaN.
__device__ float total(running a) { return OP < 2 && isfinite(a.lost) ? a.sum + a.lost : a.sum; }

// Of every SLICES-th row, from this thread's first one.
__device__ float slice(const float *x, int rows) {
  running all = { neutral(), 0.0f };
  int r = threadIdx.y;
  for (; r + (UNROLL - 1) * SLICES < rows; r += UNROLL * SLICES) {
    float held[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) held[u] = __ldcs(x + (size_t)(r + u * SLICES) * COLS);
#pragma unroll
    for (int n = UNROLL / 2; n > 0; n /= 2)
#pragma unroll
      for (int u = 0; u < n; u++) held[u] = join(held[u], held[u + n]);
    add(all, held[0]);
  }
  for (; r < rows; r += SLICES) add(all, x[(size_t)r * COLS]);
  return total(all);
}

// Part blockIdx.y of each column, `high` rows of it, to y[outer][part][column].
extern "C" __global__ void __launch_bounds__(THREADS)
columns(float *__restrict__ y, const float *__restrict__ x, int count, int rows, int high, float divisor) {
  __shared__ float sums[SLICES][WIDTH];
  const int i = blockIdx.x * WIDTH + threadIdx.x, outer = i / COLS, part = blockIdx.y;
  if (i < count)
    sums[threadIdx.y][threadIdx.x] =
      slice(x + ((size_t)outer * rows + (size_t)part * high) * COLS + i % COLS, min(high, rows - part * high));
  __syncthreads();
  if (threadIdx.y > 0 || i >= count) return;
  running v = { sums[0][threadIdx.x], 0.0f };
  for (int s = 1; s < SLICES; s++) add(v, sums[s][threadIdx.x]);
  y[((size_t)outer * gridDim.y + part) * COLS + i % COLS] = OP == 1 ? total(v) / divisor : total(v);
}
