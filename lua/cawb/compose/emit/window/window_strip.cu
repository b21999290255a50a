// $NAME: $WHAT over windows of $K0 x $K1 x $K2. A block computes $TILE neighbours of $DOWN lines: first it
// joins what its windows read down each column, side by side, then along the lines, from shared memory.

extern "C" __global__ void __launch_bounds__($THREADS)
$NAME($PARAMETERS, int D, int H, int W, int OD, int OH, int OW) {
  __shared__ __align__(16) $T line[$DOWN][$COLS];
  const int tiles = (OW + $TILE - 1) / $TILE, high = (OH + $DOWN - 1) / $DOWN;
  const int ow = blockIdx.x % tiles * $TILE, oh = blockIdx.x / tiles % high * $DOWN, od = blockIdx.x / tiles / high % OD;
  const long long p = blockIdx.x / tiles / high / OD;
  const int w = ow * $S2 - $P2, first = w & ~($LANES - 1);
#pragma unroll $PACKS
  for (int c = threadIdx.x; c < $COLS / $LANES; c += $THREADS) {
    const int at = first + c * $LANES;
    $T acc[$DOWN][$LANES];
    UNROLL for (int e = 0; e < $DOWN * $LANES; e++) acc[e / $LANES][e % $LANES] = $NEUTRAL;
    if (at >= 0 && at < W) {
#pragma unroll $UNROLL0
      for (int a = 0; a < $K0; a++) {
        const int d = od * $S0 - $P0 + a * $D0;
        if (d < 0 || d >= D) continue;
#pragma unroll $UNROLL1
        for (int l = 0; l < $LINES; l++) {
          const int h = oh * $S1 - $P1 + l * $STEP;
          if (h < 0 || h >= H) continue;
          $T v[$LANES];
$if QUADS:           $load4(v, p, d, h, at);
$if !QUADS:           v[0] = $load(p, d, h, at);
          UNROLL for (int r = 0; r < $DOWN; r++) {
            const int past = l * $STEP - r * $S1;             // where the line is in the window of line r
            if (past < 0 || past % $D1 != 0 || past / $D1 >= $K1) continue;
            UNROLL for (int j = 0; j < $LANES; j++) acc[r][j] = $NAME_join(acc[r][j], v[j]);
          }
        }
      }
    }
    UNROLL for (int e = 0; e < $DOWN * $LANES; e++) line[e / $LANES][c * $LANES + e % $LANES] = acc[e / $LANES][e % $LANES];
  }
  __syncthreads();
  UNROLL for (int r = 0; r < $DOWN; r++) {
    const int y = oh + r;
    if (y >= OH) break;
#pragma unroll 4
    for (int t = threadIdx.x; t < $TILE; t += $THREADS) {
      if (ow + t >= OW) break;
      const $T *from = line[r] + (t * $S2 + w - first);
      $T v = from[0];
#pragma unroll $UNROLL2
      for (int k = 1; k < $K2; k++) v = $NAME_join(v, from[k * $D2]);
      $store(p, od, y, ow + t, v);
    }
  }
}
