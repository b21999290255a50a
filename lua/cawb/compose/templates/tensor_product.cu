// $NAME: $WHAT. A block stays on its multiprocessor and takes tile after tile: one thread
// fetches, two groups of four warps take turns at the tensor cores, each with $TILEM rows of a tile.

// One product of halves over 16 along k. A step has $PRODUCTS of these for 64, the small ones first, into sums that begin
// at zero.
static __device__ __forceinline__ void $NAME_multiply(float (&d)[$SUMS], unsigned long long a, unsigned long long b, int keep) {
  asm volatile("{ .reg .pred p;\n setp.ne.b32 p, %$AKEEP, 0;\n"
    "wgmma.mma_async.sync.aligned.m64n$TILENk16.f32.f16.f16 {$REGISTERS}, %$ADA, %$ADB, p, 1, 1, 0, 0; }"
    : $OUTPUTS
    : "l"(a), "l"(b), "r"(keep));
}

// A tile: which of the sums that share a kernel (`set`), which batch or group, part of the steps, rows, columns.
struct $NAME_tile { int set, z, part, m, n, first, last; };

// A step is 64 terms: a chunk of a row of the left factor, so many rows further, and what the right one has for them.
static __device__ __forceinline__ int $NAME_steps(int set) { return $STEPS; }
static __device__ __forceinline__ int $NAME_before(int set) { return $BEFORE; }      // steps of the sets ahead
static __device__ __forceinline__ int $NAME_chunk(int set, int step) { return $CHUNK; }
static __device__ __forceinline__ int $NAME_shift(int set, int step) { return $SHIFT; }

// Tiles in groups of $GROUP rows of tiles, so that what blocks read at a time stays in L2.
static __device__ __forceinline__ $NAME_tile $NAME_at(int i) {
  const int set = i % $SETS;                               // innermost: their results lie between each other
  i /= $SETS;
  const int t = i % ($DOWN * $ACROSS), group = t / ($GROUP * $ACROSS), in = t % ($GROUP * $ACROSS);
  const int rows = min($DOWN - group * $GROUP, $GROUP), part = i / ($DOWN * $ACROSS) % $SPLITS;
  const int z = i / ($DOWN * $ACROSS * $SPLITS), steps = $NAME_steps(set);
  return { set, z, part, group * $GROUP + in % rows, in / rows, part * $PER, min(steps, part * $PER + $PER) };
}

enum { $NAME_A = $AROWS * 128, $NAME_B = $TILEN * 128, $NAME_BYTES = 2 * ($NAME_A + $NAME_B) + ($AROWS + $TILEN) * 4,
       $NAME_STAGE = ($NAME_BYTES + 1023) / 1024 * 1024 };

