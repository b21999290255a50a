// Changed: SLICES threads share a column, each with every SLICES-th row, and meet in shared memory.
// Why:     few or short columns make few threads; and the blocks of the last wave end sooner.
// Look at: multiprocessors at work, as time goes by, against THREADS.

#ifndef OP
#define OP 0         // 0: sum, 1: mean, 2: maximum, 3: minimum
#endif
#ifndef ROWS
#define ROWS 2048    // floats in a column
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

// Of every SLICES-th row, from this thread's first one.
__device__ float slice(const float *x) {
  float sums[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; u++) sums[u] = neutral();
  int r = threadIdx.y;
  for (; r + (UNROLL - 1) * SLICES < ROWS; r += UNROLL * SLICES) {
    float held[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) held[u] = __ldcs(x + (size_t)(r + u * SLICES) * COLS);
#pragma unroll
    for (int u = 0; u < UNROLL; u++) sums[u] = join(sums[u], held[u]);
  }
  for (; r < ROWS; r += SLICES) sums[0] = join(sums[0], x[(size_t)r * COLS]);
#pragma unroll
  for (int n = UNROLL / 2; n > 0; n /= 2)
#pragma unroll
    for (int u = 0; u < n; u++) sums[u] = join(sums[u], sums[u + n]);
  return sums[0];
}

extern "C" __global__ void __launch_bounds__(THREADS)
columns(float *__restrict__ y, const float *__restrict__ x, int count) {
  __shared__ float part[SLICES][WIDTH];
  const int i = blockIdx.x * WIDTH + threadIdx.x;
  if (i < count)
    part[threadIdx.y][threadIdx.x] = slice(x + (size_t)(i / COLS) * ROWS * COLS + i % COLS);
  __syncthreads();
  if (threadIdx.y > 0 || i >= count) return;
  float v = part[0][threadIdx.x];
  for (int s = 1; s < SLICES; s++) v = join(v, part[s][threadIdx.x]);
  y[i] = OP == 1 ? v / ROWS : v;
}
