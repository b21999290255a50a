// $NAME: the softmax of scores, $M x $N made of sums of $D products, times $N x $V, of 16-bit numbers. A block has $ROWS queries,
// $TILES times 16 a warp, and goes over the keys $KEYS at a time, while the next ones come; no score leaves it. A row's sums
// are scaled anew when a score is 2^8 times above the largest that they were scaled by.

enum { $NAME_PITCH = $DPAD * 2 + 16, $NAME_PITCHV = $VPAD * 2 + 16, $NAME_STAGE = $KEYS * ($NAME_PITCH + $NAME_PITCHV),
       $NAME_VALUES = $KEYS * $NAME_PITCH, $NAME_STAGES = $ROWS * $NAME_PITCH };

$STEPSTEXT
// Keys and values of a step.
static __device__ __forceinline__ void $NAME_bring($PARAMETERS, unsigned char *to, int z, int step) {
$if NEARK
  bring<$THREADS, $KEYS, $DPAD / 8, $NAME_PITCH>(shared_address(to), [&](int row, int eight, bool &is_there) {
    is_there = $KEYS * step + row < $N && eight < $D / 8;
    return $key8(z, min($KEYS * step + row, $N - 1), min(eight, $D / 8 - 1));
  });
$else
  make<$THREADS, $KEYS, $DPAD / 8, $NAME_PITCH, $TWO>(to, [&](float (&v)[8], int row, int eight) {
    if ($KEYS * step + row < $N) { $READK }
  });
$end
$if NEARV
  bring<$THREADS, $KEYS, $VPAD / 8, $NAME_PITCHV>(shared_address(to + $NAME_VALUES), [&](int row, int eight, bool &is_there) {
    is_there = $KEYS * step + row < $N && eight < $V / 8;
    return $value8(z, min($KEYS * step + row, $N - 1), min(eight, $V / 8 - 1));
  });
$else
  make<$THREADS, $KEYS, $VPAD / 8, $NAME_PITCHV, $TWO>(to + $NAME_VALUES, [&](float (&v)[8], int row, int eight) {
    if ($KEYS * step + row < $N) { $READV }
  });
$end
}

// Whether a value of a step is NaN or infinite.
static __device__ __forceinline__ int $NAME_look($PARAMETERS, int z, int step) {
$if NEARV
  return is_any_infinite<$THREADS, $KEYS, $V / 8, $BFLOAT>([&](int row, int eight, bool &is_there) {
    is_there = $KEYS * step + row < $N;
    return $value8(z, min($KEYS * step + row, $N - 1), eight);
  });
$else
  return is_any_infinite<$THREADS, $KEYS, $VPAD / 8>([&](float (&v)[8], int row, int eight) {
    if ($KEYS * step + row < $N) { $READV }
  });
$end
}

