__device__ float value(const float *row, const unsigned char *mask, int i) { return mask[i] ? row[i] : -1e4f; }

extern "C" __global__ void masked(float *y, const float *x, const unsigned char *mask, int rows, int cols) {
  const float *row = x + (size_t)blockIdx.x * cols;
  int line = blockIdx.x % rows;
  const unsigned char *allowed = mask + (size_t)line * cols;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32) {
    float v = value(row, allowed, i);
    most = v > most || v != v ? v : most;
  }
  for (int s = 16; s > 0; s /= 2) {
    float other = __shfl_xor_sync(~0u, most, s);
    most = other > most || other != other ? other : most;
  }
  for (int i = threadIdx.x; i < cols; i += 32) sum += expf(value(row, allowed, i) - most);
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(~0u, sum, s);
  for (int i = threadIdx.x; i < cols; i += 32) y[(size_t)blockIdx.x * cols + i] = expf(value(row, allowed, i) - most) / sum;
}
