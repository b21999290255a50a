// NaN wins; of equals the first.
__device__ bool before(float a, int i, float b, int k) {
  bool an = a != a, bn = b != b;
  if (an || bn) return an && (!bn || i < k);
  return a > b || (a == b && i < k);
}

extern "C" __global__ void argmax(long long *y, const float *x, int cols) {
  const float *row = x + (size_t)blockIdx.x * cols;
  float most = -INFINITY;
  int at = cols;
  for (int i = threadIdx.x; i < cols; i += 32)
    if (before(row[i], i, most, at)) most = row[i], at = i;
  for (int s = 16; s > 0; s /= 2) {
    float other = __shfl_xor_sync(~0u, most, s);
    int where = __shfl_xor_sync(~0u, at, s);
    if (before(other, where, most, at)) most = other, at = where;
  }
  if (threadIdx.x == 0) y[blockIdx.x] = at;
}
