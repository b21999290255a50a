// $NAME: the weights of $BOX.
// Weights as the lanes of a warp need them: [group][cut of the columns][step][8 columns][lane] with 16 bytes each, and a scale for each column of
// each set, which undoes theirs. A warp makes a column.
extern "C" __global__ void __launch_bounds__(128)
$NAME($PARAMETERS, unsigned short *__restrict__ out, float *__restrict__ scales, int *__restrict__ wide) {
  const int i = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= $GROUPS * $CUTS * $SETS * $COLUMNS) return;
  const int in = i % $COLUMNS, set = i / $COLUMNS % $SETS, cut = i / ($COLUMNS * $SETS), z = cut / $CUTS;
  const int column = cut % $CUTS * $COLUMNS + in, o = z * $EACH + column;
  const int *const own = $BOX_sets[set];
  const int count = column < $EACH ? own[1] * $CHANNELS : 0;
  float most = 0.0f;
  for (int k = lane; k < count; k += 32) {
    const int2 at = $BOX_part(k, own[1]);
    most = fmaxf(most, finite($weight($OUTIN, $BOX_taps[own[0] + at.y][0])));
  }
  most = widest(most);
  const int e = exponent_for(most);
  int lost = 0;
  for (int k = lane; k < own[3] * 16; k += 32) {
    float v = 0.0f;
    if (k < count) {
      const int2 at = $BOX_part(k, own[1]);
      v = $weight($OUTIN, $BOX_taps[own[0] + at.y][0]);
      lost += lost_by(v, e);
    }
    const unsigned both = split_one(scaled(v, e));
    const size_t at = (((size_t)cut * $STEPS + own[2] + k / 16) * ($COLUMNS / 8) + in / 8) * 32 + in % 8 * 4 + k % 8 / 2;
    out[at * 8 + k % 16 / 8 * 2 + k % 2] = both & 0xffff;
    out[at * 8 + 4 + k % 16 / 8 * 2 + k % 2] = both >> 16;
  }
#pragma unroll
  for (int d = 1; d < 32; d *= 2) lost += __shfl_xor_sync(~0u, lost, d);
  if (lane == 0) {
    scales[i] = power_of_two(-e);
    if (lost > 1) atomicOr(wide, 1);
  }
}
