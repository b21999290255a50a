// Changed: 16-byte packs, UNROLL of them under way; the second pass goes from the end to the beginning.
// Why:     fewer requests carry more bytes, and what was read last is the likeliest to be in the cache still.
// Look at: LDG.E.128 in SASS, L2 hit rate of a row of some 100 KB, DRAM bytes against bytes needed.

#ifndef SQUARE
#define SQUARE 1     // 1: the root of the sum of squares; 0: the sum of absolute values
#endif
#ifndef MEAN
#define MEAN 0       // 1: of their mean, not their sum
#endif
#ifndef BLOCK
#define BLOCK 256    // a power of two, at least 32
#endif
#ifndef UNROLL
#define UNROLL 4     // packs that a thread has under way
#endif

constexpr int TIMES = UNROLL;  // a pragma takes no macro

__device__ float weigh(float v) { return SQUARE ? v * v : fabsf(v); }

__device__ float norm_of(float sum, int cols) {
  if (MEAN) sum /= cols;
  return SQUARE ? sqrtf(sum) : sum;
}

__device__ float warp_sum(float v, int width) {
  for (int d = width / 2; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

__device__ float block_sum(float v) {
  constexpr int WARPS = BLOCK / 32;
  __shared__ float part[WARPS];
  v = warp_sum(v, 32);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  return warp_sum(part[threadIdx.x % WARPS], WARPS);
}

// Packs are counted on the whole tensor, so that they are aligned whatever the row's length: the
// first and the last of a row may be its neighbours' in part.
struct row { size_t pack; int head, past, packs; };

__device__ row row_at(int n, int cols) {
  const size_t begin = (size_t)n * cols;
  const int head = (int)(begin % 4);
  return { begin / 4, head, head + cols, (head + cols + 3) / 4 };
}

__device__ bool inside(const row &r, int p, int j) { return 4 * p + j >= r.head && 4 * p + j < r.past; }

__device__ bool whole(const row &r, int p) { return inside(r, p, 0) && inside(r, p, 3); }

__device__ float4 load(const float *x, const row &r, int p) {
  if (whole(r, p)) return ((const float4 *)x)[r.pack + p];
  float v[4];
#pragma unroll
  for (int j = 0; j < 4; j++) v[j] = inside(r, p, j) ? x[4 * (r.pack + p) + j] : 0.0f;
  return { v[0], v[1], v[2], v[3] };
}

__device__ void store(float *y, const row &r, int p, float4 a) {
  if (whole(r, p)) {
    __stcs((float4 *)y + r.pack + p, a);
    return;
  }
  const float v[4] = { a.x, a.y, a.z, a.w };
#pragma unroll
  for (int j = 0; j < 4; j++)
    if (inside(r, p, j)) y[4 * (r.pack + p) + j] = v[j];
}

extern "C" __global__ void __launch_bounds__(BLOCK)
normalize(float *__restrict__ y, const float *__restrict__ x, int cols) {
  const row r = row_at(blockIdx.x, cols);
  float sum = 0.0f;
  for (int first = 0; first < r.packs; first += BLOCK * UNROLL) {
    float4 held[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) held[u] = load(x, r, first + u * BLOCK + threadIdx.x);
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      sum += (weigh(held[u].x) + weigh(held[u].y)) + (weigh(held[u].z) + weigh(held[u].w));
  }
  const float norm = norm_of(block_sum(sum), cols);
#pragma unroll TIMES
  for (int p = r.packs - 1 - threadIdx.x; p >= 0; p -= BLOCK) {
    const float4 a = load(x, r, p);
    store(y, r, p, { a.x / norm, a.y / norm, a.z / norm, a.w / norm });
  }
}
