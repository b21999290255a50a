// $NAME: what follows from step to step in a recurrent layer: $B sequences of $T steps, $H units of $G gates. $N blocks share the
// units; each holds the weights of its $U in registers for all steps. After a step each block tells the others its part of the state$BY.

enum { $NAME_PART = $BUFFERS * $S * $KPAD, $NAME_KEPT = $NAME_PART + $KW * $S * $RPAD };

$NEXT
extern "C" __global__ void __launch_bounds__($THREADS, 1)
$NAME($PARAMETERS$MORE) {
  extern __shared__ __align__(16) float words[];
  float *const state = words, *const part = words + $NAME_PART, *const kept = words + $NAME_KEPT;
  const int rank = blockIdx.x % $N, group = blockIdx.x / $N % $GROUPS, z = blockIdx.x / ($N * $GROUPS), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = (warp % $RW * (32 / $KL) + lane / $KL) * $R, place = warp / $RW * $KL + lane % $KL;
  float w[$R][$KT];
  UNROLL for (int r = 0; r < $R; r++)
    UNROLL for (int i = 0; i < $KT; i++) {
      const int gate = (row + r) / $U, j = rank * $U + (row + r) % $U, k = (i / 4 * $PLACES + place) * 4 + i % 4;
      w[r][i] = gate < $G && j < $H && k < $H ? $weight(z, k, gate * $H + j) : 0.0f;
    }
$if GRID:   int met = 0;
  for (int first = group * $S; first < $B; first += $GROUPS * $S) {
    for (int p = threadIdx.x; p < $S * $KPAD; p += $THREADS) {
      const int b = first + p / $KPAD, k = p % $KPAD;
      state[p] = b < $B && k < $H ? $begin(z, b, k) : 0.0f;
$if CLUSTER:       state[$S * $KPAD + p] = 0.0f;
    }
    for (int p = threadIdx.x; p < $S * $U; p += $THREADS) {
      const int b = first + p / $U, j = rank * $U + p % $U;
      kept[p] = b < $B && j < $H ? $cell(z, b, j) : 0.0f;
    }
$if CLUSTER:     $MEET
$if !CLUSTER:     __syncthreads();
    // A thread's states: `e` says which. What the inputs add to a step is on its way while the step before ends.
    const auto sequence = [&](int e) { return first + (threadIdx.x + e * $THREADS) / $U; };
    const auto unit = [&](int e) { return rank * $U + (threadIdx.x + e * $THREADS) % $U; };
    const auto is_own = [&](int e) { return threadIdx.x + e * $THREADS < $S * $U && sequence(e) < $B && unit(e) < $H; };
    float x[$EACH][$G];
    const auto fetch = [&](int step) {
      UNROLL for (int e = 0; e < $EACH; e++)
        UNROLL for (int gate = 0; gate < $G; gate++)
          if (step < $T && is_own(e)) x[e][gate] = $share(z, $reverse(z) ? $T - 1 - step : step, sequence(e), gate * $H + unit(e));
    };
    fetch(0);
    for (int step = 0; step < $T; step++) {
      const int t = $reverse(z) ? $T - 1 - step : step, now = $NOW;
      float s[$EACH][$G], next[$EACH], cell[$EACH];
      UNROLL for (int e = 0; e < $EACH; e++)
        UNROLL for (int gate = 0; gate < $G; gate++)
          if (is_own(e)) s[e][gate] = $bias(z, gate * $H + unit(e));
      cell_products<$S, 1, $R, $KL, $KT, $KW, $RW>(w, state + now * $S * $KPAD, part);
      __syncthreads();
      UNROLL for (int e = 0; e < $EACH; e++) {
        const int p = threadIdx.x + e * $THREADS, b = sequence(e), j = unit(e);
        if (!is_own(e)) continue;
        UNROLL for (int gate = 0; gate < $G; gate++)
          UNROLL for (int k = 0; k < $KW; k++) s[e][gate] += part[(k * $S + p / $U) * $RPAD + gate * $U + p % $U];
        cell[e] = kept[p];
        next[e] = $NAME_next(x[e], s[e], state[(now * $S + p / $U) * $KPAD + j], cell[e]);
        kept[p] = cell[e];
$if CLUSTER
        float *const to = state + ((now ^ 1) * $S + p / $U) * $KPAD + j;
        UNROLL for (int block = 0; block < $N; block++) $SEND
$else
        __stcg(exchange + ((z * 2 + (step & 1)) * $B + b) * $H + j, next[e]);
$end
      }
$if CLUSTER
      $ARRIVE
$else
      __syncthreads();
      if (threadIdx.x == 0) arrive(arrived + blockIdx.x / $N);
$end
      UNROLL for (int e = 0; e < $EACH; e++)
        if (is_own(e)) $put(z, t, sequence(e), unit(e), next[e], cell[e]);
      fetch(step + 1);
$if CLUSTER
      $WAIT
$else
      met += $N;
      if (threadIdx.x == 0) await(arrived + blockIdx.x / $N, met);
      __syncthreads();
      $LOAD
      __syncthreads();
$end
    }
  }
}
