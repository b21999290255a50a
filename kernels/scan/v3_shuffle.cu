// Changed: warps scan by shuffles; only the warps' totals go through shared memory.
// Why:     one barrier for BLOCK floats, not two in each of log2(BLOCK) steps.
// Look at: barriers, and time waiting at them; loads in flight: one for each thread.

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
#ifndef BLOCK
#define BLOCK 256    // a power of two, at least 32
#endif

constexpr float NEUTRAL = PRODUCT ? 1.0f : 0.0f;

__device__ float join(float a, float b) { return PRODUCT ? a * b : a + b; }

// What cumsum(x) - x is: not a number where x is infinite.
__device__ float without(float before, float own) { return before + (own - own); }

// Over the lanes of a warp, each with those before it.
__device__ float warp_scan(float v) {
  const int lane = threadIdx.x % 32;
  for (int d = 1; d < 32; d *= 2) {
    const float before = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v = join(before, v);
  }
  return v;
}

extern "C" __global__ void scan(float *__restrict__ y, const float *__restrict__ x,
                                const unsigned char *__restrict__ mask, int cols) {
  constexpr int WARPS = BLOCK / 32;
  __shared__ float totals[2][WARPS];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const size_t row = (size_t)blockIdx.x * cols;
  float carry = NEUTRAL;
  for (int first = 0, turn = 0; first < cols; first += BLOCK, turn ^= 1) {
    const int k = first + t;
    const size_t at = row + (REVERSE ? cols - 1 - k : k);
    float v = k < cols ? x[at] : NEUTRAL;
    if (MASKED && k < cols) v *= mask[at];
    const float own = v;
    v = warp_scan(own);
    if (lane == 31) totals[turn][warp] = v;
    __syncthreads();  // the two halves of `totals` take turns, so one is enough
    const float upto = warp_scan(lane < WARPS ? totals[turn][lane] : NEUTRAL);
    const float left = __shfl_sync(~0u, upto, warp == 0 ? 0 : warp - 1);
    const float start = warp == 0 ? carry : join(carry, left);
    const float before = __shfl_up_sync(~0u, v, 1);
    if (k < cols && EXCLUSIVE) y[at] = without(lane == 0 ? start : join(start, before), own);
    if (k < cols && !EXCLUSIVE) y[at] = join(start, v);
    carry = join(carry, __shfl_sync(~0u, upto, 31));
  }
}
