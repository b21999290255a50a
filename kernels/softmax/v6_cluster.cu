// Changed: CLUSTER blocks share a row. Each holds its part in shared memory, which each thread fills by
//          asynchronous copies into places of its own, and refills for the next row as it stores this one.
// Why:     a row too long for one block is read once, and loads and stores are under way at the same time.
// Look at: DRAM bytes against bytes needed, LDGSTS in SASS, and the share of time at the cluster's barrier.

#ifndef COLS
#define COLS 2048    // floats in a row
#endif
#ifndef CLUSTER
#define CLUSTER 1    // blocks that share a row: a power of two, at most 16
#endif
#ifndef THREADS
#define THREADS 512  // of a block: a power of two, 32 to 1024
#endif
#ifndef ROOM
#define ROOM 212992  // bytes of shared memory for a block's part; what does not fit is read twice
#endif

constexpr int PACKS = (COLS + 3) / 4 + (COLS % 4 != 0);       // aligned ones that a row touches, at most
constexpr int PART = (PACKS + CLUSTER - 1) / CLUSTER;         // of one block
constexpr int LONG = (PART + THREADS - 1) / THREADS;          // of one thread
constexpr int MOST = ROOM / 16 / THREADS;
constexpr int HELD = LONG < MOST ? LONG : MOST;               // of those, in shared memory
constexpr int GROUP = HELD > 32 ? (HELD + 7) / 8 : 4;         // packs that a thread waits for together
constexpr int GROUPS = (HELD + GROUP - 1) / GROUP;
constexpr int WARPS = THREADS / 32;
// Blocks that should share a multiprocessor, so that one loads while another stores: as its memory
// allows, for 1536 threads at most, which have 42 registers each.
constexpr int MEMORY = 233472 / (16 * THREADS * HELD + 2 * CLUSTER * WARPS * 8 + 1024);
constexpr int BLOCKS = MEMORY < 2 || THREADS > 512 ? 1 : MEMORY < 1536 / THREADS ? MEMORY : 1536 / THREADS;
constexpr float LOWEST = -3.402823466e+38f;                   // -inf would make exp(-inf - -inf), a NaN

// Rows begin where they begin: packs are counted on the whole tensor, and the first and
// last of a row may belong to its neighbours in part.
struct row {
  size_t pack;             // first one of this block's part
  int first, count, past;  // its number in the row; packs in the part; elements before and
  int head;                // after the row: it begins at `head`, ends at `past` of its first pack
};

// The largest, and the sum of exp(x - above(top)).
struct online { float top, sum; };

extern __shared__ float4 held[];

// Threads with nearly the same maximum agree on a number above it. Their sums join without being
// rescaled, which would put the error of an expf on each, and all of them on the same side.
__device__ float above(float v) { return 4.0f * ceilf(0.25f * v); }

__device__ online join(online a, online b) {
  const float top = fmaxf(a.top, b.top), high = above(top);
  return { top, a.sum * expf(above(a.top) - high) + b.sum * expf(above(b.top) - high) };
}

__device__ online warp_join(online v, int width) {
  for (int d = width / 2; d > 0; d /= 2) {
    online other = { __shfl_xor_sync(~0u, v.top, d), __shfl_xor_sync(~0u, v.sum, d) };
    v = join(v, other);
  }
  return v;
}

__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ int rank() {
  if constexpr (CLUSTER == 1) return 0;
  int r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}

// All threads of the cluster; what they wrote before is seen after.
__device__ void meet() {
  if constexpr (CLUSTER == 1) __syncthreads();
  else asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

// To the same place in the shared memory of another block.
__device__ void send(online *to, online v, int block) {
  if constexpr (CLUSTER == 1) *to = v;
  else {
    unsigned far;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(address(to)), "r"(block));
    asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" :: "r"(far), "f"(v.top), "f"(v.sum) : "memory");
  }
}

