// The largest of a thread's elements, and the sum of exp(x - under(top)): the largest is not known ahead of the sum.
struct online { float top, sum; };

// The larger one; a NaN before all.
__device__ __forceinline__ float online_most(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float most;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
  return most;
#else
  return b > a || b != b ? b : a;
#endif
}

// What exponents are taken from: a whole number at or above the largest, which threads with nearly the same one agree on.
// Where there is none yet it is finite: -inf would make exp(-inf - -inf), a NaN.
__device__ __forceinline__ float online_base(float top) { return top < -3.402823466e+38f ? -3.402823466e+38f : ceilf(top); }

// A sum that was taken under `from`, under `to`. In double: rounded once, not by the same factor on all of it.
__device__ __forceinline__ float online_moved(float sum, float from, float to) {
  return from == to ? sum : (float)(sum * exp((double)from - to));
}

// The sum of exp(x - top).
__device__ __forceinline__ float online_sum(online v) { return (float)(v.sum * exp((double)online_base(v.top) - v.top)); }

__device__ __forceinline__ online online_warp(online v, int width) {
  const float from = online_base(v.top);
  for (int d = width / 2; d > 0; d /= 2) v.top = online_most(v.top, __shfl_xor_sync(~0u, v.top, d));
  v.sum = online_moved(v.sum, from, online_base(v.top));
  for (int d = width / 2; d > 0; d /= 2) v.sum += __shfl_xor_sync(~0u, v.sum, d);
  return v;
}

// Of all threads of the cluster's blocks, THREADS of each. Joins take turns with two places: one barrier will do.
template <int CLUSTER, int THREADS> __device__ online online_join(online v, int turn) {
  constexpr int WARPS = THREADS / 32, ALL = CLUSTER * WARPS, WIDTH = ALL < 32 ? ALL : 32;
  __shared__ online part[2][ALL];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  v = online_warp(v, 32);
  if constexpr (CLUSTER > 1) {
    if (lane < CLUSTER) cluster_send(&part[turn][cluster_rank() * WARPS + warp], v, lane);
    cluster_meet();
  } else {
    if (lane == 0) part[turn][warp] = v;
    __syncthreads();
  }
  v = part[turn][lane % WIDTH];
  for (int i = 32; i < ALL; i += 32) {
    const online more = part[turn][i + lane];
    const float from = online_base(v.top), top = online_most(v.top, more.top), to = online_base(top);
    v = { top, online_moved(v.sum, from, to) + online_moved(more.sum, online_base(more.top), to) };
  }
  return online_warp(v, WIDTH);
}
