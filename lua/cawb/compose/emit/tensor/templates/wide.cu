// The same in three parts of bfloat16, for numbers of too wide a range: factors are split on the way, 32 along k at a time. A tile is 128 x 64
// sums, of which eight warps have 32 x 32 each. A tile with a number that the parts do not hold is done without tensor cores. `memory`: $WIDEBYTES bytes.
static __device__ __noinline__ void $NAME_wide($PARAMETERS, unsigned char *memory) {
  enum { PITCH = 80, ROWS = 128 + 64 };
  const int all_down = ($M + 127) / 128, all_across = ($N + 63) / 64, t = threadIdx.x, lane = t % 32;
  const int down = t / 32 % 4 * 32, across = t / 128 * 32, line = down + lane / 4;
  const unsigned left = shared_address(memory) + (down + lane % 16) * PITCH + lane / 16 * 16;
  const unsigned right = shared_address(memory) + (128 + across + lane / 16 * 8 + lane % 8) * PITCH + lane / 8 % 2 * 16;
  for (int i = blockIdx.x; i < $SETS * $BATCH * all_down * all_across; i += gridDim.x) {
    const $NAME_tile tile = { i / (all_down * all_across * $BATCH), i / (all_down * all_across) % $BATCH, 0, i / all_across % all_down, i % all_across, 0, 0 };
    float sum[2][4][4] = {};
    int past = 0;
    for (int step = 0; step < $NAME_steps(tile.set); step++) {
      const int chunk = $NAME_chunk(tile.set, step) * 64, shift = $NAME_shift(tile.set, step), before = ($NAME_before(tile.set) + step) * 64;
      float high[2][4][4] = {}, low[2][4][4] = {};
      for (int from = 0; from < min(64, $DEPTH - chunk); from += 32) {
        __syncthreads();
        past |= lay_down<ROWS, 4, PITCH>(memory, [&](float (&v)[8], int row, int eight) {
          const int k = from + 8 * eight, a = tile.m * 128 + row + shift, b = tile.n * 64 + row - 128;
          if (row < 128 ? a >= $ROWS : b >= $N) return;
#pragma unroll
          for (int j = 0; j < 8; j++)
            if (chunk + k + j < $DEPTH) v[j] = row < 128 ? $left(tile.z, a, chunk + k + j) : $right(tile.z, b, before + k + j);
        });
        __syncthreads();
        if (t >= 256) continue;
#pragma unroll 1
        for (int k = 0; k < 2; k++) {
          unsigned x[2][3][4], y[2][3][4];
#pragma unroll
          for (int p = 0; p < 6; p++) {
            load_blocks(x[p / 3][p % 3], left + (p % 3 * ROWS + p / 3 * 16) * PITCH + k * 32);
            load_blocks(y[p / 3][p % 3], right + (p % 3 * ROWS + p / 3 * 16) * PITCH + k * 32);
          }
#pragma unroll
          for (int j = 0; j < 8; j++) multiply_parts(high[j / 4][j % 4], low[j / 4][j % 4], x[j / 4], y[j / 2 % 2], j % 2 * 2);
        }
      }
#pragma unroll
      for (int j = 0; j < 32; j++) sum[j / 16][j / 4 % 4][j % 4] += high[j / 16][j / 4 % 4][j % 4] + low[j / 16][j / 4 % 4][j % 4];
    }
    if (__syncthreads_or(past)) {
      for (int half = 0; half < 2; half++)
        if (t < 256 && 2 * tile.m + half < ($M + 63) / 64) $NAME_plain_tile($PASS, (float (*)[68])memory, (float (*)[68])memory + 16, tile.set, tile.z, 2 * tile.m + half, tile.n);
      continue;
    }
    if (t >= 256) continue;
$WRITE
  }
}
