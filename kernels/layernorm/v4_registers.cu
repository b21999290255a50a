// Changed: ROWS rows live in a block's registers, in 16-byte packs: read once, written once.
// Why:     both passes of the variance cost no memory, and each weight and bias read serves ROWS rows.
// Look at: DRAM bytes against bytes needed, registers (no spills), LDG.E.128 in SASS, ROWS against L2 time.

#ifndef EPS
#define EPS 1e-5f
#endif
#ifndef WEIGHT
#define WEIGHT 1
#endif
#ifndef BIAS
#define BIAS 1
#endif
#ifndef COLS
#define COLS 2048    // floats in a row
#endif
#ifndef THREADS
#define THREADS 128  // threads of a block: a power of two, 32 to 1024
#endif
#ifndef ROWS
#define ROWS 1       // rows that a block works on at the same time
#endif

constexpr int VEC = COLS % 4 == 0 ? 4 : COLS % 2 == 0 ? 2 : 1;  // what every row's alignment allows
constexpr int PACKS = COLS / VEC;
constexpr int HELD = (PACKS + THREADS - 1) / THREADS;           // packs that one thread holds, of a row
constexpr int WARPS = THREADS / 32;
constexpr int FLOATS = ROWS * HELD * VEC;                       // of x that one thread holds
constexpr bool FITS = FLOATS <= (THREADS > 512 ? 24 : 64);      // in registers, unspilled
// Threads that should run at a time on a multiprocessor, whose 65536 registers they share.
constexpr int CROWD = FLOATS <= 8 ? 2048 : FLOATS <= 32 ? 1024 : 512;
constexpr int BLOCKS = CROWD < THREADS ? 1 : CROWD / THREADS > 32 ? 32 : CROWD / THREADS;

struct alignas(4 * VEC) pack { float v[VEC]; };
struct sums { float v[ROWS]; };

__device__ float warp_sum(float v, int width) {
  for (int d = width / 2; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

// The block's sum for each row, behind one barrier. `part` is not in use by an earlier call.
__device__ sums block_sum(sums s, float (*part)[WARPS]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int r = 0; r < ROWS; r++) s.v[r] = warp_sum(s.v[r], 32);
  if constexpr (WARPS > 1) {
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      if (lane == 0) part[r][warp] = s.v[r];
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ROWS; r++) s.v[r] = warp_sum(part[r][lane % WARPS], WARPS);
  }
  return s;
}

__device__ pack affine(pack a, float mean, float scale, pack weight, pack bias) {
  for (int j = 0; j < VEC; j++) {
    a.v[j] = (a.v[j] - mean) * scale;
    if (WEIGHT) a.v[j] *= weight.v[j];
    if (BIAS) a.v[j] += bias.v[j];
  }
  return a;
}

// Whether this thread's i-th pack lies in the row: known when compiling for all but the last.
__device__ bool inside(int i) {
  return (i + 1) * THREADS <= PACKS || i * THREADS + threadIdx.x < PACKS;
}

__device__ void once(pack *y, const pack *x, const pack *weight, const pack *bias, int rows) {
  __shared__ float means[ROWS][WARPS], spreads[ROWS][WARPS];
  pack held[ROWS][HELD];
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int i = 0; i < HELD; i++)
      if (inside(i) && (r == 0 || r < rows)) held[r][i] = x[(size_t)r * PACKS + i * THREADS + threadIdx.x];
      else held[r][i] = {};

  sums mean = {}, scale = {};
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int i = 0; i < HELD; i++)
      for (int j = 0; j < VEC; j++) mean.v[r] += held[r][i].v[j];
  mean = block_sum(mean, means);
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    mean.v[r] /= COLS;
#pragma unroll
    for (int i = 0; i < HELD; i++)
      for (int j = 0; j < VEC; j++) {
        float d = inside(i) ? held[r][i].v[j] - mean.v[r] : 0.0f;
        scale.v[r] += d * d;
      }
  }
  scale = block_sum(scale, spreads);
#pragma unroll
  for (int r = 0; r < ROWS; r++) scale.v[r] = rsqrtf(scale.v[r] / COLS + EPS);

#pragma unroll
  for (int i = 0; i < HELD; i++) {
    if (!inside(i)) continue;
    const int p = i * THREADS + threadIdx.x;
    const pack w = WEIGHT ? weight[p] : pack{}, b = BIAS ? bias[p] : pack{};
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      if (r == 0 || r < rows) y[(size_t)r * PACKS + p] = affine(held[r][i], mean.v[r], scale.v[r], w, b);
  }
}

// For rows too long to hold: the passes of v3, in packs.
__device__ void thrice(pack *y, const pack *x, const pack *weight, const pack *bias, int rows) {
  __shared__ float means[ROWS][WARPS], spreads[ROWS][WARPS];
  sums mean = {}, scale = {};
  for (int r = 0; r < ROWS; r++)
    for (int p = threadIdx.x; p < PACKS && r < rows; p += THREADS)
      for (int j = 0; j < VEC; j++) mean.v[r] += x[(size_t)r * PACKS + p].v[j];
  mean = block_sum(mean, means);
  for (int r = 0; r < ROWS; r++) {
    mean.v[r] /= COLS;
    for (int p = threadIdx.x; p < PACKS && r < rows; p += THREADS) {
      pack a = x[(size_t)r * PACKS + p];
      for (int j = 0; j < VEC; j++) scale.v[r] += (a.v[j] - mean.v[r]) * (a.v[j] - mean.v[r]);
    }
  }
  scale = block_sum(scale, spreads);
  for (int r = 0; r < ROWS; r++) {
    scale.v[r] = rsqrtf(scale.v[r] / COLS + EPS);
    for (int p = threadIdx.x; p < PACKS && r < rows; p += THREADS) {
      const pack w = WEIGHT ? weight[p] : pack{}, b = BIAS ? bias[p] : pack{};
      y[(size_t)r * PACKS + p] = affine(x[(size_t)r * PACKS + p], mean.v[r], scale.v[r], w, b);
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
layernorm(float *__restrict__ y, const float *__restrict__ x, const float *__restrict__ weight,
          const float *__restrict__ bias, int rows) {
  const int row = blockIdx.x * ROWS;
  const size_t first = (size_t)row * PACKS;
  const int left = min(ROWS, rows - row);
  if constexpr (FITS)
    once((pack *)y + first, (const pack *)x + first, (const pack *)weight, (const pack *)bias, left);
  else
    thrice((pack *)y + first, (const pack *)x + first, (const pack *)weight, (const pack *)bias, left);
}
