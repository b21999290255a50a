// $NAME: the softmax of scores, $M x $N made of sums of $D products, times $N x $V, in float32, by products of warpgroups. A number
// is two parts of 16 bits, and three of their four products count, the small ones first. A block has $ROWS queries, 64 a
// group of four warps, and goes over the packed keys and values $KEYS at a time, which a thread fetches. While a group makes
// weights of its scores, the next scores and the last weights' sums are made. Where 16 bits do not hold what it meets, it
// notes that in `rest` and writes nothing. Weights are scaled by 2^14, so that small ones keep their bits.

enum { $NAME_OF_QUERIES = $ROWS * $DPAD * 2, $NAME_OF_KEYS = $KEYS * $DPAD * 2, $NAME_OF_VALUES = $KEYS * $VPAD * 2,
       $NAME_OF_STAGE = 2 * ($NAME_OF_KEYS + $NAME_OF_VALUES) };

$STEPSTEXT
// Queries x keys, and weights x values, 16 products of a sum.
$ASKINSTRUCTION
$ANSWERINSTRUCTION
static __device__ __forceinline__ void $NAME_ask(float (&s)[$KEYS / 2], unsigned queries, unsigned keys) {
  hold(s);
  products_begin();
  UNROLL for (int which = 0; which < 3; which++)
    UNROLL for (int k = 0; k < $KSTEPS; k++)
      $NAME_multiply(s, rows_descriptor(queries + (which == 0) * $NAME_OF_QUERIES + k / 4 * ($ROWS * 128)) + k % 4 * 2,
                     rows_descriptor(keys + (which == 1) * $NAME_OF_KEYS + k / 4 * ($KEYS * 128)) + k % 4 * 2, which + k > 0);
  products_end();
}

static __device__ __forceinline__ void $NAME_answer(float (&part)[$VN / 2], unsigned (&high)[$KEYS / 16][4], unsigned (&low)[$KEYS / 16][4], unsigned values) {
  hold(part);
  hold(high);
  hold(low);
  products_begin();
  UNROLL for (int which = 0; which < 3; which++)
    UNROLL for (int k = 0; k < $KEYS / 16; k++)
      $NAME_add(part, which == 0 ? low[k] : high[k], columns_descriptor(values + (which == 1) * $NAME_OF_VALUES, $KEYS * 128) + k * 128, which + k > 0);
  products_end();
}

// Scores become weights, 2^14 times 2 to the power of what they are above `most`; `less`: what earlier sums are multiplied
// with, if it says so.
static __device__ __forceinline__ bool $NAME_weigh($PARAMETERS, float (&s)[$KEYS / 2], float (&most)[2], float (&total)[2], float (&less)[2], const float (&unit)[2],
                                                   float of_keys, int &past, int z, int first, int step) {
  if (!$NAME_is_open(first, step)) $mask(s, z, first + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4, step);
  float top[2], scale[2];
  bool rises = false;
  UNROLL for (int half = 0; half < 2; half++) {
    float t = s[half * 2], u = s[half * 2 + 1];
    UNROLL for (int j = 1; j < $KEYS / 8; j++) t = fmaxf(t, s[4 * j + half * 2]), u = fmaxf(u, s[4 * j + half * 2 + 1]);
    scale[half] = fmaxf(unit[half] * of_keys, 0x1p-120f);
    top[half] = t = fmaxf(most[half], largest_of_row(fmaxf(t, u)) * scale[half]);
    rises |= t - most[half] > 1.0f;
    past |= $D * scale[half] > 0x1p-14f || (fabsf(t) < INFINITY && fabsf(t) > 65536.0f);      // a small part's error might show
  }
  rises = __any_sync(~0u, rises);
  if (rises) {
    UNROLL for (int half = 0; half < 2; half++) {
      less[half] = top[half] == -INFINITY ? 0.0f : power(most[half] - top[half]);
      most[half] = top[half], total[half] *= less[half];
    }
  }
  UNROLL for (int half = 0; half < 2; half++) {
    const float base = most[half] == -INFINITY ? 14.0f : 14.0f - most[half];
    float t = 0.0f, u = 0.0f;
    UNROLL for (int j = 0; j < $KEYS / 8; j++) {
      float &left = s[4 * j + half * 2], &right = s[4 * j + half * 2 + 1];
      left = power(fmaf(left, scale[half], base)), right = power(fmaf(right, scale[half], base));
      t += left, u += right;
    }
    total[half] += t + u;
  }
  return rises;
}

