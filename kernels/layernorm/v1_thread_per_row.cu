// Changed: nothing yet. One thread per row reads it three times: mean, variance, result.
// Why:     it is the definition written down. The mean comes first, because E[x^2] - E[x]^2 cancels.
// Look at: sectors per request (neighbouring lanes are a whole row apart), and how few blocks there are.

#ifndef EPS
#define EPS 1e-5f
#endif
#ifndef WEIGHT
#define WEIGHT 1
#endif
#ifndef BIAS
#define BIAS 1
#endif

// Of stretches, and what is lost in joining these goes into the next: rows may be long and far from
// zero, where the mean of one sum from left to right has fewer digits than PyTorch's.
__device__ float row_sum(const float *x, float shift, int power, int cols) {
  float sum = 0.0f, lost = 0.0f;
  for (int first = 0; first < cols; first += 64) {
    float part = -lost;
    for (int c = first; c < min(first + 64, cols); c++) {
      float d = x[c] - shift;
      part += power == 2 ? d * d : d;
    }
    const float all = sum + part;
    lost = (all - sum) - part;
    sum = all;
  }
  return sum;
}

extern "C" __global__ void layernorm(float *__restrict__ y, const float *__restrict__ x,
                                     const float *__restrict__ weight,
                                     const float *__restrict__ bias, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += (size_t)row * cols;
  y += (size_t)row * cols;

  const float mean = row_sum(x, 0.0f, 1, cols) / cols;
  const float scale = rsqrtf(row_sum(x, mean, 2, cols) / cols + EPS);
  for (int c = 0; c < cols; c++) {
    float v = (x[c] - mean) * scale;
    if (WEIGHT) v *= weight[c];
    if (BIAS) v += bias[c];
    y[c] = v;
  }
}