extern "C" __global__ void __launch_bounds__($THREADS, $BLOCKS)
$NAME($PARAMETERS) {
  extern __shared__ __align__(128) unsigned char memory[];
  const int z = blockIdx.x / $DOWN, first = ($DOWN - 1 - blockIdx.x % $DOWN) * $ROWS, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned own = shared_address(memory), queries = own + (warp * $TILES * 16 + lane % 16) * $NAME_PITCH + lane / 16 * 16;
$if NEARQ
  bring<$THREADS, $ROWS, $DPAD / 8, $NAME_PITCH>(own, [&](int row, int eight, bool &is_there) {
    is_there = first + row < $M && eight < $D / 8;
    return $query8(z, min(first + row, $M - 1), min(eight, $D / 8 - 1));
  });
$else
  make<$THREADS, $ROWS, $DPAD / 8, $NAME_PITCH, $TWO>(memory, [&](float (&v)[8], int row, int eight) {
    if (first + row < $M) { $READQ }
  });
$end
  int step = $NAME_next(first, 0);
  if (step < $STEPS) $NAME_bring($PASS, memory + $NAME_STAGES, z, step);
  copies_end();
  bool vast = false;
  float sum[$TILES][$VPAD / 8][4] = {}, most[$TILES][2], total[$TILES][2] = {};
  UNROLL for (int m = 0; m < $TILES; m++) most[m][0] = most[m][1] = -INFINITY;
$if HELD
  unsigned held[$TILES][$DPAD / 16][4];
  copies_wait_all();
  __syncthreads();
  UNROLL for (int m = 0; m < $TILES; m++)
    UNROLL for (int k = 0; k < $DPAD / 16; k++) load_blocks(held[m][k], queries + m * 16 * $NAME_PITCH + k * 32);
$end
  for (int stage = 0; step < $STEPS; stage ^= 1) {
    const int after = $NAME_next(first, step + 1);
    const unsigned keys = own + $NAME_STAGES + stage * $NAME_STAGE, values = keys + $NAME_VALUES;
    copies_wait_all();
    __syncthreads();
    if (after < $STEPS) $NAME_bring($PASS, memory + $NAME_STAGES + (stage ^ 1) * $NAME_STAGE, z, after);
    copies_end();
    float s[$TILES][$KEYS / 8][4] = {};
    UNROLL for (int k = 0; k < $DPAD / 16; k++) {
$if HELD
      const auto &a = held;
#define $NAME_A(m) a[m][k]
$else
      unsigned a[$TILES][4];
#define $NAME_A(m) a[m]
      UNROLL for (int m = 0; m < $TILES; m++) load_blocks(a[m], queries + m * 16 * $NAME_PITCH + k * 32);
$end
      UNROLL for (int j = 0; j < $KEYS / 16; j++) {
        unsigned b[4];
        load_blocks(b, keys + (16 * j + lane / 16 * 8 + lane % 8) * $NAME_PITCH + (2 * k + lane / 8 % 2) * 16);
        UNROLL for (int m = 0; m < $TILES; m++) {
          $MULTIPLY(s[m][2 * j], $NAME_A(m), b[0], b[1]);
          $MULTIPLY(s[m][2 * j + 1], $NAME_A(m), b[2], b[3]);
        }
      }
    }
#undef $NAME_A
    if (!$NAME_is_open(first, step)) {
      UNROLL for (int m = 0; m < $TILES; m++) $mask(&s[m][0][0], z, first + (warp * $TILES + m) * 16 + lane / 4, step);
    }
    float top[$TILES][2];
    bool rises = false;
    UNROLL for (int m = 0; m < $TILES; m++)
      UNROLL for (int half = 0; half < 2; half++) {
        float t = most[m][half];
        UNROLL for (int j = 0; j < $KEYS / 4; j++) t = fmaxf(t, s[m][j / 2][half * 2 + j % 2]);
        top[m][half] = t = largest_of_row(t);
        rises |= (t - most[m][half]) * $POWER > 8.0f;
      }
    if (__any_sync(~0u, rises)) {
      bool is_vast = false;
      UNROLL for (int m = 0; m < $TILES; m++)
        UNROLL for (int half = 0; half < 2; half++) {
          const float t = top[m][half], scale = t == -INFINITY ? 0.0f : power((most[m][half] - t) * $POWER);
          most[m][half] = t, is_vast |= fabsf(t) < INFINITY && fabsf(t) * $POWER > 65536.0f;
          total[m][half] *= scale;
          UNROLL for (int j = 0; j < $VPAD / 4; j++) sum[m][j / 2][half * 2 + j % 2] *= scale;
        }
      vast = __any_sync(~0u, is_vast);         // a power's rounding error is no longer small: differences are taken first
    }
    UNROLL for (int m = 0; m < $TILES; m++)
      UNROLL for (int half = 0; half < 2; half++) {
        const float base = most[m][half] == -INFINITY ? 0.0f : most[m][half], raised = base * $POWER;
        if (vast) {
          UNROLL for (int j = 0; j < $KEYS / 4; j++) s[m][j / 2][half * 2 + j % 2] = power((s[m][j / 2][half * 2 + j % 2] - base) * $POWER);
        } else {
          UNROLL for (int j = 0; j < $KEYS / 4; j++) s[m][j / 2][half * 2 + j % 2] = power(fmaf(s[m][j / 2][half * 2 + j % 2], $POWER, -raised));
        }
        UNROLL for (int j = 0; j < $KEYS / 4; j++) total[m][half] += s[m][j / 2][half * 2 + j % 2];
      }
    UNROLL for (int k = 0; k < $KEYS / 16; k++) {
      unsigned a[$TILES][4];
      UNROLL for (int m = 0; m < $TILES; m++)
        UNROLL for (int e = 0; e < 4; e++) a[m][e] = $TWO(s[m][2 * k + e / 2][e % 2 * 2], s[m][2 * k + e / 2][e % 2 * 2 + 1]);
      UNROLL for (int j = 0; j < $VPAD / 16; j++) {
        unsigned b[4];
        load_turned(b, values + (16 * k + lane % 16) * $NAME_PITCHV + (2 * j + lane / 16) * 16);
        UNROLL for (int m = 0; m < $TILES; m++) {
          $MULTIPLY(sum[m][2 * j], a[m], b[0], b[1]);
          $MULTIPLY(sum[m][2 * j + 1], a[m], b[2], b[3]);
        }
      }
    }
    step = after;
  }
$if HIDES
  // A weight of zero times infinity is NaN: one that no query of this block sees counts all the same.
  int past = 0;
  for (int step = 0; step < $STEPS; step++)
    if ($NAME_is_hidden(first, step)) past |= $NAME_look($PASS, z, step);
  if (__syncthreads_or(past)) {
    $NAME_plain($PASS, z, first);
    return;
  }
$end
$RESULTS}
