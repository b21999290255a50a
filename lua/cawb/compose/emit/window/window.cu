// $NAME: $WHAT over windows of $K0 x $K1 x $K2. A thread computes $DOWN x $OUTPUTS neighbours of
// $WIDE planes; what their windows read of a line is in its registers once.

// A line of what is read: from w on, $SPAN elements; outside the tensor it is neutral.
static __device__ __forceinline__ void $NAME_line($PARAMETERS, $T *line, long long p, int d, int h, int w, int W) {
$if QUADS
  UNROLL for (int q = 0; q < $QUADS; q++) {
    const int first = w - $LEAD + 4 * q;
    if (first >= 0 && first < W) $load4(line + 4 * q, p, d, h, first);
    else line[4 * q] = line[4 * q + 1] = line[4 * q + 2] = line[4 * q + 3] = $NEUTRAL;
  }
$else
$if PAST2
  UNROLL for (int s = 0; s < $SPAN; s++) line[s] = w + s >= 0 && w + s < W ? $load(p, d, h, w + s) : ($T)$NEUTRAL;
$else
  UNROLL for (int s = 0; s < $SPAN; s++) line[s] = $load(p, d, h, w + s);
$end
$end
}

extern "C" __global__ void __launch_bounds__(128)
$NAME($PARAMETERS, int D, int H, int W, int OD, int OH, int OW, long long all) {
  const $INDEX e = ($INDEX)blockIdx.x * 128 + threadIdx.x;
  if (e >= all) return;
  const int tiles = (OW + $OUTPUTS - 1) / $OUTPUTS, high = (OH + $DOWN - 1) / $DOWN;
  const int ow = (int)(e % tiles) * $OUTPUTS, oh = (int)(e / tiles % high) * $DOWN, od = (int)(e / tiles / high % OD);
  const long long to = (long long)(e / tiles / high / OD) * $WIDE;      // the first plane that is written
  const int w = ow * $S2 - $P2;
  $T acc[$WIDE][$DOWN][$OUTPUTS];
  UNROLL for (int q = 0; q < $WIDE; q++)
    UNROLL for (int r = 0; r < $DOWN; r++)
      UNROLL for (int t = 0; t < $OUTPUTS; t++) acc[q][r][t] = $NEUTRAL;
$if CHANNELS
  const long long n = to / $ALL, group = to % $ALL / $EACH;
  for (int c = 0; c < $CHANNELS; c++) {
    const long long p = (n * ($ALL / $EACH) + group) * $CHANNELS + c;
$else
  {
    const long long p = to;
$end
$if HELD
    $T held[$WIDE][$K0][$K1][$K2];
    UNROLL for (int e = 0; e < $WIDE * $K0 * $K1 * $K2; e++) {
      const int q = e / ($K0 * $K1 * $K2), a = e / ($K1 * $K2) % $K0, b = e / $K2 % $K1, k = e % $K2;
      held[q][a][b][k] = $weight((int)(to % $ALL) + q, c, a, b, k);
    }
$end
#pragma unroll $UNROLL0
    for (int a = 0; a < $K0; a++) {
      const int d = od * $S0 - $P0 + a * $D0;
$if PAST0
      if (d < 0 || d >= D) continue;
$end
#pragma unroll $UNROLL1
      for (int l = 0; l < $LINES; l++) {
        const int h = oh * $S1 - $P1 + l * $STEP;
$if PAST1
        if (h < 0 || h >= H) continue;
$end
        $T line[$ROOM];
        $line(line, p, d, h, w, W);
        UNROLL for (int q = 0; q < $WIDE * $DOWN; q++) {
          const int r = q % $DOWN, past = l * $STEP - r * $S1, b = past / $D1;      // where the line is in the window of row r
          if (past < 0 || past % $D1 != 0 || b >= $K1) continue;
          $T part[$OUTPUTS];
          UNROLL for (int k = 0; k < $K2; k++) {
$if CHANNELS
            const $T f = $FACTOR;
            UNROLL for (int t = 0; t < $OUTPUTS; t++) {
              const $T v = line[$LEAD + t * $S2 + k * $D2];
              part[t] = k == 0 ? v * f : part[t] + v * f;
            }
$else
            UNROLL for (int t = 0; t < $OUTPUTS; t++) {
              const $T v = line[$LEAD + t * $S2 + k * $D2];
              part[t] = k == 0 ? v : $NAME_join(part[t], v);
            }
$end
          }
          UNROLL for (int t = 0; t < $OUTPUTS; t++) acc[q / $DOWN][r][t] = $NAME_join(acc[q / $DOWN][r][t], part[t]);
        }
      }
    }
  }
  UNROLL for (int q = 0; q < $WIDE * $DOWN; q++) {
    const int y = oh + q % $DOWN;
    if (y >= OH) continue;
    $T (&v)[$OUTPUTS] = acc[q / $DOWN][q % $DOWN];
$if STORE4
    $store4(to + q / $DOWN, od, y, ow, v);
$else
    UNROLL for (int t = 0; t < $OUTPUTS; t++)
      if (ow + t < OW) $store(to + q / $DOWN, od, y, ow + t, v[t]);
$end
  }
}
