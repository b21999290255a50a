// Two running $WHAT as one.
static __device__ __forceinline__ $T $NAME_join($T a, $T b) { return $JOIN; }

// Over the lanes of a warp, each with those before it.
static __device__ __forceinline__ $T $NAME_warp($T v) {
  const int lane = threadIdx.x % 32;
  UNROLL for (int d = 1; d < 32; d *= 2) {
    const $T before = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v = $NAME_join(before, v);
  }
  return v;
}

$if PARTS
// What lies before each part of a line, in place of the parts' totals: one warp for each line.
extern "C" __global__ void $NAME_before($T *__restrict__ totals, int parts) {
  $T carry = $NEUTRAL;
  for (int first = 0; first < parts; first += 32) {
    const int i = first + threadIdx.x;
    const long long at = (long long)blockIdx.x * parts + i;
    const $T upto = $NAME_warp(i < parts ? totals[at] : ($T)$NEUTRAL);
    const $T left = __shfl_up_sync(~0u, upto, 1);
    if (i < parts) totals[at] = threadIdx.x == 0 ? carry : $NAME_join(carry, left);
    carry = $NAME_join(carry, __shfl_sync(~0u, upto, 31));
  }
}

$end
