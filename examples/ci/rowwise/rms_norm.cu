// A warp has a row: each thread adds up every 32nd square, and shuffles join the sums.
extern "C" __global__ void rms_norm(float *y, const float *x, const float *weight, int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  x += (size_t)row * cols;
  y += (size_t)row * cols;
  float sum = 0;
  for (int c = lane; c < cols; c += 32) sum += x[c] * x[c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  const float scale = 1 / sqrtf(sum / cols + 1e-6f);
  for (int c = lane; c < cols; c += 32) y[c] = x[c] * scale * weight[c];
}