extern "C" __global__ void __launch_bounds__(384, 1)
$NAME_pairs($PARAMETERS, const unsigned char *__restrict__ parts, const float *__restrict__ scales, int *__restrict__ rest) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ unsigned long long full[2 * $STAGES], empty[2 * $STAGES];
  __shared__ float scale_of[$ROWS];
  __shared__ int is_past;
  const int z = blockIdx.x / $DOWN, down = $DOWN - 1 - blockIdx.x % $DOWN, first = down * $ROWS, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned own = shared_address(tiles), stages = own + 2 * $NAME_OF_QUERIES, is_full = shared_address(full), is_empty = shared_address(empty);
  const unsigned char *const packed = parts + (size_t)z * $STEPS * $NAME_BYTES;
  const float *const own_scales = scales + 2 * (size_t)z * $STEPS;
  const int group = threadIdx.x / 128 - 1;
  int step = $NAME_next(first, 0), past = 0, stage = 0, phase = 0;
  const auto fetch_keys = [&] {
    barrier_expect(is_full + 8 * stage, 2 * $NAME_OF_KEYS);
    bulk_copy(stages + stage * $NAME_OF_STAGE, packed + (size_t)step * $NAME_BYTES, 2 * $NAME_OF_KEYS, is_full + 8 * stage);
  };
  const auto fetch_values = [&] {
    barrier_expect(is_full + 8 * ($STAGES + stage), 2 * $NAME_OF_VALUES);
    bulk_copy(stages + stage * $NAME_OF_STAGE + 2 * $NAME_OF_KEYS, packed + (size_t)step * $NAME_BYTES + $NAME_KEYBYTES, 2 * $NAME_OF_VALUES,
              is_full + 8 * ($STAGES + stage));
  };
  if (threadIdx.x == 0) {
    is_past = 0;
    for (int s = 0; s < 2 * $STAGES; s++) barrier_init(is_full + 8 * s, 1), barrier_init(is_empty + 8 * s, 8);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    for (; stage < $STAGES && step < $STEPS; stage++, step = $NAME_next(first, step + 1)) fetch_keys(), fetch_values();
  }
  for (int k = threadIdx.x; k < $STEPS; k += 384) past |= own_scales[2 * k] < 0.0f;
  for (int from = warp - 1; from < $ROWS && warp > 0; from += 44) {        // four rows of each of 11 warps
    float v[4][4] = {};
    UNROLL for (int i = 0; i < 4; i++) {
      const int row = from + 11 * i;
      if (row < $ROWS && first + row < $M) { $FOURQ }
    }
    UNROLL for (int i = 0; i < 4; i++) {
      const int row = from + 11 * i;
      unsigned most = 0;
      UNROLL for (int j = 0; j < 4; j++) past |= !(fabsf(v[i][j]) < 0x1p80f), most = max(most, __float_as_uint(fabsf(v[i][j])));
      most = __reduce_max_sync(~0u, most);
      const int e = exponent_of(__uint_as_float(most));
      if (row >= $ROWS) continue;
      if (lane < $DPAD / 4) $NAME_put_parts(tiles + $NAME_place(row, lane, $ROWS, 0), v[i], e, $NAME_OF_QUERIES, $LIFTK);
      if (lane == 0) scale_of[row] = most > 0 ? power_of_two(-e) : 0.0f;
    }
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if (__syncthreads_or(past)) {
    if (threadIdx.x > 0) return;
    rest[z * $DOWN + down] = 1;
    while (stage-- > 0) barrier_wait(is_full + 8 * stage, 0), barrier_wait(is_full + 8 * ($STAGES + stage), 0);
    return;
  }
  if (group < 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x > 0) return;
    for (stage = 0; step < $STEPS; step = $NAME_next(first, step + 1)) {
      barrier_wait(is_empty + 8 * stage, phase);
      fetch_keys();
      barrier_wait(is_empty + 8 * ($STAGES + stage), phase);
      fetch_values();
      if (++stage == $STAGES) stage = 0, phase ^= 1;
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  const unsigned queries = own + group * (64 * 128);
  float s[$KEYS / 2], part[$VN / 2], sum[$VN / 2], most[2], total[2] = {}, less[2], unit[2];
  unsigned high[$KEYS / 16][4], low[$KEYS / 16][4];
  UNROLL for (int j = 0; j < $VN / 2; j++) sum[j] = 0.0f;
  UNROLL for (int half = 0; half < 2; half++) most[half] = -INFINITY, unit[half] = scale_of[group * 64 + warp % 4 * 16 + lane / 4 + 8 * half] * $POWER;
  if (group == 1) turn_pass(1);                         // the first turn is group 0's
  if (step < $STEPS) {
    const float of_keys = own_scales[2 * step];
    barrier_wait(is_full, 0);
    $NAME_ask(s, queries, stages);
    products_wait<0>();
    hold(s);
    if (lane == 0) barrier_arrive(is_empty);
    $weigh(s, most, total, less, unit, of_keys, past, z, first + 64 * group, step);
  }
  while (step < $STEPS) {
    UNROLL for (int k = 0; k < $KEYS / 4; k++) high[k / 4][k % 4] = split_two(s[2 * k], s[2 * k + 1], low[k / 4][k % 4]);
    const int after = $NAME_next(first, step + 1), there = stage, there_phase = phase;
    const float of_values = own_scales[2 * step + 1];
    if (++stage == $STAGES) stage = 0, phase ^= 1;
    bool rises = false;
    if (after < $STEPS) {
      const float of_keys = own_scales[2 * after];
      barrier_wait(is_full + 8 * stage, phase);
      turn_wait(1 + group);
      $NAME_ask(s, queries, stages + stage * $NAME_OF_STAGE);
      barrier_wait(is_full + 8 * ($STAGES + there), there_phase);
      $NAME_answer(part, high, low, stages + there * $NAME_OF_STAGE + 2 * $NAME_OF_KEYS);
      turn_pass(2 - group);
      products_wait<1>();
      hold(s);
      if (lane == 0) barrier_arrive(is_empty + 8 * stage);
      rises = $weigh(s, most, total, less, unit, of_keys, past, z, first + 64 * group, after);
    } else {
      barrier_wait(is_full + 8 * ($STAGES + there), there_phase);
      $NAME_answer(part, high, low, stages + there * $NAME_OF_STAGE + 2 * $NAME_OF_KEYS);
    }
    products_wait<0>();
    hold(part);
    hold(high);
    hold(low);
    if (lane == 0) barrier_arrive(is_empty + 8 * ($STAGES + there));
    UNROLL for (int j = 0; j < $VN / 2; j++) sum[j] = fmaf(part[j], of_values, sum[j]);
    if (rises) {
      UNROLL for (int j = 0; j < $VN / 2; j++) sum[j] *= less[j / 2 % 2];
    }
    step = after;
  }
  if (group == 0) turn_wait(1);                         // what the other group's last turn left
  if (past) atomicOr(&is_past, 1);
  asm volatile("bar.sync 3, 256;" ::: "memory");
  past = *(volatile int *)&is_past;
  if (threadIdx.x == 128) rest[z * $DOWN + down] = past;
  if (past) return;
$RESULTS}
