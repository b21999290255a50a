// Changed: 16-byte packs, PACKS of them for each thread of a block that scans THREADS x PACKS at a time.
// Why:     one barrier for 16 to 128 KB; the blocks of a multiprocessor take turns at loading and storing.
// Look at: LDG.E.128 in SASS, registers (no spills), DRAM bytes a second against a copy's.

#ifndef PRODUCT
#define PRODUCT 0    // 1: running products, 0: sums
#endif
#ifndef REVERSE
#define REVERSE 0    // 1: from the end of the row to its beginning
#endif
#ifndef EXCLUSIVE
#define EXCLUSIVE 0  // 1: of what lies before an element, without itself
#endif
#ifndef MASKED
#define MASKED 0     // 1: elements are multiplied by a mask of bytes first
#endif
#ifndef COLS
#define COLS 2048    // floats in a row
#endif
#ifndef THREADS
#define THREADS 512  // of a block: a power of two, 32 to 1024
#endif
#ifndef PACKS
#define PACKS 4      // of 16 bytes, that a thread has of a chunk
#endif

constexpr int WARPS = THREADS / 32;
constexpr int CHUNK = THREADS * PACKS;
// Threads that should run at a time on a multiprocessor, whose 65536 registers they share.
constexpr int CROWD = PACKS <= 4 ? 2048 : 1024;
constexpr float NEUTRAL = PRODUCT ? 1.0f : 0.0f;

struct chunk { float4 v[PACKS]; };

__device__ float join(float a, float b) { return PRODUCT ? a * b : a + b; }

// What cumsum(x) - x is: not a number where x is infinite.
__device__ float without(float before, float own) { return before + (own - own); }

// Packs are counted on the whole tensor, so that they are aligned whatever the row's length.
struct row { size_t begin; int head, past, packs; };

__device__ row row_at(int n) {
  const size_t begin = (size_t)n * COLS;
  row r;
  r.begin = begin / 4;
  r.head = COLS % 4 ? (int)(begin % 4) : 0;
  r.past = r.head + COLS;
  r.packs = (r.past + 3) / 4;
  return r;
}

// Where the k-th pack in scanning order lies in the row.
__device__ int place(const row &r, int k) { return REVERSE ? r.packs - 1 - k : k; }

__device__ bool inside(const row &r, int p, int j) {
  return COLS % 4 == 0 || (4 * p + j >= r.head && 4 * p + j < r.past);
}

__device__ bool whole(const row &r, int p) { return inside(r, p, 0) && inside(r, p, 3); }

__device__ float4 swap(float4 a) {
  if (REVERSE) return { a.w, a.z, a.y, a.x };
  return a;
}

// The k-th pack, in scanning order; what lies outside the row changes nothing.
__device__ float4 load(const float *x, const unsigned char *mask, const row &r, int k) {
  const int p = place(r, k);
  if (k < r.packs && whole(r, p)) {
    float4 a = __ldcs((const float4 *)x + r.begin + p);
    if (MASKED) {
      const uchar4 m = __ldcs((const uchar4 *)mask + r.begin + p);
      a = { a.x * m.x, a.y * m.y, a.z * m.z, a.w * m.w };
    }
    return swap(a);
  }
  float v[4];
#pragma unroll
  for (int j = 0; j < 4; j++) {
    v[j] = NEUTRAL;
    const size_t at = 4 * (r.begin + p) + j;
    if (k < r.packs && inside(r, p, j)) v[j] = MASKED ? x[at] * mask[at] : x[at];
  }
  return swap({ v[0], v[1], v[2], v[3] });
}

__device__ void store(float *y, const row &r, int k, float4 a) {
  const int p = place(r, k);
  a = swap(a);
  if (k < r.packs && whole(r, p)) __stcs((float4 *)y + r.begin + p, a);
  else {
    const float v[4] = { a.x, a.y, a.z, a.w };
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (k < r.packs && inside(r, p, j)) y[4 * (r.begin + p) + j] = v[j];
  }
}

// This thread's i-th pack of the chunk that begins at `first`: warps take contiguous pieces.
__device__ int index(int first, int i) {
  return first + (threadIdx.x / 32) * 32 * PACKS + i * 32 + threadIdx.x % 32;
}

__device__ chunk fetch(const float *x, const unsigned char *mask, const row &r, int first) {
  chunk c;
#pragma unroll
  for (int i = 0; i < PACKS; i++) c.v[i] = load(x, mask, r, index(first, i));
  return c;
}

// Over the lanes of a warp, each with those before it.
__device__ float warp_scan(float v) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const float before = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v = join(before, v);
  }
  return v;
}

// Scans the chunk in place, after `carry`, and takes the carry on.
__device__ void scan(chunk &c, float &carry, int turn) {
  __shared__ float totals[2][WARPS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float before[PACKS], total = NEUTRAL;
#pragma unroll
  for (int i = 0; i < PACKS; i++) {
    float4 &a = c.v[i];
    const float own = join(join(a.x, a.y), join(a.z, a.w));
    const float upto = warp_scan(own);
    const float left = __shfl_up_sync(~0u, upto, 1);
    before[i] = join(total, lane == 0 ? NEUTRAL : left);
    total = join(total, __shfl_sync(~0u, upto, 31));
  }
  if (lane == 0) totals[turn][warp] = total;
  __syncthreads();
  const float upto = warp_scan(lane < WARPS ? totals[turn][lane] : NEUTRAL);
  const float left = __shfl_sync(~0u, upto, warp == 0 ? 0 : warp - 1);
  const float start = warp == 0 ? carry : join(carry, left);
  carry = join(carry, __shfl_sync(~0u, upto, 31));
#pragma unroll
  for (int i = 0; i < PACKS; i++) {
    float4 &a = c.v[i];
    const float s = join(start, before[i]);
    const float one = join(s, a.x), two = join(s, join(a.x, a.y)), three = join(join(s, join(a.x, a.y)), a.z);
    if (EXCLUSIVE) a = { without(s, a.x), without(one, a.y), without(two, a.z), without(three, a.w) };
    else a = { one, two, three, join(s, join(join(a.x, a.y), join(a.z, a.w))) };
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, CROWD / THREADS > 8 ? 8 : CROWD / THREADS)
scan(float *__restrict__ y, const float *__restrict__ x, const unsigned char *__restrict__ mask) {
  const row r = row_at(blockIdx.x);
  float carry = NEUTRAL;
  for (int first = 0, turn = 0; first < r.packs; first += CHUNK, turn ^= 1) {
    chunk c = fetch(x, mask, r, first);
    scan(c, carry, turn);
#pragma unroll
    for (int i = 0; i < PACKS; i++) store(y, r, index(first, i), c.v[i]);
  }
}
