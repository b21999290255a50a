// basic.cu - the families that every candidate starts from, plus their broken twins.
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void saxpy_off_by_one(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = a * x[i] + y[i];
}

__device__ float gelu_of(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }

extern "C" __global__ void gelu(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = gelu_of(x[i]);
}

extern "C" __global__ void gelu4(float4 *y, const float4 *x, int n4) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    float4 v = x[i];
    y[i] = make_float4(gelu_of(v.x), gelu_of(v.y), gelu_of(v.z), gelu_of(v.w));
  }
}

extern "C" __global__ void gelu_tanh(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  y[i] = 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
}

__device__ float warp_max(float v) {
  for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}

__device__ float warp_sum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

extern "C" __global__ void softmax_rows(float *y, const float *x, int cols) {
  __shared__ float part[32];
  const float *in = x + (size_t)blockIdx.x * cols;
  float *out = y + (size_t)blockIdx.x * cols;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  float top = -INFINITY;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) top = fmaxf(top, in[i]);
  top = warp_max(top);
  if (lane == 0) part[warp] = top;
  __syncthreads();
  top = warp_max(lane < warps ? part[lane] : -INFINITY);
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += expf(in[i] - top);
  sum = warp_sum(sum);
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  sum = warp_sum(lane < warps ? part[lane] : 0.0f);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) out[i] = expf(in[i] - top) / sum;
}

extern "C" __global__ void layernorm(float *y, const float *x, const float *g,
                                     const float *b, int cols, float eps) {
  extern __shared__ float dyn[];
  const float *in = x + (size_t)blockIdx.x * cols;
  double s = 0, q = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) { s += in[i]; q += (double)in[i] * in[i]; }
  double *sums = (double *)dyn, *squares = sums + blockDim.x;
  sums[threadIdx.x] = s;
  squares[threadIdx.x] = q;
  __syncthreads();
  for (int o = blockDim.x / 2; o > 0; o >>= 1) {
    if (threadIdx.x < o) {
      sums[threadIdx.x] += sums[threadIdx.x + o];
      squares[threadIdx.x] += squares[threadIdx.x + o];
    }
    __syncthreads();
  }
  double mean = sums[0] / cols, var = squares[0] / cols - mean * mean;
  float scale = rsqrtf((float)var + eps);
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    y[(size_t)blockIdx.x * cols + i] = (in[i] - (float)mean) * scale * g[i] + b[i];
}

template <bool BARRIER> __device__ void sum_rows(float *y, const float *x, int cols) {
  __shared__ float part[256];
  float s = 0;
  for (int i = threadIdx.x; i < cols; i += 256) s += x[(size_t)blockIdx.x * cols + i];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int o = 128; o > 0; o >>= 1) {
    if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
    if (BARRIER) __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}

extern "C" __global__ void rowsum(float *y, const float *x, int cols) { sum_rows<true>(y, x, cols); }
extern "C" __global__ void rowsum_race(float *y, const float *x, int cols) { sum_rows<false>(y, x, cols); }

extern "C" __global__ void matmul_naive(float *c, const float *a, const float *b, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float s = 0;
  for (int i = 0; i < k; i++) s += a[row * k + i] * b[i * n + col];
  c[row * n + col] = s;
}

// 64x64 tile, 16 deep, 256 threads, 4x4 per thread; sizes are multiples of 64.
extern "C" __global__ void matmul_tiled(float *c, const float *a, const float *b, int m, int n, int k) {
  __shared__ float as[16][64], bs[16][64];
  int t = threadIdx.x, tx = t & 15, ty = t >> 4;
  int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < k; k0 += 16) {
    float4 va = *(const float4 *)&a[(size_t)(row0 + (t >> 2)) * k + k0 + (t & 3) * 4];
    float4 vb = *(const float4 *)&b[(size_t)(k0 + (t >> 4)) * n + col0 + (t & 15) * 4];
    as[(t & 3) * 4 + 0][t >> 2] = va.x;
    as[(t & 3) * 4 + 1][t >> 2] = va.y;
    as[(t & 3) * 4 + 2][t >> 2] = va.z;
    as[(t & 3) * 4 + 3][t >> 2] = va.w;
    *(float4 *)&bs[t >> 4][(t & 15) * 4] = vb;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; i++) {
      float4 fa = *(float4 *)&as[i][ty * 4], fb = *(float4 *)&bs[i][tx * 4];
      float ra[4] = {fa.x, fa.y, fa.z, fa.w}, rb[4] = {fb.x, fb.y, fb.z, fb.w};
#pragma unroll
      for (int u = 0; u < 4; u++)
#pragma unroll
        for (int v = 0; v < 4; v++) acc[u][v] += ra[u] * rb[v];
    }
    __syncthreads();
  }
  for (int u = 0; u < 4; u++)
    *(float4 *)&c[(size_t)(row0 + ty * 4 + u) * n + col0 + tx * 4] =
      make_float4(acc[u][0], acc[u][1], acc[u][2], acc[u][3]);
}
