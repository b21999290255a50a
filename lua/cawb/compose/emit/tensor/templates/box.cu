// $NAME: $WHAT. A block takes a box of $ROWS outputs after the other: what these
// read comes to shared memory once, as pairs of halves under one scale, and each warp gathers its factor from there. The weights
// stay in shared memory.

struct $NAME_tile { int n, d, h, w; };

static __device__ __forceinline__ $NAME_tile $NAME_at(int i) {
  return { i / ($DOWND * $DOWNH * $DOWNW), i / ($DOWNH * $DOWNW) % $DOWND * $BOXD, i / $DOWNW % $DOWNH * $BOXH, i % $DOWNW * $BOXW };
}

// What a box reads: each thread has $UNIT channels of some places.
static __device__ __forceinline__ void $NAME_fetch($PARAMETERS, float (&v)[$TURNS][$UNIT], int z, $NAME_tile tile) {
  UNROLL for (int i = 0; i < $TURNS; i++) {
    const int u = threadIdx.x + $THREADS * i, place = u % $PLACES, channel = u / $PLACES * $UNIT;
    const int d = tile.d * $STEPD + $FIRSTD + place / ($INH * $INW), h = tile.h * $STEPH + $FIRSTH + place / $INW % $INH;
    const int w = tile.w * $STEPW + $FIRSTW + place % $INW;
    const bool is_row = u < $UNITS && d >= 0 && d < $SIZED && h >= 0 && h < $SIZEH;
$if NEAR
    UNROLL for (int j = 0; j < $UNIT; j++) {                         // of neighbours, which other taps of a window meet
      const int at = w + j / $CHANNELS * $DILATION;
      v[i][j] = j < $NEAR * $CHANNELS && is_row && at >= 0 && at < $SIZEW
        ? $load(((long long)tile.n * $GROUPS + z) * $CHANNELS + j % $CHANNELS, d, h, at) : 0.0f;
    }
$else
    UNROLL for (int j = 0; j < $UNIT; j++)
      v[i][j] = is_row && w >= 0 && w < $SIZEW ? $load(((long long)tile.n * $GROUPS + z) * $CHANNELS + channel + j, d, h, w) : 0.0f;
$end
  }
}

// The value of a sum, and what follows it.
static __device__ __forceinline__ void $NAME_inside($PARAMETERS, int z, int n, int column, int d, int h, int w, float sum) {
  const int o = z * $EACH + column;
  $put((long long)n * $ALL + o, d, h, w, $VALUE);
}

// One sum without tensor cores: of a place of a box, by the taps of a set.
static __device__ __forceinline__ float $NAME_plain($PARAMETERS, int z, $NAME_tile tile, int3 to, int set, int column) {
  const int o = z * $EACH + column, *const tap = $NAME_taps[$NAME_sets[set][0]];
  float sum = 0.0f;
  for (int t = 0; t < $NAME_sets[set][1]; t++) {
    const int *const by = tap + 4 * t;
    const int d = (tile.d + to.x) * $STEPD + $FIRSTD + by[1], h = (tile.h + to.y) * $STEPH + $FIRSTH + by[2];
    const int w = (tile.w + to.z) * $STEPW + $FIRSTW + by[3];
    if (d < 0 || d >= $SIZED || h < 0 || h >= $SIZEH || w < 0 || w >= $SIZEW) continue;
    float part = 0.0f;
#pragma unroll $ATONCE
    for (int c = 0; c < $CHANNELS; c++) {
      const int2 at = { c, 0 };
      part = fmaf($load(((long long)tile.n * $GROUPS + z) * $CHANNELS + c, d, h, w), $weight($OUTIN, by[0]), part);
    }
    sum += part;
  }
  return sum;
}

// Whether a place of a box reads one with a mark, by the taps of a set, which a warp's lanes share.
static __device__ __forceinline__ bool $NAME_is_marked(int3 to, int set, const unsigned *marks) {
  const int *const tap = $NAME_taps[$NAME_sets[set][0]];
  bool is_marked = false;
  RARE for (int t = threadIdx.x % 32; t < $NAME_sets[set][1]; t += 32) {
    const int place = ((to.x * $STEPD + tap[4 * t + 1]) * $INH + to.y * $STEPH + tap[4 * t + 2]) * $INW + to.z * $STEPW + tap[4 * t + 3];
    is_marked = is_marked || (marks[place / 32] >> place % 32 & 1);
  }
  return __any_sync(~0u, is_marked);
}

