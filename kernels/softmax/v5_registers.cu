// Changed: the row lives in registers, in 16-byte packs: read once, all loads in flight, written once.
// Why:     DRAM and L2 see each byte once, and there is one expf per element; the row length is compiled in.
// Look at: DRAM bytes against bytes needed (equal), registers (no spills), LDG.E.128 in SASS.

#ifndef COLS
#define COLS 2048    // floats in a row
#endif
#ifndef THREADS
#define THREADS 128  // threads that share a row: a power of two, 32 to 1024
#endif
#ifndef ROWS
#define ROWS 1       // rows that share a block
#endif

constexpr int VEC = COLS % 4 == 0 ? 4 : COLS % 2 == 0 ? 2 : 1;  // what every row's alignment allows
constexpr int PACKS = COLS / VEC;
constexpr int HELD = (PACKS + THREADS - 1) / THREADS;           // packs that one thread holds
constexpr int WARPS = THREADS / 32;
constexpr bool FITS = HELD * VEC <= (THREADS * ROWS > 512 ? 32 : 64);  // in registers, unspilled

struct alignas(4 * VEC) pack { float v[VEC]; };

__device__ float warp_max(float v, int width) {
  for (int d = width / 2; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
  return v;
}

__device__ float warp_sum(float v, int width) {
  for (int d = width / 2; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

// Of all threads of this row; a row of one warp needs neither memory nor barrier.
__device__ float row_max(float v) {
  __shared__ float part[ROWS][WARPS];
  v = warp_max(v, 32);
  if constexpr (WARPS > 1) {
    if (threadIdx.x % 32 == 0) part[threadIdx.y][threadIdx.x / 32] = v;
    __syncthreads();
    v = warp_max(part[threadIdx.y][threadIdx.x % WARPS], WARPS);
  }
  return v;
}

__device__ float row_sum(float v) {
  __shared__ float part[ROWS][WARPS];
  v = warp_sum(v, 32);
  if constexpr (WARPS > 1) {
    if (threadIdx.x % 32 == 0) part[threadIdx.y][threadIdx.x / 32] = v;
    __syncthreads();
    v = warp_sum(part[threadIdx.y][threadIdx.x % WARPS], WARPS);
  }
  return v;
}

// Whether this thread's i-th pack lies in the row: known when compiling for all but the last.
__device__ bool inside(int i) {
  return (i + 1) * THREADS <= PACKS || i * THREADS + threadIdx.x < PACKS;
}

__device__ void once(pack *out, const pack *in, bool store) {
  const float nothing = __int_as_float(0xff800000);  // -inf: exp makes it 0
  pack held[HELD];
#pragma unroll
  for (int i = 0; i < HELD; i++)
    if (inside(i)) held[i] = in[i * THREADS + threadIdx.x];
    else for (int j = 0; j < VEC; j++) held[i].v[j] = nothing;

  float top = nothing;
#pragma unroll
  for (int i = 0; i < HELD; i++)
    for (int j = 0; j < VEC; j++) top = fmaxf(top, held[i].v[j]);
  top = row_max(top);

  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < HELD; i++)
    for (int j = 0; j < VEC; j++) sum += held[i].v[j] = expf(held[i].v[j] - top);
  const float scale = 1.0f / row_sum(sum);

#pragma unroll
  for (int i = 0; i < HELD; i++) {
    for (int j = 0; j < VEC; j++) held[i].v[j] *= scale;
    if (store && inside(i)) out[i * THREADS + threadIdx.x] = held[i];
  }
}

// For rows too long to hold: the online pass of v4, in packs, then a second read.
__device__ void twice(pack *out, const pack *in, bool store) {
  float top = -3.402823466e+38f, sum = 0.0f;
  for (int p = threadIdx.x; p < PACKS; p += THREADS) {
    pack a = in[p];
    float high = top;
    for (int j = 0; j < VEC; j++) high = fmaxf(high, a.v[j]);
    sum *= expf(top - high);
    for (int j = 0; j < VEC; j++) sum += expf(a.v[j] - high);
    top = high;
  }
  const float high = row_max(top);
  const float scale = 1.0f / row_sum(sum * expf(top - high));
  for (int p = threadIdx.x; p < PACKS; p += THREADS) {
    pack a = in[p];
    for (int j = 0; j < VEC; j++) a.v[j] = expf(a.v[j] - high) * scale;
    if (store) out[p] = a;
  }
}

extern "C" __global__ void __launch_bounds__(THREADS * ROWS)
softmax(float *__restrict__ y, const float *__restrict__ x, int rows) {
  const int row = blockIdx.x * ROWS + threadIdx.y;
  const size_t first = (size_t)min(row, rows - 1) * PACKS;  // past the end: barriers still meet
  const pack *in = (const pack *)x + first;
  pack *out = (pack *)y + first;
  if constexpr (FITS) once(out, in, row < rows);
  else twice(out, in, row < rows);
}
