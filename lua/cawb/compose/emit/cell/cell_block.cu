// $NAME: what follows from step to step in a recurrent layer, a block for each of $B sequences: $T steps, $H units of $G gates. The block
// keeps its state in shared memory, and a thread computes one unit after the other. All weights are read in each step.

$NEXT
extern "C" __global__ void __launch_bounds__($THREADS)
$NAME($PARAMETERS) {
  __shared__ float state[2][$H], kept[$H];
  const int b = blockIdx.x;
  for (int j = threadIdx.x; j < $H; j += $THREADS) state[0][j] = $begin(0, b, j), kept[j] = $cell(0, b, j);
  __syncthreads();
  for (int step = 0, now = 0; step < $T; step++, now ^= 1) {
    const int t = $reverse(0) ? $T - 1 - step : step;
    for (int j = threadIdx.x; j < $H; j += $THREADS) {
      float x[$G], s[$G] = {}, cell = kept[j];
      UNROLL for (int gate = 0; gate < $G; gate++) x[gate] = $share(0, t, b, gate * $H + j);
      for (int first = 0; first < $H; first += 32) {           // products that are added one after the other
        float part[$G] = {};
        for (int k = first; k < min(first + 32, $H); k++)
          UNROLL for (int gate = 0; gate < $G; gate++) part[gate] += state[now][k] * $weight(0, k, gate * $H + j);
        UNROLL for (int gate = 0; gate < $G; gate++) s[gate] += part[gate];
      }
      UNROLL for (int gate = 0; gate < $G; gate++) s[gate] += $bias(0, gate * $H + j);
      const float next = $NAME_next(x, s, state[now][j], cell);
      state[now ^ 1][j] = next, kept[j] = cell;
      $put(0, t, b, j, next, cell);
    }
    __syncthreads();
  }
}
