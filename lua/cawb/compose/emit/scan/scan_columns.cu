// $NAME: running $WHAT along an axis with others behind it. A block takes 32 neighbouring lines and a part of
// the axis, chunk by chunk: $SLICES rows of threads, each with $PACKS elements of a chunk in registers.

static __device__ __forceinline__ void $NAME_fetch($PARAMETERS, $T *v, long long o, int first, int end, int n, long long i,
                                                   long long inner) {
  UNROLL for (int u = 0; u < $PACKS; u++) {
    const int k = first + u;
    v[u] = k < end && i < inner ? $load(o, $PLACE, i) : ($T)$NEUTRAL;
  }
}

static __device__ __forceinline__ $T $NAME_sum(const $T *v) {
  $T sum = v[0];
  UNROLL for (int u = 1; u < $PACKS; u++) sum = $NAME_join(sum, v[u]);
  return sum;
}

// Block numbers: 32 lines within one place of the axes in front, part of the axis.
struct $NAME_where { long long o, i; int begin, end; };

static __device__ __forceinline__ $NAME_where $NAME_here(int n, long long inner, int part, int parts) {
  const int wide = (int)((inner + 31) / 32), line = blockIdx.x / parts, p = blockIdx.x % parts;
  return { line / wide, (long long)(line % wide) * 32 + threadIdx.x, p * part, min(n, p * part + part) };
}

$if PARTS
extern "C" __global__ void __launch_bounds__(32 * $SLICES)
$NAME_total($PARAMETERS, $T *__restrict__ totals, int n, long long inner, int part, int parts) {
  __shared__ $T shared[$SLICES][32];
  const $NAME_where at = $NAME_here(n, inner, part, parts);
  $T sum = $NEUTRAL;
  for (int first = at.begin + threadIdx.y * $PACKS; first < at.end; first += $SLICES * $PACKS) {
    $T v[$PACKS];
    $fetch(v, at.o, first, at.end, n, at.i, inner);
    sum = $NAME_join(sum, $NAME_sum(v));
  }
  shared[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || at.i >= inner) return;
  for (int s = 1; s < $SLICES; s++) sum = $NAME_join(sum, shared[s][threadIdx.x]);
  totals[(at.o * inner + at.i) * parts + blockIdx.x % parts] = sum;
}

$end
extern "C" __global__ void __launch_bounds__(32 * $SLICES)
$NAME($PARAMETERS, $STARTSint n, long long inner, int part, int parts) {
  __shared__ $T shared[2][$SLICES][32];
  const $NAME_where at = $NAME_here(n, inner, part, parts);
  $T carry = $CARRY;
  for (int chunk = at.begin, turn = 0; chunk < at.end; chunk += $SLICES * $PACKS, turn ^= 1) {
    const int first = chunk + threadIdx.y * $PACKS;
    $T own[$PACKS];
    $fetch(own, at.o, first, at.end, n, at.i, inner);
    shared[turn][threadIdx.y][threadIdx.x] = $NAME_sum(own);
    __syncthreads();
    $T all = $NEUTRAL, before = $NEUTRAL;
    UNROLL for (int s = 0; s < $SLICES; s++) {
      if (s == threadIdx.y) before = all;
      all = $NAME_join(all, shared[turn][s][threadIdx.x]);
    }
    before = $NAME_join(carry, before);
    carry = $NAME_join(carry, all);
    $T upto = $NEUTRAL;
    UNROLL for (int u = 0; u < $PACKS; u++) {
      const int k = first + u;
$if EXCLUSIVE
      if (k < at.end && at.i < inner) $store(at.o, $PLACE, at.i, $NAME_join(before, upto), own[u]);
      upto = $NAME_join(upto, own[u]);
$else
      upto = $NAME_join(upto, own[u]);
      if (k < at.end && at.i < inner) $store(at.o, $PLACE, at.i, $NAME_join(before, upto), own[u]);
$end
    }
  }
}