$if SUMMED
$else
// Results of a box once more without tensor cores: all of them (`redo` is 2: a number is infinite, or the weights lie too far apart for 16
// bits), or those that read places with a mark. A warp has one place, and its lanes the columns, so that what they read is the same. Only
// the blocks with such places are late, and everybody waits for them.
static __device__ __forceinline__ void $NAME_again($PARAMETERS, int z, int cut, $NAME_tile tile, int redo, const unsigned *marks) {
  for (int i = threadIdx.x / 32; i < $ROWS * $SETS; i += $THREADS / 32) {
    const int row = i % $ROWS, set = i / $ROWS, *const rest = $NAME_sets[set] + 4;
    const int3 to = { row / ($BOXH * $BOXW), row / $BOXW % $BOXH, row % $BOXW };
    const int d = (tile.d + to.x) * $OUTD + rest[0], h = (tile.h + to.y) * $OUTH + rest[1], w = (tile.w + to.z) * $OUTW + rest[2];
    if (!(redo == 2 || $NAME_is_marked(to, set, marks)) || d >= $LASTD || h >= $LASTH || w >= $LASTW) continue;
    for (int column = cut * $COLUMNS + threadIdx.x % 32; column < min($EACH, (cut + 1) * $COLUMNS); column += 32)
      $NAME_inside($PASS, z, tile.n, column, d, h, w, $NAME_plain($PASS, z, tile, to, set, column));
  }
}

