// Changed: a block scans a row, BLOCK floats at a time, in log2(BLOCK) steps in shared memory.
// Why:     loads and stores are coalesced, and BLOCK threads work where one did.
// Look at: sectors for each request; two barriers in every step, all of the time spent waiting at them.

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

extern "C" __global__ void scan(float *__restrict__ y, const float *__restrict__ x,
                                const unsigned char *__restrict__ mask, int cols) {
  __shared__ float upto[BLOCK];
  const int t = threadIdx.x;
  const size_t row = (size_t)blockIdx.x * cols;
  float carry = NEUTRAL;
  for (int first = 0; first < cols; first += BLOCK) {
    const int k = first + t;
    const size_t at = row + (REVERSE ? cols - 1 - k : k);
    float v = k < cols ? x[at] : NEUTRAL;
    if (MASKED && k < cols) v *= mask[at];
    const float own = v;
    for (int d = 1; d < BLOCK; d *= 2) {  // Hillis and Steele: each joins what lies d before it
      __syncthreads();
      upto[t] = v;
      __syncthreads();
      if (t >= d) v = join(upto[t - d], v);
    }
    __syncthreads();
    upto[t] = v;
    __syncthreads();
    const float before = t == 0 ? carry : join(carry, upto[t - 1]);
    if (k < cols) y[at] = EXCLUSIVE ? without(before, own) : join(carry, v);
    carry = join(carry, upto[BLOCK - 1]);
  }
}
