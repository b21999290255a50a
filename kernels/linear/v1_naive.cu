// Changed: nothing yet. One thread computes one element of y, bias and function included.
// Why:     the whole layer in one launch: y is written once and never read.
// Look at: bytes fetched from global memory for each multiplication: eight.

#ifndef FUNCTION
#define FUNCTION 0.5f * v * (1.0f + erff(v * 0.7071067812f))
#endif

__device__ float f(float v) { return FUNCTION; }

extern "C" __global__ void linear(float *__restrict__ y, const float *__restrict__ x,
                                  const float *__restrict__ w, const float *__restrict__ bias,
                                  int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; i++) sum += x[(size_t)row * k + i] * w[(size_t)col * k + i];
  y[(size_t)row * n + col] = f(sum + bias[col]);
}
