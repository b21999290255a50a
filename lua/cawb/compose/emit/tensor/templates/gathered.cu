// $NAME: $WHAT. Only the weights are packed ahead, and those of a tile's columns stay in shared memory. Four
// warps, a thread a row, read the left factor and split its numbers; two groups of four warps take turns at the tensor cores, each
// with 64 rows of a tile.

enum { $LOOP_A = 128 * 128, $LOOP_B = $TILEN * 128, $LOOP_STAGE = 3 * $LOOP_A, $LOOP_WEIGHTS = $STAGES * $LOOP_STAGE };

$INSTRUCTION
// 32 numbers of a row, from k on.
static __device__ __forceinline__ void $NAME_fetch($PARAMETERS, float (&v)[32], int z, int row, int k) {
#pragma unroll
  for (int j = 0; j < 32; j++) v[j] = row < $ROWS && k + j < $DEPTH ? $left(z, row, k + j) : 0.0f;
}

// Two results without tensor cores, where a number is infinite, or nearly, or so small that the parts do not hold it.
static __device__ __noinline__ float2 $NAME_exact($PARAMETERS, int z, int row, int column) {
  float2 sum = { 0.0f, 0.0f };
  for (int from = 0; from < $DEPTH; from += 64) {
    float2 part = { 0.0f, 0.0f };
    for (int k = from; k < min(from + 64, $DEPTH); k++) {
      const float a = $left(z, row, k);
      part.x = fmaf(a, $right(z, column, k), part.x);
      if (column + 1 < $N) part.y = fmaf(a, $right(z, column + 1, k), part.y);
    }
    sum.x += part.x, sum.y += part.y;
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(384, 1)
$NAME($PARAMETERS, const unsigned char *__restrict__ b, const int *__restrict__ b_past) {
  extern __shared__ __align__(1024) unsigned char stages[];
  __shared__ unsigned long long full[$STAGES], empty[$STAGES], ready;
  __shared__ int past[8];                                    // the latest tiles with numbers that the parts do not hold
  const int group = threadIdx.x / 128, t = threadIdx.x % 128, step = gridDim.x / $COLS;
  const int n = blockIdx.x % $COLS % $ACROSS, z = blockIdx.x % $COLS / $ACROSS;
  if (threadIdx.x < 8) past[threadIdx.x] = -1;
  if (threadIdx.x == 0) {
    for (int s = 0; s < $STAGES; s++) barrier_init(shared_address(&full[s]), 128), barrier_init(shared_address(&empty[s]), 8);
    barrier_init(shared_address(&ready), 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  int s = 0, phase = 0, turn = 0;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 136;");
    if (t == 0) {
      barrier_expect(shared_address(&ready), $CHUNKS * 3 * $LOOP_B);
      for (int i = 0; i < $CHUNKS * 3; i++)
        bulk_copy(shared_address(stages) + $LOOP_WEIGHTS + i * $LOOP_B, b + ((size_t)(z * $CHUNKS * 3 + i) * $BOCTETS * 8 + n * $TILEN) * 128, $LOOP_B,
                  shared_address(&ready));
    }
    float next[32];
    $NAME_fetch($PASS, next, z, blockIdx.x / $COLS * 128 + t, 0);
    for (int m = blockIdx.x / $COLS; m < $DOWN; m += step, turn++) {
      for (int c = 0; c < $CHUNKS; c++) {
        barrier_wait(shared_address(&empty[s]), phase ^ 1);
        unsigned char *const to = stages + s * $LOOP_STAGE + t * 128;
        int beyond = 0;
#pragma unroll 1
        for (int half = 0; half < $HALVES; half++) {
          float v[4][8];
#pragma unroll
          for (int j = 0; j < 32; j++) v[j / 8][j % 8] = next[j];
          const bool is_last = half + 1 == $HALVES, is_end = is_last && c + 1 == $CHUNKS;
          $NAME_fetch($PASS, next, z, (is_end ? m + step : m) * 128 + t, is_end ? 0 : is_last ? c * 64 + 64 : c * 64 + 32);
#pragma unroll
          for (int q = 0; q < 4; q++) {
            beyond |= any_past(v[q]);
            in_parts(v[q], [&](int p, uint4 part) { *(uint4 *)(to + p * $LOOP_A + ((half * 4 + q) ^ (t & 7)) * 16) = part; });
          }
        }
        if (beyond) atomicMax(&past[turn % 8], m);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");      // the tensor cores see what this thread wrote
        barrier_arrive(shared_address(&full[s]));
        if (++s == $STAGES) s = 0, phase ^= 1;
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 184;");
  const int line = (group - 1) * 64 + t / 32 * 16 + t % 32 / 4, bad = *b_past;
  if (group == 2) turn_pass(1);                                            // the first turn is group 1's
  barrier_wait(shared_address(&ready), 0);
  for (int m = blockIdx.x / $COLS; m < $DOWN; m += step, turn++) {
    const struct { int set, z, m, n; } tile = { 0, z, m, n };
    float sum[$SUMS], part[$SUMS];
    int beyond = bad;
#pragma unroll
    for (int j = 0; j < $SUMS; j++) sum[j] = 0.0f;
    for (int c = 0; c < $CHUNKS; c++) {
      const unsigned long long da = rows_descriptor(shared_address(stages) + s * $LOOP_STAGE + (group - 1) * 64 * 128);
      const unsigned long long db = rows_descriptor(shared_address(stages) + $LOOP_WEIGHTS + c * 3 * $LOOP_B);
      barrier_wait(shared_address(&full[s]), phase);
      beyond |= past[turn % 8] == m;
#pragma unroll
      for (int first = 0; first < 2 * $HALVES; first += 2) {
        hold(part);
        turn_wait(group);
        products_begin();
$LIST
        products_end();
        turn_pass(3 - group);
        products_wait<0>();
        hold(part);
        if (t % 32 == 0 && first + 2 == 2 * $HALVES) barrier_arrive(shared_address(&empty[s]));
#pragma unroll
        for (int j = 0; j < $SUMS; j++) sum[j] += part[j];
      }
      if (++s == $STAGES) s = 0, phase ^= 1;
    }
$WRITE
  }
  if (group == 1) turn_wait(1);                                            // what group 2's last turn left
}
