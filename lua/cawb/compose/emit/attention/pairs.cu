// $NAME: the softmax of scores, $M x $N made of sums of $D products, times $N x $V, in float32. A number is two parts of 16 bits,
// and three of their four products count, the small ones first. A block has $ROWS queries, $TILES times 16 a warp, and goes
// over the packed keys and values $KEYS at a time, while the next ones come. Where 16 bits do not hold what it meets, it
// notes that in `rest` and writes nothing. Weights are scaled by 2^14, so that small ones keep their bits.

enum { $NAME_OF_PITCH = $DPAD * 2 + 16, $NAME_OF_PITCHV = $VPAD * 2 + 16, $NAME_OF_QUERIES = $ROWS * $NAME_OF_PITCH, $NAME_OF_LOWKEYS = $KEYS * $NAME_OF_PITCH,
       $NAME_OF_VALUES = 2 * $KEYS * $NAME_OF_PITCH, $NAME_OF_LOWVALUES = $KEYS * $NAME_OF_PITCHV, $NAME_OF_STAGE = 2 * $KEYS * ($NAME_OF_PITCH + $NAME_OF_PITCHV) };

$STEPSTEXT
// The parts of a step.
static __device__ __forceinline__ void $NAME_fetch(unsigned to, const unsigned char *from) {
  bring<$THREADS, 2 * $KEYS, $DPAD / 8, $NAME_OF_PITCH>(to, [&](int row, int eight, bool &) { return from + row * $DPAD * 2 + eight * 16; });
  bring<$THREADS, 2 * $KEYS, $VPAD / 8, $NAME_OF_PITCHV>(to + $NAME_OF_VALUES, [&](int row, int eight, bool &) {
    return from + $NAME_KEYBYTES + row * $VPAD * 2 + eight * 16;
  });
}

extern "C" __global__ void __launch_bounds__($THREADS, $BLOCKS)
$NAME_pairs($PARAMETERS, const unsigned char *__restrict__ parts, const float *__restrict__ scales, int *__restrict__ rest) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ float scale_of[$ROWS];
  const int z = blockIdx.x / $DOWN, down = $DOWN - 1 - blockIdx.x % $DOWN, first = down * $ROWS, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned own = shared_address(memory), stages = own + 2 * $NAME_OF_QUERIES;
  const unsigned queries = own + (warp * $TILES * 16 + lane % 16) * $NAME_OF_PITCH + lane / 16 * 16;
  const unsigned char *const packed = parts + (size_t)z * $STEPS * $NAME_BYTES;
  const float *const own_scales = scales + 2 * (size_t)z * $STEPS;
  int step = $NAME_next(first, 0), past = 0;
  if (step < $STEPS) $NAME_fetch(stages, packed + (size_t)step * $NAME_BYTES);
  copies_end();
  for (int k = threadIdx.x; k < $STEPS; k += $THREADS) past |= own_scales[2 * k] < 0.0f;
  for (int row = warp; row < $ROWS; row += $THREADS / 32) {
    float v[4] = {};
    if (first + row < $M) { $FOURQ }
    unsigned most = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) past |= !(fabsf(v[j]) < 0x1p80f), most = max(most, __float_as_uint(fabsf(v[j])));
    most = __reduce_max_sync(~0u, most);
    const int e = exponent_of(__uint_as_float(most));
    if (lane < $DPAD / 4) $NAME_put_parts(memory + row * $NAME_OF_PITCH + lane * 8, v, e, $NAME_OF_QUERIES);
    if (lane == 0) scale_of[row] = most > 0 ? power_of_two(-e) : 0.0f;
  }
  if (__syncthreads_or(past)) {
    if (threadIdx.x == 0) rest[z * $DOWN + down] = 1;
    copies_wait_all();
    return;
  }
  float sum[$TILES][$VPAD / 8][4] = {}, most[$TILES][2], total[$TILES][2] = {}, unit[$TILES][2];
#pragma unroll
  for (int m = 0; m < $TILES; m++)
