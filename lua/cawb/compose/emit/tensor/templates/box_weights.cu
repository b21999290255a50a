// $NAME: the weights of $BOX.
$if GROUP: // Weights as the tensor cores need them: [group][cut of the columns][64 along k][high, low][column], 128 bytes a row whose pieces change places,
$if !GROUP: // Weights as the lanes of a warp need them: [group][cut of the columns][step][8 columns][lane] with 16 bytes each,
// and a scale for each column of each set, which undoes theirs. A warp makes a column.
extern "C" __global__ void __launch_bounds__(128)
$NAME($PARAMETERS, unsigned short *__restrict__ out, float *__restrict__ scales, int *__restrict__ wide) {
  const int i = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= $GROUPS * $CUTS * $SETS * $COLUMNS) return;
  const int in = i % $COLUMNS, set = i / $COLUMNS % $SETS, cut = i / ($COLUMNS * $SETS), z = cut / $CUTS;
  const int column = cut % $CUTS * $COLUMNS + in, o = z * $EACH + column;
  const int *const own = $BOX_sets[set];
  const int taps = own[1], count = column < $EACH ? $TERMS : 0;
  float most = 0.0f;
  for (int k = lane; k < count; k += 32) {
    const int2 at = $BOX_part(k, taps);
    if (at.x >= 0) most = fmaxf(most, finite($weight($OUTIN, $BOX_taps[own[0] + at.y][0])));
  }
  most = widest(most);
  const int e = exponent_of(most);
  int lost = 0;
  for (int k = lane; k < $REST; k += 32) {
    float v = 0.0f;
    const int2 at = $BOX_part(k, taps);
    if (k < count && at.x >= 0) v = $weight($OUTIN, $BOX_taps[own[0] + at.y][0]);
    if (k < count) lost += lost_by(v, e);
    const unsigned both = split_one(scaled(v, e), $LIFT);
$if GROUP
    const int along = own[2] * 16 + k;
    const size_t to = ((size_t)cut * ($KEPT * 8) + in / $WIDE * ($KEPT * 8 / $PASSES) + along / 64 * (2 * $WIDE * 64) + in % $WIDE * 64) + (along % 64 / 8 ^ in % 8) * 8 + k % 8;
    out[to] = both & 0xffff;
    out[to + $WIDE * 64] = both >> 16;
$else
    const size_t to = (((size_t)cut * $STEPS + own[2] + k / 16) * ($COLUMNS / 8) + in / 8) * 32 + in % 8 * 4 + k % 8 / 2;
    out[to * 8 + k % 16 / 8 * 2 + k % 2] = both & 0xffff;
    out[to * 8 + 4 + k % 16 / 8 * 2 + k % 2] = both >> 16;
$end
  }
  UNROLL for (int d = 1; d < 32; d *= 2) lost += __shfl_xor_sync(~0u, lost, d);
  if (lane == 0) {
    scales[i] = power_of_two(-e);
    if (lost > 1) atomicOr(wide, 1);
  }
}
