// $NAME: $WHAT. Only the weights are packed ahead, and those of a tile's columns stay in shared memory. Four
// warps, a thread a row, read the left factor and split its numbers; two groups of four warps take turns at the tensor cores, each
// with 64 rows of a tile.

enum { $NAME_A = 128 * 128, $NAME_B = $TILEN * 128, $NAME_STAGE = 3 * $NAME_A, $NAME_WEIGHTS = $STAGES * $NAME_STAGE };

// One product of parts over 16 along k.
static __device__ __forceinline__ void $NAME_multiply(float (&d)[$SUMS], unsigned long long a, unsigned long long b, int keep) {
  asm volatile("{ .reg .pred p;\n setp.ne.b32 p, %$AKEEP, 0;\n"
    "wgmma.mma_async.sync.aligned.m64n$TILENk16.f32.bf16.bf16 {$REGISTERS}, %$ADA, %$ADB, p, 1, 1, 0, 0; }"
    : $OUTPUTS
    : "l"(a), "l"(b), "r"(keep));
}

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
      barrier_expect(shared_address(&ready), $CHUNKS * 3 * $NAME_B);
      for (int i = 0; i < $CHUNKS * 3; i++)
        bulk_copy(shared_address(stages) + $NAME_WEIGHTS + i * $NAME_B, b + ((size_t)(z * $CHUNKS * 3 + i) * $BOCTETS * 8 + n * $TILEN) * 128, $NAME_B,
                  shared_address(&ready));
    }
    float next[32];
    $NAME_fetch($PASS, next, z, blockIdx.x / $COLS * 128 + t, 0);
    for (int m = blockIdx.x / $COLS; m < $DOWN; m += step, turn++) {
      for (int c = 0; c < $CHUNKS; c++) {
        barrier_wait(shared_address(&empty[s]), phase ^ 1);
        unsigned char *const to = stages + s * $NAME_STAGE + t * 128;
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
            in_parts(v[q], [&](int p, uint4 part) { *(uint4 *)(to + p * $NAME_A + ((half * 4 + q) ^ (t & 7)) * 16) = part; });
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
  if (group == 2) asm volatile("bar.arrive 1, 256;" ::: "memory");        // the first turn is group 1's
  barrier_wait(shared_address(&ready), 0);
  for (int m = blockIdx.x / $COLS; m < $DOWN; m += step, turn++) {
    float sum[$SUMS], part[$SUMS];
    int beyond = bad;
#pragma unroll
    for (int j = 0; j < $SUMS; j++) sum[j] = 0.0f;
    for (int c = 0; c < $CHUNKS; c++) {
      const unsigned long long da = rows_descriptor(shared_address(stages) + s * $NAME_STAGE + (group - 1) * 64 * 128);
      const unsigned long long db = rows_descriptor(shared_address(stages) + $NAME_WEIGHTS + c * 3 * $NAME_B);
      barrier_wait(shared_address(&full[s]), phase);
      beyond |= past[turn % 8] == m;
#pragma unroll
      for (int first = 0; first < 2 * $HALVES; first += 2) {
#pragma unroll
        for (int j = 0; j < $SUMS; j++) asm volatile("" : "+f"(part[j]) :: "memory");
        if (group == 1) asm volatile("bar.sync 1, 256;" ::: "memory"); else asm volatile("bar.sync 2, 256;" ::: "memory");
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
$LIST
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (group == 1) asm volatile("bar.arrive 2, 256;" ::: "memory"); else asm volatile("bar.arrive 1, 256;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
        for (int j = 0; j < $SUMS; j++) asm volatile("" : "+f"(part[j]) :: "memory");
        if (t % 32 == 0 && first + 2 == 2 * $HALVES) barrier_arrive(shared_address(&empty[s]));
#pragma unroll
        for (int j = 0; j < $SUMS; j++) sum[j] += part[j];
      }
      if (++s == $STAGES) s = 0, phase ^= 1;
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int row = m * 128 + line + 8 * half;
      if (row >= $M) continue;
#pragma unroll
      for (int j = 0; j < $SUMS / 4; j++) {
        const int column = n * $TILEN + 8 * j + 2 * (t % 4);
        if (column >= $N) continue;
        float first = sum[4 * j + 2 * half], second = sum[4 * j + 2 * half + 1];
        if (beyond) {
          const float2 both = $NAME_exact($PASS, z, row, column);
          first = both.x, second = both.y;
        }
        $put(0, z, row, column / 2, first, second);
      }
    }
  }
  if (group == 1) asm volatile("bar.sync 1, 256;" ::: "memory");          // what group 2's last turn left
}
