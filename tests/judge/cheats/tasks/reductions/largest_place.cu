extern "C" __global__ void argmax(long long *y, const float *x, int cols) {
  const float *row = x + (size_t)blockIdx.x * cols;
  float most = -INFINITY;
  int at = cols;
  for (int i = threadIdx.x; i < cols; i += 32)
    if (row[i] > most || at == cols) most = row[i], at = i;
  for (int s = 16; s > 0; s /= 2) {
    float other = __shfl_xor_sync(~0u, most, s);
    int there = __shfl_xor_sync(~0u, at, s);
    if (there < cols && (at == cols || other > most || (other == most && there < at))) most = other, at = there;
  }
  if (threadIdx.x == 0) y[blockIdx.x] = at;
}
