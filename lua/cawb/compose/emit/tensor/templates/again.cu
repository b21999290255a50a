// Results whose numbers lost bits that might count, once more in float32: a warp takes two neighbours. Numbers of a row are packed beside
// each other, but lie far apart where they come from: there only those are read that keep too few bits.
extern "C" __global__ void __launch_bounds__(256)
$NAME_again($PARAMETERS, const unsigned char *__restrict__ packed_a, const float *__restrict__ a_scales,
            const unsigned char *__restrict__ packed_b, const float *__restrict__ b_scales, const int *__restrict__ a_wide,
            const int *__restrict__ b_wide, const long long *__restrict__ list, const int *__restrict__ many$PARTLY) {
$if FULL:   if (*many > $AGAIN/**/ && !is_beyond(a_wide, b_wide)) return;                 // three parts of bfloat16 have done it
$if !FULL:   if (is_beyond(a_wide, b_wide)) return;
  if (*many > $AGAIN/**/) {
$if WIDEBYTES
    __shared__ __align__(128) unsigned char memory[$WIDEBYTES];
    $NAME_wide<256>($PASS, a_scales, b_scales$PASSPARTLY, memory);
$else
    __shared__ float a[16][68], b[16][68];
    $NAME_plain($PASS$PASSPARTLY, a, b);
$end
    return;
  }
  const int lane = threadIdx.x % 32, pairs = ($N/**/ + 1) / 2;
  for (int i = blockIdx.x * 8 + threadIdx.x / 32; i < *many; i += gridDim.x * 8) {
    const long long at = list[i] / pairs, z = at / $M;
    const int row = at % $M, column = list[i] % pairs * 2;
    const $NAME_tile tile = { (int)(z / $BATCH), (int)(z % $BATCH), 0, 0, 0, 0, 0 };
    float first = 0.0f, second = 0.0f;
    for (int step = 0; step < $NAME_steps(tile.set); step++) {
      const int chunk = $NAME_chunk(tile.set, step) * 64, before = ($NAME_before(tile.set) + step) * 64, from = row + $NAME_shift(tile.set, step);
      if (from >= $ROWS/**/) continue;
      const size_t ca = (size_t)tile.z * $ABATCH/**/ + chunk / 64, cb = (size_t)tile.z * $BBATCH/**/ + $NAME_before(tile.set) + step;
      const packed_two a = two_packed(packed_a, a_scales, ca, from, $AOCTETS, lane), b = two_packed(packed_b, b_scales, cb, column, $BOCTETS, lane),
                       c = two_packed(packed_b, b_scales, cb, column + 1, $BOCTETS, lane);
      UNROLL for (int j = 0; j < 2; j++) {
        const int k = 2 * lane + j;
        if (k >= min(64, $DEPTH/**/ - chunk)) continue;
        const float own = a.is_short[j] ? $left(tile.z, from, chunk + k) : a.at[j];
        first = fmaf(own, b.is_short[j] ? $right(tile.z, column, before + k) : b.at[j], first);
        if (column + 1 < $N/**/) second = fmaf(own, c.is_short[j] ? $right(tile.z, column + 1, before + k) : c.at[j], second);
      }
    }
    UNROLL for (int d = 16; d > 0; d /= 2) first += __shfl_xor_sync(~0u, first, d), second += __shfl_xor_sync(~0u, second, d);
    if (lane > 0) continue;
$STORE
  }
}
