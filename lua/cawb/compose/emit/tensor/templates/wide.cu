// The same in three parts of bfloat16, for numbers of too wide a range: factors are split on the way, 32 along k at a time. A tile is 128 x 64
// sums, of which eight warps have 32 x 32 each. A tile with a number that the parts do not hold is done without tensor cores. `memory`: $WIDEBYTES bytes.
template <int THREADS>
static __device__ __noinline__ void $NAME_wide($PARAMETERS, unsigned char *memory) {
  enum { PITCH = 80, ROWS = 128 + 64, EACH = (ROWS * 4 + THREADS - 1) / THREADS };
  const int all_down = ($M/**/ + 127) / 128, all_across = ($N/**/ + 63) / 64, t = threadIdx.x, lane = t % 32;
  const int down = t / 32 % 4 * 32, across = t / 128 * 32, line = down + lane / 4;
  const unsigned left = shared_address(memory) + (down + lane % 16) * PITCH + lane / 16 * 16;
  const unsigned right = shared_address(memory) + (128 + across + lane / 16 * 8 + lane % 8) * PITCH + lane / 8 % 2 * 16;
  for (int i = blockIdx.x; i < $SETS/**/ * $BATCH/**/ * all_down * all_across; i += gridDim.x) {
    const $NAME_tile tile = { i / (all_down * all_across * $BATCH), i / (all_down * all_across) % $BATCH, 0, i / all_across % all_down, i % all_across, 0, 0 };
    float sum[2][4][4] = {}, high[2][4][4] = {}, low[2][4][4] = {}, v[EACH][8];
    int past = 0;
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
    const int steps = $NAME_steps(tile.set);
    if (steps > 0) fetch(0, 0);
    for (int step = 0, from = 0; step < steps;) {
      __syncthreads();
      UNROLL for (int n = 0; n < EACH; n++) {
        const int row = (t + n * THREADS) / 4;
        if (row >= ROWS) continue;
        past |= any_past(v[n]);
        in_parts(v[n], [&](int p, uint4 part) { *(uint4 *)(memory + (p * ROWS + row) * PITCH + (t + n * THREADS) % 4 * 16) = part; });
      }
      __syncthreads();
      from = from > 0 || $NAME_chunk(tile.set, step) * 64 + 32 >= $DEPTH/**/ ? 0 : 32;
      if (from == 0) step++;
      if (step < steps) fetch(step, from);                   // while these are multiplied
      if (t >= 256) continue;
#pragma unroll 1
      for (int k = 0; k < 2; k++) {
        unsigned x[2][3][4], y[3][4];
        UNROLL for (int p = 0; p < 6; p++) load_blocks(x[p / 3][p % 3], left + (p % 3 * ROWS + p / 3 * 16) * PITCH + k * 32);
        UNROLL for (int q = 0; q < 2; q++) {
          UNROLL for (int p = 0; p < 3; p++) load_blocks(y[p], right + (p * ROWS + q * 16) * PITCH + k * 32);
          UNROLL for (int j = 0; j < 4; j++) multiply_parts(high[j / 2][2 * q + j % 2], low[j / 2][2 * q + j % 2], x[j / 2], y, j % 2 * 2);
        }
      }
      if (from > 0) continue;
      UNROLL for (int j = 0; j < 32; j++) {
        float &h = high[j / 16][j / 4 % 4][j % 4], &l = low[j / 16][j / 4 % 4][j % 4];
        sum[j / 16][j / 4 % 4][j % 4] += h + l, h = l = 0.0f;
      }
    }
    if (__syncthreads_or(past)) {
      for (int half = 0; half < 2; half++)
        if (t < 256 && 2 * tile.m + half < ($M/**/ + 63) / 64) $NAME_plain_tile($PASS, (float (*)[68])memory, (float (*)[68])memory + 16, tile.set, tile.z, 2 * tile.m + half, tile.n);
      continue;
    }
    if (t >= 256) continue;
$WRITE
  }
}
