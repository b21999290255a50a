// $NAME: the softmax of scores, $M x $N made of sums of $D products, times $N x $V. A block has $ROWS queries, 16 a warp, and
// goes over the keys 64 at a time; no score leaves it. What it has summed up is scaled anew when a larger score comes.

enum { $NAME_PITCH = $DPAD * 2 + 16, $NAME_PITCHV = $VPAD * 2 + 16, $NAME_KEYS = 3 * $ROWS * $NAME_PITCH,
       $NAME_VALUES = $NAME_KEYS + 3 * 64 * $NAME_PITCH };

// Scores of 16 queries and 64 keys, as sums of products.
static __device__ __forceinline__ void $NAME_products(float (&s)[8][4], unsigned queries, unsigned keys) {
  const int lane = threadIdx.x % 32;
  UNROLL for (int from = 0; from < $DPAD / 16; from += 4) {
    float high[8][4] = {}, low[8][4] = {};
    UNROLL for (int k = from; k < min(from + 4, $DPAD / 16); k++) {
      unsigned a[3][4];
      UNROLL for (int p = 0; p < 3; p++) load_blocks(a[p], queries + (p * $ROWS + lane % 16) * $NAME_PITCH + (2 * k + lane / 16) * 16);
      UNROLL for (int j = 0; j < 4; j++) {
        unsigned b[3][4];
        UNROLL for (int p = 0; p < 3; p++)
          load_blocks(b[p], keys + (p * 64 + 16 * j + lane / 16 * 8 + lane % 8) * $NAME_PITCH + (2 * k + lane / 8 % 2) * 16);
        multiply_parts(high[2 * j], low[2 * j], a, b, 0);
        multiply_parts(high[2 * j + 1], low[2 * j + 1], a, b, 2);
      }
    }
    UNROLL for (int j = 0; j < 8; j++)
      UNROLL for (int e = 0; e < 4; e++) s[j][e] = from == 0 ? high[j][e] + low[j][e] : s[j][e] + (high[j][e] + low[j][e]);
  }
}

// sum = sum * scale + p v over 64 keys.
static __device__ __forceinline__ void $NAME_gather(float (&sum)[$VPAD / 8][4], const float (&p)[8][4], const float (&scale)[2], unsigned values) {
  const int lane = threadIdx.x % 32;
  unsigned a[4][3][4];
  UNROLL for (int k = 0; k < 4; k++)
    UNROLL for (int e = 0; e < 4; e++) {
      float first = p[2 * k + e / 2][e % 2 * 2], second = p[2 * k + e / 2][e % 2 * 2 + 1];
      UNROLL for (int part = 0; part < 3; part++) a[k][part][e] = take_two(first, second);
    }
  UNROLL for (int j = 0; j < $VPAD / 16; j++) {
    float high[2][4] = {}, low[2][4] = {};
    UNROLL for (int k = 0; k < 4; k++) {
      unsigned b[3][4];
      UNROLL for (int part = 0; part < 3; part++) load_turned(b[part], values + (part * 64 + 16 * k + lane % 16) * $NAME_PITCHV + (2 * j + lane / 16) * 16);
      multiply_parts(high[0], low[0], a[k], b, 0);
      multiply_parts(high[1], low[1], a[k], b, 2);
    }
    UNROLL for (int half = 0; half < 2; half++)
      UNROLL for (int e = 0; e < 4; e++) sum[2 * j + half][e] = fmaf(sum[2 * j + half][e], scale[e / 2], high[half][e] + low[half][e]);
  }
}

extern "C" __global__ void __launch_bounds__($THREADS, $BLOCKS)
$NAME($PARAMETERS$MORE) {
$if RESTS:   if (rest[blockIdx.x] == 0) return;                    // done in parts of 16 bits
  extern __shared__ __align__(128) unsigned char memory[];
  const int z = blockIdx.x / $DOWN, first = blockIdx.x % $DOWN * $ROWS, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned own = shared_address(memory);
  int past = lay_down<$ROWS, $DPAD / 8, $NAME_PITCH>(memory, $LIFTK, [&](float (&v)[8], int row, int eight) {
    if (first + row < $M) { $READQ }
  });
  float sum[$VPAD / 8][4] = {}, most[2] = { -INFINITY, -INFINITY }, total[2] = {};
  for (int step = 0; step < $STEPS; step++) {
    const auto values = [&](float (&v)[8], int row, int eight) {
      if (64 * step + row < $N) { $READV }
    };
    const bool hidden = $HIDDEN;
    __syncthreads();
    if (hidden) {
      past |= lay_down<64, $VPAD / 8, 0>(nullptr, 0.0f, values);      // a weight of zero times infinity is NaN
    } else {
      past |= lay_down<64, $VPAD / 8, $NAME_PITCHV>(memory + $NAME_VALUES, $LIFTV, values);
      past |= lay_down<64, $DPAD / 8, $NAME_PITCH>(memory + $NAME_KEYS, $LIFTK, [&](float (&v)[8], int row, int eight) {
        if (64 * step + row < $N) { $READK }
      });
    }
    if (__syncthreads_or(past)) {
      $NAME_plain($PASS, z, first);
      return;
    }
    if (hidden) continue;
    float s[8][4], scale[2], base[2];
    $NAME_products(s, own + warp * 16 * $NAME_PITCH, own + $NAME_KEYS);
    UNROLL for (int half = 0; half < 2; half++) {
      const int row = first + warp * 16 + lane / 4 + 8 * half;
      float top = most[half];
      UNROLL for (int j = 0; j < 16; j++) {
        const int column = 64 * step + j / 2 * 8 + lane % 4 * 2 + j % 2;
        float &one = s[j / 2][half * 2 + j % 2];
        one = row < $M && column < $N ? $SCALE$score(z, row, column, one) : -INFINITY;
        top = fmaxf(top, one);
      }
      top = largest_of_row(top);
      base[half] = top == -INFINITY ? 0.0f : top;
      scale[half] = most[half] == -INFINITY ? 0.0f : expf(most[half] - top);
      most[half] = top;
      float part = 0.0f;
      UNROLL for (int j = 0; j < 16; j++) {
        float &one = s[j / 2][half * 2 + j % 2];
        one = expf(one - base[half]);
        part += one;
      }
      total[half] = fmaf(total[half], scale[half], part);
    }
    $NAME_gather(sum, s, scale, own + $NAME_VALUES);
  }
$RESULTS}
