// The largest or least and where it was.
template <class V> struct placed { V value; long long at; };

template <class V> __device__ V from_lane(V v, int d) { return __shfl_xor_sync(~0u, v, d); }

template <class V> __device__ placed<V> from_lane(placed<V> p, int d) {
  return { __shfl_xor_sync(~0u, p.value, d), __shfl_xor_sync(~0u, p.at, d) };
}

// Joins the values of the T lanes of each row of a block of THREADS: lanes are neighbours. All get the result.
template <int T, int THREADS, class V, class J> __device__ V join_rows(V v, J join) {
  UNROLL for (int d = (T < 32 ? T : 32) / 2; d > 0; d /= 2) v = join(v, from_lane(v, d));
  if constexpr (T > 32) {
    constexpr int WARPS = T / 32;
    __shared__ V part[THREADS / 32];
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    const int first = threadIdx.x / T * WARPS;
    v = part[first];
    for (int w = 1; w < WARPS; w++) v = join(v, part[first + w]);
    __syncthreads();
  }
  return v;
}

// The same where a row's T lanes are X threads apart.
template <int T, int X, class V, class J> __device__ V join_columns(V v, J join) {
  if constexpr (T > 1) {
    __shared__ V part[T * X];
    part[threadIdx.x] = v;
    __syncthreads();
    UNROLL for (int d = T / 2; d > 0; d /= 2) {
      if (threadIdx.x < d * X) part[threadIdx.x] = join(part[threadIdx.x], part[threadIdx.x + d * X]);
      __syncthreads();
    }
    v = part[threadIdx.x % X];
    __syncthreads();
  }
  return v;
}