extern "C" __global__ void __launch_bounds__(384, 1)
$NAME($PARAMETERS, const unsigned char *__restrict__ a, const float *__restrict__ a_scales, const unsigned char *__restrict__ b,
      const float *__restrict__ b_scales, const int *__restrict__ a_wide, const int *__restrict__ b_wide$PARTIAL) {
  extern __shared__ __align__(1024) unsigned char stages[];
  __shared__ unsigned long long full[$STAGES], empty[$STAGES];
  if (*a_wide > $AMOST || *b_wide > $BMOST) return;                          // $NAME_plain does it
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < $STAGES; s++) barrier_init(shared_address(&full[s]), 1), barrier_init(shared_address(&empty[s]), 2);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  int s = 0, phase = 0;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x > 0) return;
    for (int i = blockIdx.x; i < $ITEMS; i += gridDim.x) {
      const $NAME_tile tile = $NAME_at(i);
      for (int step = tile.first; step < tile.last; step++) {
        const int row = (tile.m * 128 + $NAME_shift(tile.set, step)) / 8 * 8;
        const unsigned to = shared_address(stages) + s * $NAME_STAGE, bar = shared_address(&full[s]);
        const size_t ca = (size_t)tile.z * $ABATCH + $NAME_chunk(tile.set, step);
        const size_t cb = (size_t)tile.z * $BBATCH + $NAME_before(tile.set) + step;
        barrier_wait(shared_address(&empty[s]), phase ^ 1);
        barrier_expect(bar, $NAME_BYTES);
#pragma unroll
        for (int p = 0; p < 2; p++) {
          bulk_copy(to + p * $NAME_A, a + ((ca * 2 + p) * $AOCTETS * 8 + row) * 128, $NAME_A, bar);
          bulk_copy(to + 2 * $NAME_A + p * $NAME_B, b + ((cb * 2 + p) * $BOCTETS * 8 + tile.n * $TILEN) * 128, $NAME_B, bar);
        }
        bulk_copy(to + 2 * ($NAME_A + $NAME_B), a_scales + ca * ($AOCTETS * 8) + row, $AROWS * 4, bar);
        bulk_copy(to + 2 * ($NAME_A + $NAME_B) + $AROWS * 4, b_scales + cb * ($BOCTETS * 8) + tile.n * $TILEN, $TILEN * 4, bar);
        if (++s == $STAGES) s = 0, phase ^= 1;
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  const int t = threadIdx.x % 128, line = (group - 1) * 64 + t / 32 * 16 + t % 32 / 4;
  if (group == 2) asm volatile("bar.arrive 1, 256;" ::: "memory");        // the first turn is group 1's
  for (int i = blockIdx.x; i < $ITEMS; i += gridDim.x) {
    const $NAME_tile tile = $NAME_at(i);
    float sum[$SUMS], part[$SUMS];
#pragma unroll
    for (int j = 0; j < $SUMS; j++) sum[j] = 0.0f;
    for (int step = tile.first; step < tile.last; step++) {
      const int off = $NAME_shift(tile.set, step) % 8;
      const unsigned from = shared_address(stages) + s * $NAME_STAGE;
      const unsigned long long da = rows_descriptor(from + ((group - 1) * 64 + off) * 128), db = rows_descriptor(from + 2 * $NAME_A);
#pragma unroll
      for (int j = 0; j < $SUMS; j++) asm volatile("" : "+f"(part[j]) :: "memory");
      barrier_wait(shared_address(&full[s]), phase);
      if (group == 1) asm volatile("bar.sync 1, 256;" ::: "memory"); else asm volatile("bar.sync 2, 256;" ::: "memory");
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
$if FOURTH
#pragma unroll
      for (int k = 0; k < 4; k++) $NAME_multiply(part, da + $NAME_A / 16 + 2 * k, db + $NAME_B / 16 + 2 * k, k > 0);
#pragma unroll
      for (int k = 0; k < 4; k++) $NAME_multiply(part, da + $NAME_A / 16 + 2 * k, db + 2 * k, 1);
$else
#pragma unroll
      for (int k = 0; k < 4; k++) $NAME_multiply(part, da + $NAME_A / 16 + 2 * k, db + 2 * k, k > 0);
$end
#pragma unroll
      for (int k = 0; k < 4; k++) $NAME_multiply(part, da + 2 * k, db + $NAME_B / 16 + 2 * k, 1);
#pragma unroll
      for (int k = 0; k < 4; k++) $NAME_multiply(part, da + 2 * k, db + 2 * k, 1);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      if (group == 1) asm volatile("bar.arrive 2, 256;" ::: "memory"); else asm volatile("bar.arrive 1, 256;" ::: "memory");
      const float *rows = (const float *)(stages + s * $NAME_STAGE + 2 * ($NAME_A + $NAME_B)) + off + line;
      const float2 *columns = (const float2 *)(stages + s * $NAME_STAGE + 2 * ($NAME_A + $NAME_B) + $AROWS * 4) + t % 4;
      const float upper = rows[0], lower = rows[8];
      float2 scale[$SUMS / 4];
#pragma unroll
      for (int j = 0; j < $SUMS / 4; j++) scale[j] = columns[4 * j];
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
      for (int j = 0; j < $SUMS; j++) asm volatile("" : "+f"(part[j]) :: "memory");
      if (t == 0) barrier_arrive(shared_address(&empty[s]));
#pragma unroll
      for (int j = 0; j < $SUMS; j++)
        sum[j] = fmaf(part[j] * (j & 2 ? lower : upper), j & 1 ? scale[j / 4].y : scale[j / 4].x, sum[j]);
      if (++s == $STAGES) s = 0, phase ^= 1;
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int row = tile.m * 128 + line + 8 * half;
      if (row >= $M) continue;
#pragma unroll
      for (int j = 0; j < $SUMS / 4; j++) {
        const int column = tile.n * $TILEN + 8 * j + 2 * (t % 4);
        const float first = sum[4 * j + 2 * half], second = sum[4 * j + 2 * half + 1];
$if SPLIT
        float *to = partial + (((size_t)tile.z * $SPLITS + tile.part) * $M + row) * $N + column;
        if (column < $N) to[0] = first;
        if (column + 1 < $N) to[1] = second;
$else
$STORE
$end
      }
    }
  }
  if (group == 1) asm volatile("bar.sync 1, 256;" ::: "memory");          // what group 2's last turn left
}

$if SPLIT
// The sums of all parts of k.
extern "C" __global__ void __launch_bounds__(256)
$NAME_finish($PARAMETERS, const int *__restrict__ a_wide, const int *__restrict__ b_wide, const float *__restrict__ partial) {
  if (*a_wide > $AMOST || *b_wide > $BMOST) return;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < $PLACES; i += gridDim.x * 256ll) {
    const int z = i / ((long long)$M * (($N + 1) / 2)), row = i / (($N + 1) / 2) % $M, column = i % (($N + 1) / 2) * 2;
    const float *from = partial + ((size_t)z * $SPLITS * $M + row) * $N + column;
    float first = 0.0f, second = 0.0f;
    for (int p = 0; p < $SPLITS; p++, from += (size_t)$M * $N) {
      first += from[0];
      if (column + 1 < $N) second += from[1];
    }
    const $NAME_tile tile = { 0, z, 0, 0, 0, 0, 0 };
$STORE
  }
}
$end