$end
$STEPSTEXT
extern "C" __global__ void __launch_bounds__($THREADS, $BLOCKS)
$NAME($PARAMETERS, const uint4 *__restrict__ weights, const float *__restrict__ scales, const int *__restrict__ wide$MORE) {
$if GROUP
  extern __shared__ __align__(1024) unsigned char stages[];
  uint4 *const own = (uint4 *)stages;
$else
  extern __shared__ __align__(16) unsigned char shared[];
  uint4 *const own = (uint4 *)shared;
$end
  int *const offsets = (int *)(own + $WEIGHTS);
  float *const columns = (float *)(offsets + $OFFSETS);
  float *const stage = columns + $SETS * $COLUMNS;
  unsigned *const box = (unsigned *)(stage + $TILES * 8 * $PITCH);
  __shared__ float all[$THREADS / 32];
  __shared__ unsigned marks[($PLACES + 31) / 32];
  const int cut = blockIdx.x % ($GROUPS * $CUTS), z = cut / $CUTS, lane = threadIdx.x % 32, bad = *wide;
$if STREAM
  __shared__ unsigned long long barriers[2 * $RING];
  const unsigned rings = shared_address(barriers);
  int turn = 0;
  weights += (size_t)cut * $KEPT;
  if (threadIdx.x == 0)
    for (int k = 0; k < $RING; k++) barrier_init(rings + 8 * k, 1), barrier_init(rings + 8 * ($RING + k), $THREADS / 32);
$else
  for (int i = threadIdx.x; i < $WEIGHTS; i += $THREADS) own[i] = weights[(size_t)cut * $WEIGHTS + i];
$end
$if GROUP:   asm volatile("fence.proxy.async.shared::cta;" ::: "memory");               // the tensor cores see what this thread wrote
$if STREAM
  __syncthreads();
  if (threadIdx.x == 0)
    for (int k = 0; k < $RING; k++) $NAME_refill(rings, own, weights, k);
$end
  RARE for (int i = threadIdx.x; i < $SETS * $COLUMNS; i += $THREADS) columns[i] = scales[cut * ($SETS * $COLUMNS) + i];
  for (int set = 0; set < $SETS; set++)
    RARE for (int k = threadIdx.x; k < $NAME_sets[set][3] * 16 / $NEXT; k += $THREADS) {
      const int taps = $NAME_sets[set][1];
      const int2 at = $NAME_part(k * $NEXT < $TERMS ? k * $NEXT : 0, taps);       // beyond the last weights are zero
      const int *const tap = $NAME_taps[$NAME_sets[set][0] + at.y];
      offsets[$NAME_sets[set][2] * 16 / $NEXT + k] = $OFFSET;
    }
  const int first = threadIdx.x / 32 * 16 + lane / 4;
$if GROUP
  const int mine = threadIdx.x / 32 * 16 + lane % 16;
  const unsigned from = shared_address(box) + ((mine / ($BOXH * $BOXW) * $STEPD * $INH + mine / $BOXW % $BOXH * $STEPH) * $INW + mine % $BOXW * $STEPW) * 16;
$else
  const unsigned *const upper = box + (first / ($BOXH * $BOXW) * $STEPD * $INH + first / $BOXW % $BOXH * $STEPH) * $INW + first % $BOXW * $STEPW;
  const unsigned *const lower = box + ((first + 8) / ($BOXH * $BOXW) * $STEPD * $INH + (first + 8) / $BOXW % $BOXH * $STEPH) * $INW
                                + (first + 8) % $BOXW * $STEPW;
$end
  float v[$TURNS][$UNIT];
  const int blocks = gridDim.x / ($GROUPS * $CUTS);
  int i = blockIdx.x / ($GROUPS * $CUTS) * $RUN;
  if (i < $ITEMS) $NAME_fetch($PASS, v, z, $NAME_at(i));
  for (int next; i < $ITEMS; i = next) {
    const $NAME_tile tile = $NAME_at(i);
    next = i + 1 + ((i + 1) % $RUN == 0 ? (blocks - 1) * $RUN : 0);            // what lies beside each other is written at about the same time
    float most = 0.0f;
    UNROLL for (int k = 0; k < $TURNS; k++)
      UNROLL for (int j = 0; j < $UNIT; j++) most = fmaxf(most, finite(v[k][j]));
    most = widest(most);
    if (lane == 0) all[threadIdx.x / 32] = most;
    __syncthreads();
    UNROLL for (int k = 0; k < $THREADS / 32; k++) most = fmaxf(most, all[k]);
    const int e = exponent_of(most);
    int beyond = bad | (e < -66), lost = 0;                                    // lost: in which turns
$if STAY:     float here = 0.0f;                                                         // of all turns: a thread's numbers are all of one place
    UNROLL for (int k = 0; k < $TURNS; k++) {
      const int u = threadIdx.x + $THREADS * k;
$if !STAY:       float here = 0.0f;
      UNROLL for (int j = 0; j < $UNIT; j++) {
        here = fmaxf(here, fabsf(v[k][j]));
        $PUTONE
      }
      $PUTALL
$if PAIR:       here = fmaxf(here, __shfl_down_sync(~0u, here, 1));                  // a neighbour's size does as well
$if STAY
    }
    beyond |= here == INFINITY;
    lost = here > 0.0f && !(here >= most * 1.52587890625e-5f);                   // 2^-16
$else
      beyond |= here == INFINITY;
      lost |= (here > 0.0f && !(here >= most * 1.52587890625e-5f)) << k % 32;
    }
$end
    int redo = __syncthreads_or(lost | beyond);
    if (redo) {                                                                // where numbers lose bits
      RARE for (int k = threadIdx.x; k < ($PLACES + 31) / 32; k += $THREADS) marks[k] = 0;
      redo = __syncthreads_or(beyond) ? 2 : 1;
      UNROLL for (int k = 0; k < $TURNS; k++) {
        const int u = threadIdx.x + $THREADS * k;
        if (lost >> k % 32 & 1 && u < $UNITS) atomicOr(&marks[u % $PLACES / 32], 1u << u % $PLACES % 32);
      }
    }
    if (next < $ITEMS) $NAME_fetch($PASS, v, z, $NAME_at(next));
    const float undo = power_of_two(-e);
    // Sets whose outputs lie in the same lines are put side by side in shared memory, so that what is written is one run.
    for (int pass = $FIRSTPASS; pass < $LINES * $PASSES; pass++) {
      const int line = pass / $PASSES * $SIDE, column = pass % $PASSES * $TILES * 8;
      for (int side = 0; side < $SIDE; side++) {
        const int *const set = $NAME_sets[line + side];
        const int end = set[2] + set[3];
        int step = set[2];
        float sum[$TILES][4] = {};
$STEPLOOP
        float2 by[$TILES];                                                     // all ahead of what is written to the same memory
        UNROLL for (int j = 0; j < $TILES; j++) by[j] = *(const float2 *)(columns + (line + side) * $COLUMNS + column + 8 * j + lane % 4 * 2);
        UNROLL for (int j = 0; j < $TILES; j++)
          UNROLL for (int k = 0; k < 4; k++)
            stage[(8 * j + lane % 4 * 2 + k % 2) * $PITCH + (first + k / 2 * 8) * $SIDE + side] = sum[j][k] * undo * (k % 2 ? by[j].y : by[j].x);
      }
      __syncthreads();
$if SUMMED:       if (redo) $NAME_repair($PASS, z, cut % $CUTS, tile, redo, marks, column, stage);
      const int *const rest = $NAME_sets[line] + 4;
      UNROLL for (int run = 0; run < $RUNS; run++) {
        const int at = threadIdx.x % $SPREAD + run * $SPREAD, row = at / ($BOXW * $SIDE);
        const int d = (tile.d + row / $BOXH) * $OUTD + rest[0], h = (tile.h + row % $BOXH) * $OUTH + rest[1];
        const int w = tile.w * $OUTW + at % ($BOXW * $SIDE);
        if (d >= $LASTD || h >= $LASTH || w >= $LASTW) continue;
#pragma unroll $TOGETHER
        for (int k = 0; k < $TILES * 8 * $SPREAD / $THREADS; k++) {
          const int own = k * ($THREADS / $SPREAD) + threadIdx.x / $SPREAD, to = cut % $CUTS * $COLUMNS + column + own;
$if RAGGED:           if (to < $EACH)
            $NAME_inside($PASS, z, tile.n, to, d, h, w, stage[own * $PITCH + at]);
        }
      }
$if SUMMED:       $NAME_parts($PASS, z, cut % $CUTS, tile, i % ($DOWND * $DOWNH * $DOWNW), column, stage, parts);
      __syncthreads();
    }
$if SUMMED
$else
    if (redo) $NAME_again($PASS, z, cut % $CUTS, tile, redo, marks);
    __syncthreads();
$end
  }
$if STREAM:   if (threadIdx.x == 0)                                                       // what is on its way arrives before the block ends
$if STREAM:     for (int k = turn; k < max(turn - 1, 0) + $RING; k++) barrier_wait(rings + 8 * (k % $RING), k / $RING & 1);
}
