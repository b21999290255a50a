__device__ float product(const float *a, const float *b, int n, int k) {
  float sum = 0;
  for (int i = 0; i < k; i++) sum += a[i] * b[i * n];
  return sum;
}

// NaN wins; of equals the first.
__device__ bool before(float a, int i, float b, int k) {
  bool an = a != a, bn = b != b;
  if (an || bn) return an && (!bn || i < k);
  return a > b || (a == b && i < k);
}

extern "C" __global__ void choice(long long *y, const float *a, const float *b, int n, int k) {
  float most = -INFINITY;
  int at = n;
  for (int i = threadIdx.x; i < n; i += 32) {
    float score = product(a + (size_t)blockIdx.x * k, b + i, n, k);
    if (before(score, i, most, at)) most = score, at = i;
  }
  for (int s = 16; s > 0; s /= 2) {
    float other = __shfl_xor_sync(~0u, most, s);
    int where = __shfl_xor_sync(~0u, at, s);
    if (before(other, where, most, at)) most = other, at = where;
  }
  if (threadIdx.x == 0) y[blockIdx.x] = at;
}
