// Changed: nothing yet. One thread walks along one row, twice.
// Why:     the definition, in code. Rows are the only parallelism.
// Look at: sectors for each request: neighbouring threads read a whole row apart.

#ifndef SQUARE
#define SQUARE 1     // 1: the root of the sum of squares; 0: the sum of absolute values
#endif
#ifndef MEAN
#define MEAN 0       // 1: of their mean, not their sum
#endif

__device__ float weigh(float v) { return SQUARE ? v * v : fabsf(v); }

__device__ float norm_of(float sum, int cols) {
  if (MEAN) sum /= cols;
  return SQUARE ? sqrtf(sum) : sum;
}

extern "C" __global__ void normalize(float *__restrict__ y, const float *__restrict__ x, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += (size_t)row * cols;
  y += (size_t)row * cols;
  float sum = 0.0f;  // of stretches: one sum from left to right would lose more digits than PyTorch
  for (int first = 0; first < cols; first += 64) {
    float part = 0.0f;
    for (int c = first; c < min(first + 64, cols); c++) part += weigh(x[c]);
    sum += part;
  }
  const float norm = norm_of(sum, cols);
  for (int c = 0; c < cols; c++) y[c] = x[c] / norm;
}
