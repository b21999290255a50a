// $NAME: $L recurrent layers at the same time, each some steps behind the one below: $B sequences of $T steps, $H units of $G gates.
// A stage is $N blocks, that hold its weights in registers for all steps, $U units each: stages 0, 2, 4, ... are the layers; the one ahead of
// a layer is what the layer below adds to its gates. A block tells in `done` how many of its steps can be read; who needs one waits for that.

enum { $NAME_PART = 2 * $S * $KPAD, $NAME_KEPT = $NAME_PART + $KW * $S * $RPAD, $NAME_EARS = $THREADS > 64 ? $THREADS / 32 - 2 : 0 };

$NEXT
extern "C" __global__ void __launch_bounds__($THREADS, 1)
$NAME($PARAMETERS, float *states, float *shares, int *done) {
  extern __shared__ __align__(16) float words[];
  float *const state = words, *const part = words + $NAME_PART, *const kept = words + $NAME_KEPT;
  // The first blocks have the last stage: on a device that begins with these, a wait that was left out would be seen.
  const int rank = blockIdx.x % $N, stage = $STAGES - 1 - blockIdx.x / $N % $STAGES, first = blockIdx.x / ($N * $STAGES) * $S;
  const int z = (stage + 1) / 2, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool is_layer = stage % 2 == 0;
  float w[$R][$KT];
  {
    const int row = (warp % $RW * (32 / $KL) + lane / $KL) * $R, place = warp / $RW * $KL + lane % $KL;
    UNROLL for (int r = 0; r < $R; r++)
      UNROLL for (int i = 0; i < $KT; i++) {
        const int gate = (row + r) / $U, j = rank * $U + (row + r) % $U, k = (i / 4 * $KW * $KL + place) * 4 + i % 4;
        const bool is_there = gate < $G && j < $H && k < $H;
        w[r][i] = !is_there ? 0.0f : is_layer ? $weight(z, k, gate * $H + j) : $input(z, k, gate * $H + j);
      }
  }
  const auto sequence = [&](int e) { return first + (threadIdx.x + e * $THREADS) / $U; };
  const auto unit = [&](int e) { return rank * $U + (threadIdx.x + e * $THREADS) % $U; };
  const auto is_own = [&](int e) { return threadIdx.x + e * $THREADS < $S * $U && sequence(e) < $B && unit(e) < $H; };
  float bias[$EACH][$G];
  UNROLL for (int e = 0; e < $EACH; e++)
    UNROLL for (int gate = 0; gate < $G; gate++)
      if (is_own(e)) bias[e][gate] = is_layer ? $bias(z, gate * $H + unit(e)) : $input_bias(z, gate * $H + unit(e));
  float s[$EACH][$G];
  const auto sum_up = [&](int e) {
    const int p = threadIdx.x + e * $THREADS;
    UNROLL for (int gate = 0; gate < $G; gate++) {
      s[e][gate] = bias[e][gate];
      UNROLL for (int k = 0; k < $KW; k++) s[e][gate] += part[(k * $S + p / $U) * $RPAD + gate * $U + p % $U];
    }
  };
  // What this stage reads, of the stage ahead, and whether so many of its steps are done: a layer reads what the same units' block made.
  int heard = 0;
  const auto hear = [&](int steps) {
    if (heard >= min(steps, $T)) return;
    heard = min(steps + $LEAD - 1, $T);
    if (lane < (is_layer ? 1 : $N)) await(done + blockIdx.x + $N + (is_layer ? 0 : lane - rank), heard);
    __syncwarp();
  };
  const auto tell_of = [&](int steps) { if (lane == 0) tell(done + blockIdx.x, steps); };
  float *const of_gates = shares + (z - 1) * (long long)($T * $B * $G * $H);
  for (int p = threadIdx.x; p < 2 * $S * $KPAD; p += $THREADS) {
    const int b = first + p / $KPAD, k = p % $KPAD;
    state[p] = is_layer && p < $S * $KPAD && b < $B && k < $H ? $begin(z, b, k) : 0.0f;
  }
  if (stage > 0 && warp == $NAME_EARS) hear(is_layer ? 1 : 2);
  if (is_layer) {
    float *const told = states + z * (long long)($T * $B * $H);
    for (int p = threadIdx.x; p < $S * $U; p += $THREADS) {
      const int b = first + p / $U, j = rank * $U + p % $U;
      kept[p] = b < $B && j < $H ? $cell(z, b, j) : 0.0f;
    }
    $MEET
    for (int t = 0; t < $T; t++) {
      const int now = t & 1;
      float x[$EACH][$G], next[$EACH], cell[$EACH];
      UNROLL for (int e = 0; e < $EACH; e++)
        UNROLL for (int gate = 0; gate < $G; gate++)
          if (is_own(e)) x[e][gate] = z == 0 ? $share(t, sequence(e), gate * $H + unit(e)) : __ldcg(of_gates + (t * $B + sequence(e)) * ($G * $H) + gate * $H + unit(e));
      cell_products<$S, $PAIR, $R, $KL, $KT, $KW, $RW>(w, state + now * $S * $KPAD, part);
      __syncthreads();
      UNROLL for (int e = 0; e < $EACH; e++) {
        const int p = threadIdx.x + e * $THREADS;
        if (!is_own(e)) continue;
        sum_up(e);
        cell[e] = kept[p];
        next[e] = $NAME_next(x[e], s[e], state[(now * $S + p / $U) * $KPAD + unit(e)], cell[e]);
        kept[p] = cell[e];
        float *const to = state + ((now ^ 1) * $S + p / $U) * $KPAD + unit(e);
        UNROLL for (int block = 0; block < $N; block++) $SEND
      }
      if (warp == $NAME_EARS && z > 0) hear(t + 2);
      $ARRIVE
      // Behind the arrival, which waits for what was written: nobody in the cluster needs these.
      if (warp == $THREADS / 32 - 1 && z < $L - 1) tell_of(t);
      UNROLL for (int e = 0; e < $EACH; e++) {
        if (!is_own(e)) continue;
        if (z < $L - 1) __stcg(told + (t * $B + sequence(e)) * $H + unit(e), next[e]);
        $put(z, t, sequence(e), unit(e), next[e], cell[e]);
      }
      $WAIT
    }
  } else {
    const float *const below = states + (z - 1) * (long long)($T * $B * $H);
    float ahead[$LOADS];
    const auto load = [&](int t) {
      UNROLL for (int q = 0; q < $LOADS; q++) {
        const int p = threadIdx.x + q * $THREADS;
        if (t < $T && p < $S * $H && first * $H + p < $B * $H) ahead[q] = __ldcg(below + (t * $B + first) * $H + p);
      }
    };
    const auto place = [&](int t) {
      UNROLL for (int q = 0; q < $LOADS; q++) {
        const int p = threadIdx.x + q * $THREADS;
        if (t < $T && p < $S * $H && first * $H + p < $B * $H) state[((t & 1) * $S + p / $H) * $KPAD + p % $H] = ahead[q];
      }
    };
    __syncthreads();
    load(0);
    place(0);
    __syncthreads();
    for (int t = 0; t < $T; t++) {
      load(t + 1);
      cell_products<$S, $PAIR, $R, $KL, $KT, $KW, $RW>(w, state + (t & 1) * $S * $KPAD, part);
      place(t + 1);
      __syncthreads();
      UNROLL for (int e = 0; e < $EACH; e++) {
        if (!is_own(e)) continue;
        sum_up(e);
        UNROLL for (int gate = 0; gate < $G; gate++) __stcg(of_gates + (t * $B + sequence(e)) * ($G * $H) + gate * $H + unit(e), s[e][gate]);
      }
      if (warp == $THREADS / 32 - 1) tell_of(t);
      if (warp == $NAME_EARS) hear(t + 3);
      __syncthreads();
    }
  }
  __syncthreads();
  if (warp == $THREADS / 32 - 1) tell_of($T);
}
