// $NAME: $WHAT over windows of $K0 x $K1 x $K2. A thread computes $OUTPUTS neighbours along the inner axis of
// $WIDE planes; what their windows read of a line is in its registers once.

static __device__ __forceinline__ $T $NAME_join($T a, $T b) { return $JOIN; }

// A line of what is read: from w on, $SPAN elements; outside the tensor it is neutral.
static __device__ __forceinline__ void $NAME_line($PARAMETERS, $T *line, long long p, int d, int h, int w, int W) {
$if QUADS
#pragma unroll
  for (int q = 0; q < $QUADS; q++) {
    const int first = w - $LEAD + 4 * q;
    if (first >= 0 && first < W) $load4(line + 4 * q, p, d, h, first);
    else line[4 * q] = line[4 * q + 1] = line[4 * q + 2] = line[4 * q + 3] = $NEUTRAL;
  }
$else
#pragma unroll
  for (int s = 0; s < $SPAN; s++) line[s] = w + s >= 0 && w + s < W ? $load(p, d, h, w + s) : ($T)$NEUTRAL;
$end
}

extern "C" __global__ void __launch_bounds__(128)
$NAME($PARAMETERS, int D, int H, int W, int OD, int OH, int OW, long long all) {
  const $INDEX e = ($INDEX)blockIdx.x * 128 + threadIdx.x;
  if (e >= all) return;
  const int tiles = (OW + $OUTPUTS - 1) / $OUTPUTS;
  const int ow = (int)(e % tiles) * $OUTPUTS, oh = (int)(e / tiles % OH), od = (int)(e / tiles / OH % OD);
  const long long to = (long long)(e / tiles / OH / OD) * $WIDE;      // the first plane that is written
  const int w = ow * $S2 - $P2;
  $T acc[$WIDE][$OUTPUTS];
#pragma unroll
  for (int q = 0; q < $WIDE; q++)
#pragma unroll
    for (int t = 0; t < $OUTPUTS; t++) acc[q][t] = $NEUTRAL;
$if CHANNELS
  const long long n = to / $ALL, group = to % $ALL / $EACH;
  for (int c = 0; c < $CHANNELS; c++) {
    const long long p = (n * ($ALL / $EACH) + group) * $CHANNELS + c;
$else
  {
    const long long p = to;
$end
#pragma unroll $UNROLL0
    for (int a = 0; a < $K0; a++) {
      const int d = od * $S0 - $P0 + a * $D0;
      if (d < 0 || d >= D) continue;
#pragma unroll $UNROLL1
      for (int b = 0; b < $K1; b++) {
        const int h = oh * $S1 - $P1 + b * $D1;
        if (h < 0 || h >= H) continue;
        $T line[$ROOM];
        $line(line, p, d, h, w, W);
#pragma unroll
        for (int q = 0; q < $WIDE; q++) {
          $T part[$OUTPUTS];
#pragma unroll
          for (int k = 0; k < $K2; k++) {
$if CHANNELS
            const $T f = $weight((int)(to % $ALL) + q, c, a, b, k);
#pragma unroll
            for (int t = 0; t < $OUTPUTS; t++) {
              const $T v = line[$LEAD + t * $S2 + k * $D2];
              part[t] = k == 0 ? v * f : part[t] + v * f;
            }
$else
#pragma unroll
            for (int t = 0; t < $OUTPUTS; t++) {
              const $T v = line[$LEAD + t * $S2 + k * $D2];
              part[t] = k == 0 ? v : $NAME_join(part[t], v);
            }
$end
          }
#pragma unroll
          for (int t = 0; t < $OUTPUTS; t++) acc[q][t] = $NAME_join(acc[q][t], part[t]);
        }
      }
    }
  }
$if MEAN
#pragma unroll
  for (int t = 0; t < $OUTPUTS; t++) acc[0][t] /= $MEAN;
$end
#pragma unroll
  for (int q = 0; q < $WIDE; q++) {
$if STORE4
    $store4(to + q, od, oh, ow, acc[q]);
$else
#pragma unroll
    for (int t = 0; t < $OUTPUTS; t++)
      if (ow + t < OW) $store(to + q, od, oh, ow + t, acc[q][t]);
$end
  }
}
