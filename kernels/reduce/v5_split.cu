// Changed: rows are cut into parts, each a block's; a second launch joins what they leave. Packs are
//          counted on the whole tensor: they are aligned whatever the row's length.
// Why:     a few very long rows keep every multiprocessor busy, and odd ones are read 16 bytes at a time.
// Look at: blocks against multiprocessors, LDG.E.128 in SASS, and what the second launch costs.

#ifndef OP
#define OP 0         // 0: sum, 1: mean, 2: maximum, 3: minimum
#endif
#ifndef THREADS
#define THREADS 256  // of a block: a power of two, 32 to 1024
#endif
#ifndef UNROLL
#define UNROLL 4     // packs that a thread has in flight
#endif

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

__device__ float block_join(float v) {
  constexpr int WARPS = THREADS / 32;
  __shared__ float part[WARPS];
  v = warp_join(v, 32);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  return warp_join(part[threadIdx.x % WARPS], WARPS);
}

// A pack of x; what lies outside `begin` to `end` is not read and counts for nothing.
__device__ float4 load(const float *x, size_t pack, size_t begin, size_t end) {
  const size_t at = 4 * pack;
  if (at >= begin && at + 4 <= end) return ((const float4 *)x)[pack];
  float v[4];
#pragma unroll
  for (int j = 0; j < 4; j++) v[j] = at + j >= begin && at + j < end ? x[at + j] : neutral();
  return { v[0], v[1], v[2], v[3] };
}

// Of each part of `high` floats of each row of `cols`, to y[row][part].
extern "C" __global__ void __launch_bounds__(THREADS, 1024 / THREADS)
reduce(float *__restrict__ y, const float *__restrict__ x, int cols, int high, int parts, float divisor) {
  const int row = blockIdx.x / parts, part = blockIdx.x % parts;
  const size_t begin = (size_t)row * cols + (size_t)part * high;
  const size_t end = begin + min(high, cols - part * high);

  float sums[4] = { neutral(), neutral(), neutral(), neutral() };
#pragma unroll 1
  for (size_t first = begin / 4 + threadIdx.x; 4 * first < end; first += THREADS * UNROLL) {
    float4 held[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) held[u] = load(x, first + u * THREADS, begin, end);
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      sums[0] = join(sums[0], held[u].x);
      sums[1] = join(sums[1], held[u].y);
      sums[2] = join(sums[2], held[u].z);
      sums[3] = join(sums[3], held[u].w);
    }
  }
  const float all = block_join(join(join(sums[0], sums[1]), join(sums[2], sums[3])));
  if (threadIdx.x == 0) y[blockIdx.x] = OP == 1 ? all / divisor : all;
}
