// $NAME: running $WHAT along rows of n elements. A block takes a part of a row, chunk by chunk; each
// thread has $PACKS packs of $LANES of a chunk in registers.

struct $NAME_chunk { $T v[$PACKS][$LANES]; };

// The k-th pack in scanning order; what lies behind the row's end changes nothing.
static __device__ __forceinline__ void $NAME_fetch($PARAMETERS, $T *v, long long o, int k, int n) {
  UNROLL for (int j = 0; j < $LANES; j++) v[j] = $NEUTRAL;
  if (k * $LANES >= n) return;
  $LOAD
}

static __device__ __forceinline__ $T $NAME_sum(const $T *v) {
  $T sum = v[0];
  if ($LANES == 4) sum = $NAME_join($NAME_join(v[0], v[1]), $NAME_join(v[2 % $LANES], v[3 % $LANES]));
  return sum;
}

// What comes before each pack of the chunk, after `carry`, which is taken on.
static __device__ __forceinline__ void $NAME_scan(const $NAME_chunk &c, $T *before, $T &carry, int turn) {
  __shared__ $T totals[2][$WARPS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  $T total = $NEUTRAL;
  UNROLL for (int i = 0; i < $PACKS; i++) {
    const $T upto = $NAME_warp($NAME_sum(c.v[i]));
    const $T left = __shfl_up_sync(~0u, upto, 1);
    before[i] = lane == 0 ? total : $NAME_join(total, left);
    total = $NAME_join(total, __shfl_sync(~0u, upto, 31));
  }
  if (lane == 0) totals[turn][warp] = total;
  __syncthreads();
  const $T upto = $NAME_warp(lane < $WARPS ? totals[turn][lane] : ($T)$NEUTRAL);
  const $T left = __shfl_sync(~0u, upto, warp == 0 ? 0 : warp - 1);
  const $T start = warp == 0 ? carry : $NAME_join(carry, left);
  carry = $NAME_join(carry, __shfl_sync(~0u, upto, 31));
  UNROLL for (int i = 0; i < $PACKS; i++) before[i] = $NAME_join(start, before[i]);
}

$if PARTS
// The total of part blockIdx.x % parts of each row; a part has `part` packs.
extern "C" __global__ void __launch_bounds__($THREADS)
$NAME_total($PARAMETERS, $T *__restrict__ totals, int n, int part, int parts) {
  __shared__ $T shared[$WARPS];
  const long long o = blockIdx.x / parts;
  const int begin = blockIdx.x % parts * part, end = min((n + $LANES - 1) / $LANES, begin + part);
  $T sum[$LANES];
  UNROLL for (int j = 0; j < $LANES; j++) sum[j] = $NEUTRAL;
#pragma unroll 4
  for (int k = begin + threadIdx.x; k < end; k += $THREADS) {
    $T v[$LANES];
    $fetch(v, o, k, n);
    UNROLL for (int j = 0; j < $LANES; j++) sum[j] = $NAME_join(sum[j], v[j]);
  }
  $T v = $NAME_sum(sum);
  for (int d = 16; d > 0; d /= 2) v = $NAME_join(v, __shfl_xor_sync(~0u, v, d));
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < $WARPS; w++) v = $NAME_join(v, shared[w]);
  totals[blockIdx.x] = v;
}

$end
extern "C" __global__ void __launch_bounds__($THREADS, $CROWD)
$NAME($PARAMETERS, $STARTSint n, int part, int parts) {
  const long long o = blockIdx.x / parts;
  $T carry = $CARRY;
  const int begin = blockIdx.x % parts * part, end = min((n + $LANES - 1) / $LANES, begin + part);
  const int mine = threadIdx.x / 32 * 32 * $PACKS + threadIdx.x % 32;      // warps take contiguous pieces
  for (int first = begin, turn = 0; first < end; first += $THREADS * $PACKS, turn ^= 1) {
    $NAME_chunk c;
    $T before[$PACKS];
    UNROLL for (int i = 0; i < $PACKS; i++) $fetch(c.v[i], o, first + mine + i * 32, n);
    $NAME_scan(c, before, carry, turn);
    UNROLL for (int i = 0; i < $PACKS; i++) {
      const int k = first + mine + i * 32;
      const $T *own = c.v[i];
      $T v[$LANES];
$if EXCLUSIVE
      v[0] = before[i];
      if ($LANES == 4) {
        const $T two = $NAME_join(own[0], own[1 % $LANES]);
        v[1 % $LANES] = $NAME_join(before[i], own[0]);
        v[2 % $LANES] = $NAME_join(before[i], two);
        v[3 % $LANES] = $NAME_join(before[i], $NAME_join(two, own[2 % $LANES]));
      }
$else
      v[0] = $NAME_join(before[i], own[0]);
      if ($LANES == 4) {
        const $T two = $NAME_join(own[0], own[1 % $LANES]);
        v[1 % $LANES] = $NAME_join(before[i], two);
        v[2 % $LANES] = $NAME_join(before[i], $NAME_join(two, own[2 % $LANES]));
        v[3 % $LANES] = $NAME_join(before[i], $NAME_join(two, $NAME_join(own[2 % $LANES], own[3 % $LANES])));
      }
$end
      if (k * $LANES < n) {
        $STORE
      }
    }
  }
}
