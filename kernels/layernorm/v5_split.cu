// Changed: rows are cut into parts, each held by a block: one launch for mean and spread of every part,
//          one to join them, one to normalise. It is the price of a second read.
// Why:     a few very long rows keep every multiprocessor busy, and are read twice, not three times.
// Look at: blocks against multiprocessors, DRAM bytes of the last launch: it goes backwards for the cache.

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
#define THREADS 256  // of a block: a power of two, 32 to 1024
#endif

constexpr int VEC = COLS % 4 == 0 ? 4 : COLS % 2 == 0 ? 2 : 1;  // what every row's alignment allows
constexpr int PACKS = COLS / VEC;
constexpr int HELD = 32 / VEC;                                  // packs that one thread holds
constexpr int PART = THREADS * HELD;                            // packs of a block
constexpr int PARTS = (PACKS + PART - 1) / PART;                // of a row
constexpr int WARPS = THREADS / 32;

struct alignas(4 * VEC) pack { float v[VEC]; };

// Of some numbers: how many, their mean, and the sum of (x - mean)^2.
struct moments { float count, mean, spread; };

// Chan, Golub and LeVeque: the moments of two sets together.
__device__ moments join(moments a, moments b) {
  const float count = a.count + b.count, apart = b.mean - a.mean;
  if (count == 0.0f) return a;
  const float share = b.count / count;
  return { count, a.mean + apart * share, a.spread + b.spread + apart * apart * a.count * share };
}

__device__ float block_sum(float v) {
  __shared__ float part[WARPS];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  __syncthreads();  // an earlier call's readers are done
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[threadIdx.x % WARPS];
  for (int d = WARPS / 2; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

// The moments of part blockIdx.x % PARTS of row blockIdx.x / PARTS.
extern "C" __global__ void __launch_bounds__(THREADS)
measure(moments *__restrict__ out, const float *__restrict__ x) {
  const int first = blockIdx.x % PARTS * PART;
  const int count = min(PART, PACKS - first) * VEC;
  const pack *in = (const pack *)x + (size_t)(blockIdx.x / PARTS) * PACKS + first;
  pack held[HELD];
  float sum = 0.0f, spread = 0.0f;
#pragma unroll
  for (int i = 0; i < HELD; i++)
    if (first + i * THREADS + threadIdx.x < PACKS) held[i] = in[i * THREADS + threadIdx.x];
    else held[i] = {};
#pragma unroll
  for (int i = 0; i < HELD; i++)
    for (int j = 0; j < VEC; j++) sum += held[i].v[j];
  const float mean = block_sum(sum) / count;
#pragma unroll
  for (int i = 0; i < HELD; i++)
    for (int j = 0; j < VEC; j++) {
      const float d = first + i * THREADS + threadIdx.x < PACKS ? held[i].v[j] - mean : 0.0f;
      spread += d * d;
    }
  spread = block_sum(spread);
  if (threadIdx.x == 0) out[blockIdx.x] = { (float)count, mean, spread };
}

// One warp for each row: what to take away and what to multiply by, in place of its first part's.
extern "C" __global__ void finish(moments *__restrict__ parts) {
  parts += (size_t)blockIdx.x * PARTS;
  moments all = {};
  for (int i = threadIdx.x; i < PARTS; i += 32) all = join(all, parts[i]);
  for (int d = 16; d > 0; d /= 2)
    all = join(all, { __shfl_xor_sync(~0u, all.count, d), __shfl_xor_sync(~0u, all.mean, d),
                      __shfl_xor_sync(~0u, all.spread, d) });
  __syncwarp();
  if (threadIdx.x == 0) parts[0] = { all.count, all.mean, rsqrtf(all.spread / COLS + EPS) };
}

extern "C" __global__ void __launch_bounds__(THREADS)
layernorm(float *__restrict__ y, const float *__restrict__ x, const float *__restrict__ weight,
          const float *__restrict__ bias, const moments *__restrict__ rows) {
  const int block = gridDim.x - 1 - blockIdx.x;  // what was read last is likeliest to be in the cache
  const size_t row = block / PARTS;
  const int first = block % PARTS * PART;
  const moments of = rows[row * PARTS];
#pragma unroll 8
  for (int i = 0; i < HELD; i++) {
    const int p = first + i * THREADS + threadIdx.x;
    if (p >= PACKS) break;
    pack a = ((const pack *)x)[row * PACKS + p];
    const pack w = WEIGHT ? ((const pack *)weight)[p] : pack{};
    const pack b = BIAS ? ((const pack *)bias)[p] : pack{};
    for (int j = 0; j < VEC; j++) {
      a.v[j] = (a.v[j] - of.mean) * of.spread;
      if (WEIGHT) a.v[j] *= w.v[j];
      if (BIAS) a.v[j] += b.v[j];
    }
    ((pack *)y)[row * PACKS + p] = a;
  }
}