#pragma unroll
    for (int half = 0; half < 2; half++) most[m][half] = -INFINITY, unit[m][half] = scale_of[(warp * $TILES + m) * 16 + lane / 4 + 8 * half] * $POWER;
  for (int stage = 0; step < $STEPS; stage ^= 1) {
    const int after = $NAME_next(first, step + 1);
    const unsigned keys = stages + stage * $NAME_OF_STAGE, values = keys + $NAME_OF_VALUES;
    const float of_keys = own_scales[2 * step], of_values = own_scales[2 * step + 1];
    copies_wait_all();
    __syncthreads();
    if (after < $STEPS) $NAME_fetch(stages + (stage ^ 1) * $NAME_OF_STAGE, packed + (size_t)after * $NAME_BYTES);
    copies_end();
    float s[$TILES][$KEYS / 8][4] = {};
#pragma unroll
    for (int large = 0; large < 2; large++)
#pragma unroll
      for (int k = 0; k < $DPAD / 16; k++) {
        unsigned high[$TILES][4], low[$TILES][4];
#pragma unroll
        for (int m = 0; m < $TILES; m++) {
          load_blocks(high[m], queries + m * 16 * $NAME_OF_PITCH + k * 32);
          if (!large) load_blocks(low[m], queries + $NAME_OF_QUERIES + m * 16 * $NAME_OF_PITCH + k * 32);
        }
#pragma unroll
        for (int j = 0; j < $KEYS / 16; j++) {
          const unsigned at = keys + (16 * j + lane / 16 * 8 + lane % 8) * $NAME_OF_PITCH + (2 * k + lane / 8 % 2) * 16;
          unsigned b[4], c[4];
          load_blocks(b, at);
          if (!large) load_blocks(c, at + $NAME_OF_LOWKEYS);
#pragma unroll
          for (int m = 0; m < $TILES; m++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
              if (large) multiply_16(s[m][2 * j + half], high[m], b[2 * half], b[2 * half + 1]);
              if (!large) multiply_16(s[m][2 * j + half], low[m], b[2 * half], b[2 * half + 1]);
              if (!large) multiply_16(s[m][2 * j + half], high[m], c[2 * half], c[2 * half + 1]);
            }
        }
      }
    if (!$NAME_is_open(first, step)) {
#pragma unroll
      for (int m = 0; m < $TILES; m++) $mask(&s[m][0][0], z, first + (warp * $TILES + m) * 16 + lane / 4, step);
    }
    float top[$TILES][2], scale[$TILES][2];
    bool rises = false;
#pragma unroll
    for (int m = 0; m < $TILES; m++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        float t = -INFINITY;
#pragma unroll
        for (int j = 0; j < $KEYS / 4; j++) t = fmaxf(t, s[m][j / 2][half * 2 + j % 2]);
        scale[m][half] = fmaxf(unit[m][half] * of_keys, 0x1p-120f);
        top[m][half] = t = fmaxf(most[m][half], largest_of_row(t) * scale[m][half]);
        rises |= t - most[m][half] > 1.0f;
        past |= $D * scale[m][half] > 0x1p-14f || (fabsf(t) < INFINITY && fabsf(t) > 65536.0f);      // a small part's error might show
      }
    if (__any_sync(~0u, rises)) {
#pragma unroll
      for (int m = 0; m < $TILES; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const float t = top[m][half], less = t == -INFINITY ? 0.0f : power(most[m][half] - t);
          most[m][half] = t, total[m][half] *= less;
#pragma unroll
          for (int j = 0; j < $VPAD / 4; j++) sum[m][j / 2][half * 2 + j % 2] *= less;
        }
    }
    unsigned high[$TILES][$KEYS / 16][4], low[$TILES][$KEYS / 16][4];
#pragma unroll
    for (int m = 0; m < $TILES; m++) {
      const float base[2] = { most[m][0] == -INFINITY ? 14.0f : 14.0f - most[m][0], most[m][1] == -INFINITY ? 14.0f : 14.0f - most[m][1] };
#pragma unroll
      for (int k = 0; k < $KEYS / 16; k++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
          const float *const two = &s[m][2 * k + e / 2][e % 2 * 2];
          const float left = power(fmaf(two[0], scale[m][e % 2], base[e % 2])), right = power(fmaf(two[1], scale[m][e % 2], base[e % 2]));
          total[m][e % 2] += left + right;
          high[m][k][e] = split_two(left, right, low[m][k][e]);
        }
    }
#pragma unroll
    for (int j = 0; j < $VPAD / 16; j++) {
      float part[$TILES][2][4] = {};
#pragma unroll
      for (int large = 0; large < 2; large++)
#pragma unroll
        for (int k = 0; k < $KEYS / 16; k++) {
          const unsigned at = values + (16 * k + lane % 16) * $NAME_OF_PITCHV + (2 * j + lane / 16) * 16;
          unsigned b[4], c[4];
          load_turned(b, at);
          if (!large) load_turned(c, at + $NAME_OF_LOWVALUES);
#pragma unroll
          for (int m = 0; m < $TILES; m++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
              if (large) multiply_16(part[m][half], high[m][k], b[2 * half], b[2 * half + 1]);
              if (!large) multiply_16(part[m][half], low[m][k], b[2 * half], b[2 * half + 1]);
              if (!large) multiply_16(part[m][half], high[m][k], c[2 * half], c[2 * half + 1]);
            }
        }
#pragma unroll
      for (int m = 0; m < $TILES; m++)
#pragma unroll
        for (int e = 0; e < 8; e++) sum[m][2 * j + e / 4][e % 4] = fmaf(part[m][e / 4][e % 4], of_values, sum[m][2 * j + e / 4][e % 4]);
    }
    step = after;
  }
  past = __syncthreads_or(past);
  if (threadIdx.x == 0) rest[z * $DOWN + down] = past;
  if (past) return;
$RESULTS}
