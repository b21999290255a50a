// The same in three parts of bfloat16, for numbers of too wide a range: factors are split on the way, 32 along k at a time. A tile is 128 x 64
// sums, of which eight warps have 32 x 32 each. A tile's part with a number that they do not hold is done without tensor cores. `memory`: $WIDEBYTES bytes.
template <int THREADS>
static __device__ __noinline__ void $NAME_wide($PARAMETERS, const float *a_scales, const float *b_scales$PARTLY, unsigned char *memory) {
  enum { PITCH = 80, ROWS = 128 + 64, EACH = (ROWS * 4 + THREADS - 1) / THREADS };
  const int all_down = ($M/**/ + 127) / 128, all_across = ($N/**/ + 63) / 64, t = threadIdx.x, lane = t % 32;
  const int down = t / 32 % 4 * 32, across = t / 128 * 32, line = down + lane / 4;
  const unsigned left = shared_address(memory) + (down + lane % 16) * PITCH + lane / 16 * 16;
  const unsigned right = shared_address(memory) + (128 + across + lane / 16 * 8 + lane % 8) * PITCH + lane / 8 % 2 * 16;
  for (int i = blockIdx.x; i < $SETS/**/ * $BATCH/**/ * all_down * all_across * $SPLITS; i += gridDim.x) {
    const $NAME_tile tile = $NAME_cut(i, all_down, all_across);
    float sum[2][4][4] = {}, high[2][4][4] = {}, low[2][4][4] = {}, v[EACH][8];
    int past = 0;
    // The largest number of either factor comes to 2^50. Then each that is more than 2^-150 of it keeps all its bits, sums do not overflow, and
    // products lose nothing that float32 holds: they are no smaller than without. Where they would be, numbers stay as they are.
    __shared__ unsigned most[2];
    __syncthreads();
    if (t < 2) most[t] = 0;
    __syncthreads();
    if (t < ROWS) {
      float all = 0.0f;
      const bool is_there = t < 128 || tile.n * 64 + t - 128 < $N/**/;
      for (int step = tile.first; step < tile.last && is_there; step++)
        all = fmaxf(all, t < 128 ? a_scales[((size_t)tile.z * $ABATCH/**/ + $NAME_chunk(tile.set, step)) * (8 * $AOCTETS/**/) + tile.m * 128 + t + $NAME_shift(tile.set, step)]
                                 : b_scales[((size_t)tile.z * $BBATCH/**/ + $NAME_before(tile.set) + step) * (8 * $BOCTETS/**/) + tile.n * 64 + t - 128]);
      atomicMax(&most[t / 128], __float_as_uint(all));
    }
    __syncthreads();
    int ea = min(163 - (int)(most[0] >> 23), 127), eb = min(163 - (int)(most[1] >> 23), 127);
    if (ea + eb < 0) ea = eb = 0;
    const float scale[2] = { power_of_two(ea), power_of_two(eb) }, back = power_of_two(-(ea + eb) / 2), rest = power_of_two((ea + eb) / 2 - (ea + eb));
    // A thread's numbers of a step's 32 terms from `from` on: eight of a row of the left factor or of the right one.
    const auto fetch = [&](int step, int from) {
      const int chunk = $NAME_chunk(tile.set, step) * 64, before = ($NAME_before(tile.set) + step) * 64;
      UNROLL for (int n = 0; n < EACH; n++) {
        const int row = (t + n * THREADS) / 4, k = from + (t + n * THREADS) % 4 * 8, a = tile.m * 128 + row + $NAME_shift(tile.set, step), b = tile.n * 64 + row - 128;
        const bool is_there = row < ROWS && (row < 128 ? a < $ROWS/**/ : b < $N/**/);
        UNROLL for (int j = 0; j < 8; j++)
          v[n][j] = !is_there || chunk + k + j >= $DEPTH/**/ ? 0.0f : row < 128 ? $left(tile.z, a, chunk + k + j) : $right(tile.z, b, before + k + j);
      }
    };
    if (tile.first < tile.last) fetch(tile.first, 0);
    for (int step = tile.first, from = 0; step < tile.last;) {
      __syncthreads();
      UNROLL for (int n = 0; n < EACH; n++) {
        const int row = (t + n * THREADS) / 4;
        if (row >= ROWS) continue;
        UNROLL for (int j = 0; j < 8; j++) v[n][j] *= scale[row >= 128];
        past |= any_past(v[n]);
        in_parts(v[n], $LIFT, [&](int p, uint4 part) { *(uint4 *)(memory + (p * ROWS + row) * PITCH + (t + n * THREADS) % 4 * 16) = part; });
      }
      __syncthreads();
      from = from > 0 || $NAME_chunk(tile.set, step) * 64 + 32 >= $DEPTH/**/ ? 0 : 32;
      if (from == 0) step++;
      if (step < tile.last) fetch(step, from);                   // while these are multiplied
      if (t >= 256) continue;
#pragma unroll 1
      for (int k = 0; k < 2; k++) {
        unsigned x[2][3][4], y[3][4];
        UNROLL for (int p = 0; p < 6; p++) load_blocks(x[p / 3][p % 3], left + (p % 3 * ROWS + p / 3 * 16) * PITCH + k * 32);
        UNROLL for (int q = 0; q < 2; q++) {
          UNROLL for (int p = 0; p < 3; p++) load_blocks(y[p], right + (p * ROWS + q * 16) * PITCH + k * 32);
          UNROLL for (int j = 0; j < 4; j++) multiply_parts(high[j / 2][2 * q + j % 2], low[j / 2][2 * q + j % 2], x[j / 2], y, j % 2 * 2);
        }
        UNROLL for (int j = 0; j < 32; j++) {                  // every 16 terms: tensor cores cut sums off
          float &h = high[j / 16][j / 4 % 4][j % 4], &l = low[j / 16][j / 4 % 4][j % 4];
          sum[j / 16][j / 4 % 4][j % 4] += h + l, h = l = 0.0f;
        }
      }
    }
    const bool is_past = __syncthreads_or(past);
    if (t >= 256) continue;
    if (is_past) {
      $NAME_tile own = tile;
      for (own.m = 2 * tile.m; own.m < min(2 * tile.m + 2, ($M/**/ + 63) / 64); own.m++) $NAME_plain_tile($PASS$PASSPARTLY, (float (*)[68])memory, (float (*)[68])memory + 16, own);
    } else {
      UNROLL for (int j = 0; j < 32; j++) sum[j / 16][j / 4 % 4][j % 4] = sum[j / 16][j / 4 % 4][j % 4] * back * rest;
$WRITE
    }
$if ARRIVES:     $NAME_add_up($PASS$PASSPARTLY, tile, i / $SPLITS, 128);
  }
}
