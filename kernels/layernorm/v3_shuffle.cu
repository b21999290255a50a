// Changed: a warp joins its 32 sums by shuffles, in registers; shared memory holds one sum per warp.
// Why:     one barrier per reduction instead of ten, and no shared memory in the inner steps.
// Look at: barriers and shared wavefronts per row.

#ifndef EPS
#define EPS 1e-5f
#endif
#ifndef WEIGHT
#define WEIGHT 1
#endif
#ifndef BIAS
#define BIAS 1
#endif
#ifndef BLOCK
#define BLOCK 256  // a power of two, at least 32
#endif

constexpr int WARPS = BLOCK / 32;

__device__ float warp_sum(float v, int width) {
  for (int d = width / 2; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

// `part` must not be in use by an earlier call: two calls, two arrays, one barrier each.
__device__ float block_sum(float v, float *part) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  v = warp_sum(v, 32);
  if (lane == 0) part[warp] = v;
  __syncthreads();
  return warp_sum(part[lane % WARPS], WARPS);
}

extern "C" __global__ void layernorm(float *__restrict__ y, const float *__restrict__ x,
                                     const float *__restrict__ weight,
                                     const float *__restrict__ bias, int cols) {
  __shared__ float sums[WARPS], spreads[WARPS];
  x += (size_t)blockIdx.x * cols;
  y += (size_t)blockIdx.x * cols;

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) sum += x[c];
  const float mean = block_sum(sum, sums) / cols;

  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) squares += (x[c] - mean) * (x[c] - mean);
  const float scale = rsqrtf(block_sum(squares, spreads) / cols + EPS);

  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    float v = (x[c] - mean) * scale;
    if (WEIGHT) v *= weight[c];
    if (BIAS) v += bias[c];
    y[c] = v;
  }
}
