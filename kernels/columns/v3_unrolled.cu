// Changed: UNROLL rows are asked for before the first is used; SLICES groups of threads share the rows.
#ifndef OP
#define OP 0         // 0: sum, 1: mean, 2: maximum, 3: minimum
#endif
#ifndef WIDTH
#define WIDTH 128
#endif
#ifndef SLICES
#define SLICES 1
#endif
#ifndef UNROLL
#define UNROLL 8
#endif
#define PER 1

constexpr float NEUTRAL = OP < 2 ? 0.0f : OP == 2 ? -__builtin_huge_valf() : __builtin_huge_valf();

// A NaN is kept: it is not equal to itself.
__device__ float join(float a, float b) {
  if (OP == 2) return b > a || b != b ? b : a;
  if (OP == 3) return b < a || b != b ? b : a;
  return a + b;
}

extern "C" __global__ void __launch_bounds__(WIDTH * SLICES)
columns(float *__restrict__ y, const float *__restrict__ x, int rows, int cols) {
  const int c = blockIdx.x * WIDTH + threadIdx.x;
  x += (size_t)blockIdx.y * rows * cols + c;
  float sums[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; u++) sums[u] = NEUTRAL;
  if (c < cols) {
    int r = threadIdx.y;
    for (; r + (UNROLL - 1) * SLICES < rows; r += UNROLL * SLICES) {
      float held[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; u++) held[u] = __ldcs(x + (size_t)(r + u * SLICES) * cols);
#pragma unroll
      for (int u = 0; u < UNROLL; u++) sums[u] = join(sums[u], held[u]);
    }
    for (; r < rows; r += SLICES) sums[0] = join(sums[0], x[(size_t)r * cols]);
  }
#pragma unroll
  for (int u = UNROLL / 2; u > 0; u /= 2)
#pragma unroll
    for (int v = 0; v < u; v++) sums[v] = join(sums[v], sums[v + u]);
  __shared__ float part[SLICES][WIDTH];
  part[threadIdx.y][threadIdx.x] = sums[0];
  __syncthreads();
  if (threadIdx.y == 0 && c < cols) {
    float v = sums[0];
    for (int i = 1; i < SLICES; i++) v = join(v, part[i][threadIdx.x]);
    y[(size_t)blockIdx.y * cols + c] = OP == 1 ? v / rows : v;
  }
}
