// $NAME: at each of `places` along an axis the sum of the values whose key it is. Keys lie in order, so these values lie together:
// $LANES threads sum them for $VECTOR neighbours.

// How many keys are below each place, and how many there are.
extern "C" __global__ void __launch_bounds__(256)
$NAME_bounds($PARAMETERS, int *__restrict__ bounds, int n, int places, int inner, $INDEX total) {
  const $INDEX t = ($INDEX)blockIdx.x * 256 + threadIdx.x;
  if (t >= total) return;
  const $INDEX i = t % inner, o = t / inner / (places + 1);
  const int place = (int)(t / inner % (places + 1));
  int from = 0, to = n;
  while (from < to) {
    const int middle = (from + to) / 2;
    if ($key(o, middle, i) < place) from = middle + 1; else to = middle;
  }
  bounds[t] = from;
}

extern "C" __global__ void __launch_bounds__(256)
$NAME($PARAMETERS, const int *__restrict__ bounds, int places, int inner, $INDEX total) {
  const $INDEX t = ($INDEX)blockIdx.x * (256 / $LANES) + threadIdx.x / $LANES, e = t < total ? t : total - 1;
  const $INDEX i = e % inner, o = e / inner / places;
  const int place = (int)(e / inner % places), lane = threadIdx.x % $LANES;
  const int from = bounds[$bound(o, place, i)], to = bounds[$bound(o, place + 1, i)];
  $T sum[$VECTOR];
  UNROLL for (int j = 0; j < $VECTOR; j++) sum[j] = 0;
  for (int q = from; q < to; q += $STRETCH * $LANES) {
    $T part[$VECTOR];
    UNROLL for (int j = 0; j < $VECTOR; j++) part[j] = 0;
    #pragma unroll 4
    for (int k = q + lane; k < min(to, q + $STRETCH * $LANES); k += $LANES) {
      $T v[$VECTOR];
      $load(v, o, k, i);
      UNROLL for (int j = 0; j < $VECTOR; j++) part[j] += v[j];
    }
    UNROLL for (int j = 0; j < $VECTOR; j++) sum[j] += part[j];
  }
  UNROLL for (int d = $LANES / 2; d > 0; d /= 2)
    UNROLL for (int j = 0; j < $VECTOR; j++) sum[j] += __shfl_xor_sync(~0u, sum[j], d);
  if (t < total && lane == 0) $store(o, place, i, sum);
}