// The same without tensor cores, for numbers of too wide a range: 64 x 64 sums a block, 4 x 4 a thread.
extern "C" __global__ void __launch_bounds__(256)
$NAME_plain($PARAMETERS, const int *__restrict__ a_wide, const int *__restrict__ b_wide) {
  __shared__ float a[16][68], b[16][68];
  if (*a_wide <= $AMOST && *b_wide <= $BMOST) return;
  const int down = ($M + 63) / 64, across = ($N + 63) / 64, t = threadIdx.x;
  for (int i = blockIdx.x; i < $SETS * $BATCH * down * across; i += gridDim.x) {
    const $NAME_tile tile = { i / (down * across * $BATCH), i / (down * across) % $BATCH, 0, i / across % down, i % across, 0, 0 };
    float sum[4][4] = {};
    for (int step = 0; step < $NAME_steps(tile.set); step++) {
      const int chunk = $NAME_chunk(tile.set, step) * 64, shift = $NAME_shift(tile.set, step), before = ($NAME_before(tile.set) + step) * 64;
      float part[4][4] = {};
      for (int from = 0; from < min(64, $DEPTH - chunk); from += 16) {
        for (int j = t; j < 16 * 64; j += 256) {
          const int ka = $AK, ra = tile.m * 64 + $AR + shift, kb = $BK, rb = tile.n * 64 + $BR;
          a[ka][$AR] = ra < $ROWS && chunk + from + ka < $DEPTH ? $left(tile.z, ra, chunk + from + ka) : 0.0f;
          b[kb][$BR] = rb < $N && chunk + from + kb < $DEPTH ? $right(tile.z, rb, before + from + kb) : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < min(16, $DEPTH - chunk - from); k++)
#pragma unroll
          for (int y = 0; y < 4; y++)
#pragma unroll
            for (int x = 0; x < 4; x++) part[y][x] = fmaf(a[k][t / 16 + 16 * y], b[k][t % 16 * 4 + x], part[y][x]);
        __syncthreads();
      }
#pragma unroll
      for (int y = 0; y < 4; y++)
#pragma unroll
        for (int x = 0; x < 4; x++) sum[y][x] += part[y][x];
    }
#pragma unroll
    for (int y = 0; y < 4; y++)
#pragma unroll
      for (int x = 0; x < 4; x += 2) {
        const int row = tile.m * 64 + t / 16 + 16 * y, column = tile.n * 64 + t % 16 * 4 + x;
        const float first = sum[y][x], second = sum[y][x + 1];
        if (row >= $M) continue;
$STORE
      }
  }
}
