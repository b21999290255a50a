// Changed: nothing yet. One thread walks along one row and carries the sum.
// Why:     the definition, in code. Rows are the only parallelism.
// Look at: sectors for each request: neighbouring threads read a whole row apart.

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

constexpr float NEUTRAL = PRODUCT ? 1.0f : 0.0f;

__device__ float join(float a, float b) { return PRODUCT ? a * b : a + b; }

// What cumsum(x) - x is: not a number where x is infinite.
__device__ float without(float before, float own) { return before + (own - own); }

extern "C" __global__ void scan(float *__restrict__ y, const float *__restrict__ x,
                                const unsigned char *__restrict__ mask, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float carry = NEUTRAL;  // of stretches: one sum from end to end would lose more digits than PyTorch
  for (int first = 0; first < cols; first += 64) {
    float part = NEUTRAL;
    for (int k = first; k < min(first + 64, cols); k++) {
      const size_t at = (size_t)row * cols + (REVERSE ? cols - 1 - k : k);
      const float v = MASKED ? x[at] * mask[at] : x[at];
      const float before = join(carry, part);
      part = join(part, v);
      y[at] = EXCLUSIVE ? without(before, v) : join(carry, part);
    }
    carry = join(carry, part);
  }
}