// Of all threads of the cluster. Rows take turns with two places, so that one barrier will do.
__device__ online row_join(online v, int turn) {
  __shared__ online part[2][CLUSTER * WARPS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  v = warp_join(v, 32);
  if (lane < CLUSTER) send(&part[turn][rank() * WARPS + warp], v, lane);
  meet();
  v = { LOWEST, 0.0f };
  for (int i = lane; i < CLUSTER * WARPS; i += 32) v = join(v, part[turn][i]);
  return warp_join(v, 32);
}

__device__ row row_at(int n) {
  const size_t begin = (size_t)n * COLS, skipped = begin / 4;
  row r;
  r.head = COLS % 4 ? (int)(begin % 4) : 0;
  r.past = r.head + COLS;
  r.first = rank() * PART;
  r.count = min(PART, (r.past + 3) / 4 - r.first);
  r.pack = skipped + r.first;
  return r;
}

// Does element j of the part's pack p lie in the row?
__device__ bool inside(const row &r, int p, int j) {
  const int at = 4 * (r.first + p) + j;
  return COLS % 4 == 0 || (at >= r.head && at < r.past);
}

__device__ bool whole(const row &r, int p) { return inside(r, p, 0) && inside(r, p, 3); }

// Ask for this thread's packs of one group. A pack on the row's edge is left to `load`.
__device__ void ask(const float *x, const row &r, int group) {
#pragma unroll
  for (int i = group * GROUP; i < min(HELD, (group + 1) * GROUP); i++) {
    const int p = i * THREADS + threadIdx.x;
    if (p < r.count && whole(r, p))
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::
                   "r"(address(held + p)), "l"((const float4 *)x + r.pack + p) : "memory");
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Until no more than `left` of the groups asked for are on their way.
__device__ void await(int left) {
#define CASE(N) case N: asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); break;
  switch (left) {
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
    default: asm volatile("cp.async.wait_group 0;" ::: "memory");
  }
#undef CASE
}

// A pack of the part, from shared memory where it is held; outside the row: no weight.
__device__ float4 load(const float *x, const row &r, int p, bool keep) {
  if (p < r.count && whole(r, p)) return keep ? held[p] : ((const float4 *)x)[r.pack + p];
  float v[4];
#pragma unroll
  for (int j = 0; j < 4; j++)
    v[j] = p < r.count && inside(r, p, j) ? x[4 * (r.pack + p) + j] : __int_as_float(0xff800000);
  return { v[0], v[1], v[2], v[3] };
}

__device__ void add(online &sum, float4 a) {
  const float top = fmaxf(fmaxf(fmaxf(a.x, a.y), fmaxf(a.z, a.w)), sum.top), high = above(top);
  sum.sum = sum.sum * expf(above(sum.top) - high) + ((expf(a.x - high) + expf(a.y - high)) +
                                                     (expf(a.z - high) + expf(a.w - high)));
  sum.top = top;
}

// One over the row's sum, in two parts: the rounding of one would be an error of all of the row.
struct factor { float high, low; };

__device__ factor inverse(double sum) {
  const double exact = 1.0 / sum;
  return { (float)exact, (float)(exact - (float)exact) };
}

__device__ float weigh(float v, float top, factor scale) {
  const float e = expf(v - top);
  return fmaf(e, scale.high, e * scale.low);
}

__device__ void store(float *y, const row &r, int p, float4 a, float top, factor scale) {
  a = { weigh(a.x, top, scale), weigh(a.y, top, scale), weigh(a.z, top, scale), weigh(a.w, top, scale) };
  if (p < r.count && whole(r, p)) __stcs((float4 *)y + r.pack + p, a);
  else {
    const float v[4] = { a.x, a.y, a.z, a.w };
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (p < r.count && inside(r, p, j)) y[4 * (r.pack + p) + j] = v[j];
  }
}

__device__ online gather(const float *x, const row &r) {
  online sum = { LOWEST, 0.0f };
#pragma unroll
  for (int g = 0; g < GROUPS; g++) {
    await(GROUPS - 1 - g);
#pragma unroll
    for (int i = g * GROUP; i < min(HELD, (g + 1) * GROUP); i++)
      add(sum, load(x, r, i * THREADS + threadIdx.x, true));
  }
  for (int i = HELD; i < LONG; i++) add(sum, load(x, r, i * THREADS + threadIdx.x, false));
  return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
softmax(float *__restrict__ y, const float *__restrict__ x, int rows) {
  const int step = gridDim.x / CLUSTER;
  int turn = 0;
  row r = row_at(blockIdx.x / CLUSTER);
#pragma unroll
  for (int g = 0; g < GROUPS; g++) ask(x, r, g);
  if constexpr (CLUSTER > 1) meet();  // nobody writes where no block has begun

  for (int n = blockIdx.x / CLUSTER; n < rows; n += step, turn ^= 1) {
    const online all = row_join(gather(x, r), turn);
    const factor scale = inverse(all.sum * exp((double)above(all.top) - all.top));
    const bool more = n + step < rows;
    const row next = row_at(more ? n + step : n);
    for (int i = HELD; i < LONG; i++) {  // the latest read are the likeliest to be in the cache
      const int p = (LONG - 1 - i + HELD) * THREADS + threadIdx.x;
      store(y, r, p, load(x, r, p, false), all.top, scale);
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
#pragma unroll
      for (int i = g * GROUP; i < min(HELD, (g + 1) * GROUP); i++) {
        const int p = i * THREADS + threadIdx.x;
        store(y, r, p, load(x, r, p, true), all.top, scale);
      }
      if (more) ask(x, next, g);
    }
    r = next;
  }
  if constexpr (CLUSTER > 1) meet();  // nobody leaves while others may still write here
}
