// $NAME: the softmax of scores, $M x $N made of sums of $D products, times $N x $V, of 16-bit numbers, by products of warpgroups.
// A tile has $ROWS queries, 64 a group of four warps, and goes over the keys $KEYS at a time, which four more warps bring. While
// a group makes weights of its scores, the next scores and the last weights' sums are made. A row's sums are scaled
// anew when a score is 2^8 times above the largest that they were scaled by.

enum { $NAME_QUERIES = $KBLOCKS * $ROWS * 128, $NAME_KEYS = $KBLOCKS * $KEYS * 128, $NAME_VALUES = $VBLOCKS * $KEYS * 128 };

$STEPSTEXT
static __device__ __forceinline__ bool $NAME_hides(int first, int step) { return $HIDDENGROUP; }

// Whether no step from `after` on has scores for a group's queries: those that have some are neighbours.
static __device__ __forceinline__ bool $NAME_ends(int first, int step, int after) {
$if HIDES:   return !$NAME_hides(first, step) && $NAME_hides(first, after);
$if !HIDES:   return false;
}

// The tile that a block does after n others: its head, and its first query. Where long tiles are before short ones, blocks take
// them forth and back, so that each has as much to do as others, and queries that there are not are ahead of the first, in a short one.
static __device__ __forceinline__ bool $NAME_tile(int n, int &z, int &first) {
$if HIDES
  const int i = n * gridDim.x + (n % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
  z = i % $BATCH, first = ($DOWN - 1 - i / $BATCH) * $ROWS - $AHEAD;
$else
  const int i = n * gridDim.x + blockIdx.x;
  z = i / $DOWN, first = ($DOWN - 1 - i % $DOWN) * $ROWS;
$end
  return i < $ITEMS;
}

// Queries x keys, 16 products of a sum; weights x values, 16 weights of a row.
$ASKINSTRUCTION
$ANSWERINSTRUCTION
static __device__ __forceinline__ void $NAME_ask(float (&s)[$KEYS / 2], unsigned queries, unsigned keys) {
  hold(s);
  products_begin();
  UNROLL for (int k = 0; k < $KSTEPS; k++)
    $NAME_multiply(s, rows_descriptor(queries + k / 4 * ($ROWS * 128)) + k % 4 * 2, rows_descriptor(keys + k / 4 * ($KEYS * 128)) + k % 4 * 2, k > 0);
  products_end();
}

static __device__ __forceinline__ void $NAME_answer(float (&sum)[$VN / 2], unsigned (&weights)[$KEYS / 16][4], unsigned values) {
  hold(sum);
  hold(weights);
  products_begin();
  UNROLL for (int k = 0; k < $KEYS / 16; k++) $NAME_add(sum, weights[k], columns_descriptor(values, $KEYS * 128) + k * 128, 1);
  products_end();
}

// Scores become weights, 2 to the power of what they are above `most`; `less`: what earlier sums are multiplied with, if it says
// so; `vast`: a power's rounding error is no longer small, so differences are taken first.
static __device__ __forceinline__ bool $NAME_weigh($PARAMETERS, float (&s)[$KEYS / 2], float (&most)[2], float (&total)[2], float (&less)[2], bool &vast, int z,
                                                   int first, int step) {
  if (!$NAME_is_open(first, step)) $mask(s, z, first + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4, step);
  float top[2];
  bool rises = false;
  UNROLL for (int half = 0; half < 2; half++) {
    float t = s[half * 2], u = s[half * 2 + 1];
    UNROLL for (int j = 1; j < $KEYS / 8; j++) t = fmaxf(t, s[4 * j + half * 2]), u = fmaxf(u, s[4 * j + half * 2 + 1]);
    top[half] = fmaxf(most[half], largest_of_row(fmaxf(t, u)));
    rises |= (top[half] - most[half]) * $POWER > 8.0f;
  }
  rises = __any_sync(~0u, rises);
  if (rises) {
    bool is_vast = false;
    UNROLL for (int half = 0; half < 2; half++) {
      less[half] = top[half] == -INFINITY ? 0.0f : power((most[half] - top[half]) * $POWER);
      most[half] = top[half], total[half] *= less[half], is_vast |= fabsf(top[half]) < INFINITY && fabsf(top[half]) * $POWER > 65536.0f;
    }
    vast = __any_sync(~0u, is_vast);
  }
  float raised[2];
  UNROLL for (int half = 0; half < 2; half++) raised[half] = most[half] == -INFINITY ? 0.0f : most[half];
  if (vast) {
    UNROLL for (int i = 0; i < $KEYS / 2; i++) s[i] -= raised[i / 2 % 2];
    raised[0] = raised[1] = 0.0f;
  }
  UNROLL for (int half = 0; half < 2; half++) {
    const float from = raised[half] * $POWER;
    UNROLL for (int j = 0; j < $KEYS / 4; j++) {
      float &one = s[j / 2 * 4 + half * 2 + j % 2];
      one = power(fmaf(one, $POWER, -from));
    }
    float t = 0.0f, u = 0.0f;
    UNROLL for (int j = 0; j < $KEYS / 8; j++) t += s[4 * j + half * 2], u += s[4 * j + half * 2 + 1];
    total[half] += t + u;
  }
  return rises;
}

extern "C" __global__ void __launch_bounds__($THREADS, 1)
$NAME($PARAMETERS$MORE) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ unsigned long long full[2 * $STAGES + 1], empty[2 * $STAGES + 1];
  const unsigned own = shared_address(tiles), is_full = shared_address(full), is_empty = shared_address(empty);
  const int group = threadIdx.x / 128 - 1;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2 * $STAGES + 1; s++) barrier_init(is_full + 8 * s, 4), barrier_init(is_empty + 8 * s, 4 * $GROUPS);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  int stage = 0, phase = 0, last = 0;                   // of keys and values; of queries
  if (group < 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 $FEW;");
    unsigned owed = NOTHING_OWED;
    for (int n = 0, z, first; $NAME_tile(n, z, first); n++, last ^= 1) {
      tile_room(owed, is_empty + 16 * $STAGES, last ^ 1);
      bring_swizzled<$ROWS, 2 * $KSTEPS>(own, [&](int row, int eight, bool &is_there) {
        is_there = first + row >= 0 && first + row < $M && eight < $D / 8;
        return $query8(z, max(min(first + row, $M - 1), 0), min(eight, $D / 8 - 1));
      });
      tile_comes(owed, is_full + 16 * $STAGES);
      for (int step = $NAME_next(first, 0); step < $STEPS; step = $NAME_next(first, step + 1)) {
        const unsigned keys = own + $NAME_QUERIES + stage * ($NAME_KEYS + $NAME_VALUES);
        tile_room(owed, is_empty + 8 * stage, phase ^ 1);
        bring_swizzled<$KEYS, 2 * $KSTEPS>(keys, [&](int row, int eight, bool &is_there) {
          is_there = ($N % $KEYS == 0 || $KEYS * step + row < $N) && ($D % 16 == 0 || eight < $D / 8);
          return $key8(z, $N % $KEYS == 0 ? $KEYS * step + row : min($KEYS * step + row, $N - 1), $D % 16 == 0 ? eight : min(eight, $D / 8 - 1));
        });
        tile_comes(owed, is_full + 8 * stage);
        tile_room(owed, is_empty + 8 * ($STAGES + stage), phase ^ 1);
        bring_swizzled<$KEYS, $VN / 8>(keys + $NAME_KEYS, [&](int row, int eight, bool &is_there) {
          is_there = ($N % $KEYS == 0 || $KEYS * step + row < $N) && ($V == $VN || eight < $V / 8);
          return $value8(z, $N % $KEYS == 0 ? $KEYS * step + row : min($KEYS * step + row, $N - 1), $V == $VN ? eight : min(eight, $V / 8 - 1));
        });
        tile_comes(owed, is_full + 8 * ($STAGES + stage));
        if (++stage == $STAGES) stage = 0, phase ^= 1;
      }
    }
    copies_wait_all();
    tile_is_there(owed);
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 $MANY;");
  const int lane = threadIdx.x % 32;
  if (group == $GROUPS - 1) turn_pass(1);               // the first turn is group 0's
  for (int n = 0, z, first; $NAME_tile(n, z, first); n++, last ^= 1) {
    const unsigned queries = own + group * (64 * 128);
    float s[$KEYS / 2], sum[$VN / 2], most[2] = { -INFINITY, -INFINITY }, total[2] = {}, less[2];
    bool vast = false;
    unsigned weights[$KEYS / 16][4];
    UNROLL for (int j = 0; j < $VN / 2; j++) sum[j] = 0.0f;
    int step = $NAME_next(first, 0);
    barrier_wait(is_full + 16 * $STAGES, last);
    if (step < $STEPS) {
      barrier_wait(is_full + 8 * stage, phase);
      $NAME_ask(s, queries, own + $NAME_QUERIES + stage * ($NAME_KEYS + $NAME_VALUES));
      products_wait<0>();
      hold(s);
      if (lane == 0) barrier_arrive(is_empty + 8 * stage);
      $weigh(s, most, total, less, vast, z, first + 64 * group, step);
    } else if (lane == 0) barrier_arrive(is_empty + 16 * $STAGES);
    while (step < $STEPS) {
      UNROLL for (int k = 0; k < $KEYS / 4; k++) weights[k / 4][k % 4] = $TWO(s[2 * k], s[2 * k + 1]);
      const int after = $NAME_next(first, step + 1);
      const int there = stage, there_phase = phase;
      if (++stage == $STAGES) stage = 0, phase ^= 1;
      bool rises = false;
      const bool ends = after < $STEPS && $NAME_ends(first + 64 * group, step, after);
      if (after < $STEPS && !ends) {
        barrier_wait(is_full + 8 * stage, phase);
        turn_wait(1 + group);
        $NAME_ask(s, queries, own + $NAME_QUERIES + stage * ($NAME_KEYS + $NAME_VALUES));
        barrier_wait(is_full + 8 * ($STAGES + there), there_phase);
        $NAME_answer(sum, weights, own + $NAME_QUERIES + there * ($NAME_KEYS + $NAME_VALUES) + $NAME_KEYS);
        turn_pass(1 + (group + 1) % $GROUPS);
        products_wait<1>();
        hold(s);
        if (lane == 0) barrier_arrive(is_empty + 8 * stage);
        rises = $weigh(s, most, total, less, vast, z, first + 64 * group, after);
      } else {
        if (lane == 0) barrier_arrive(is_empty + 16 * $STAGES);
        barrier_wait(is_full + 8 * ($STAGES + there), there_phase);
        $NAME_answer(sum, weights, own + $NAME_QUERIES + there * ($NAME_KEYS + $NAME_VALUES) + $NAME_KEYS);
      }
      products_wait<0>();
      hold(sum);
      hold(weights);
      if (lane == 0) barrier_arrive(is_empty + 8 * ($STAGES + there));
      if (rises) {
        UNROLL for (int j = 0; j < $VN / 2; j++) sum[j] *= less[j / 2 % 2];
      }
      step = after;
      for (; ends && step < $STEPS; step = $NAME_next(first, step + 1)) {      // what is left is for others
        barrier_wait(is_full + 8 * stage, phase);
        turn_wait(1 + group);
        turn_pass(1 + (group + 1) % $GROUPS);
        if (lane == 0) barrier_arrive(is_empty + 8 * stage);
        barrier_wait(is_full + 8 * ($STAGES + stage), phase);
        if (lane == 0) barrier_arrive(is_empty + 8 * ($STAGES + stage));
        if (++stage == $STAGES) stage = 0, phase ^= 1;
      }
    }
$if HIDES
    // A weight of zero times infinity is NaN: a value that no query of this group sees counts all the same.
    const unsigned *const mark = marks + (size_t)z * $STEPS * ($VN / 2 + 1);
    unsigned past = 0;
    for (int k = lane; k < $STEPS; k += 32)
      if ($NAME_hides(first + 64 * group, k)) past |= mark[k * ($VN / 2 + 1) + $VN / 2];
    if (__any_sync(~0u, past)) {
      for (int k = 0; k < $STEPS; k++) {
        if (!$NAME_hides(first + 64 * group, k)) continue;
        UNROLL for (int j = 0; j < $VN / 2; j++)
          if (mark[k * ($VN / 2 + 1) + j / 4 * 4 + lane % 4] >> j % 2 * 16 & 1) sum[j] = NAN;
      }
    }
$end
$RESULTS  }
  if (group == 0) turn_wait(1);                         // what the last group's last turn left
}
