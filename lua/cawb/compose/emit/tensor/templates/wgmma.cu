// One thread fetches, two groups of four warps take turns at the tensor cores, each with $TILEM rows of a tile.

// One product of parts over 16 along k. $TERMS terms have $PRODUCTS of these, the small ones first, into sums that begin
// at zero.
static __device__ __forceinline__ void $LOOP_multiply(float (&d)[$SUMS], unsigned long long a, unsigned long long b, int keep) {
  asm volatile("{ .reg .pred p;\n setp.ne.b32 p, %$AKEEP, 0;\n"
    "wgmma.mma_async.sync.aligned.m64n$TILENk16.f32.$TYPE.$TYPE {$REGISTERS}, %$ADA, %$ADB, p, 1, 1, 0, 0; }"
    : $OUTPUTS
    : "l"(a), "l"(b), "r"(keep));
}

enum { $LOOP_A = $AROWS * 128, $LOOP_B = $TILEN * 128, $LOOP_BYTES = $PARTS * ($LOOP_A + $LOOP_B) + ($AROWS + $TILEN) * 4,
       $LOOP_STAGE = ($LOOP_BYTES + 1023) / 1024 * 1024 };

extern "C" __global__ void __launch_bounds__(384, 1)
$LOOP($PARAMETERS, const unsigned char *__restrict__ a, const float *__restrict__ a_scales, const unsigned char *__restrict__ b,
      const float *__restrict__ b_scales, const int *__restrict__ a_wide, const int *__restrict__ b_wide$MORE) {
  extern __shared__ __align__(1024) unsigned char stages[];
  __shared__ unsigned long long full[$STAGES], empty[$STAGES];
$if FIRST
  if ($PLAIN) {
    if (threadIdx.x < 256) $NAME_plain($PASS, (float (*)[68])stages, (float (*)[68])stages + 16);
    return;
  }
$end
$if CHECK
  if ($VAST) {                                                               // three parts of bfloat16 will do it
    if (blockIdx.x == 0 && threadIdx.x == 0) *many = $AGAIN + 1;
    return;
  }
  __shared__ float across[2][$TILEN];
  const bool is_checked = $WIDE;
$else
  if ($OTHER) return;                                                        // another kernel of the plan does it
$end
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < $STAGES; s++) barrier_init(shared_address(&full[s]), 1), barrier_init(shared_address(&empty[s]), 8);
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
        const unsigned to = shared_address(stages) + s * $LOOP_STAGE, bar = shared_address(&full[s]);
        const size_t ca = (size_t)tile.z * $ABATCH + $NAME_chunk(tile.set, step);
        const size_t cb = (size_t)tile.z * $BBATCH + $NAME_before(tile.set) + step;
        barrier_wait(shared_address(&empty[s]), phase ^ 1);
        barrier_expect(bar, $LOOP_BYTES);
#pragma unroll
        for (int p = 0; p < $PARTS; p++) {
          bulk_copy(to + p * $LOOP_A, a + ((ca * $PARTS + p) * $AOCTETS * 8 + row) * 128, $LOOP_A, bar);
          bulk_copy(to + $PARTS * $LOOP_A + p * $LOOP_B, b + ((cb * $PARTS + p) * $BOCTETS * 8 + tile.n * $TILEN) * 128, $LOOP_B, bar);
        }
        bulk_copy(to + $PARTS * ($LOOP_A + $LOOP_B), a_scales + ca * ($AOCTETS * 8) + row, $AROWS * 4, bar);
        bulk_copy(to + $PARTS * ($LOOP_A + $LOOP_B) + $AROWS * 4, b_scales + cb * ($BOCTETS * 8) + tile.n * $TILEN, $TILEN * 4, bar);
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
    float2 scale[$SUMS / 4];
$if CHECK
    float upmost = 0.0f, lowmost = 0.0f;
$end
#pragma unroll
    for (int j = 0; j < $SUMS; j++) sum[j] = 0.0f;
    for (int step = tile.first; step < tile.last; step++) {
      const int off = $NAME_shift(tile.set, step) % 8;
      const unsigned from = shared_address(stages) + s * $LOOP_STAGE;
      const unsigned long long da = rows_descriptor(from + ((group - 1) * 64 + off) * 128), db = rows_descriptor(from + $PARTS * $LOOP_A);
      barrier_wait(shared_address(&full[s]), phase);
#pragma unroll
      for (int first = 0; first < 4; first += $TERMS / 16) {
#pragma unroll
        for (int j = 0; j < $SUMS; j++) asm volatile("" : "+f"(part[j]) :: "memory");
        if (group == 1) asm volatile("bar.sync 1, 256;" ::: "memory"); else asm volatile("bar.sync 2, 256;" ::: "memory");
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
$LIST
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (group == 1) asm volatile("bar.arrive 2, 256;" ::: "memory"); else asm volatile("bar.arrive 1, 256;" ::: "memory");
        const float *rows = (const float *)(stages + s * $LOOP_STAGE + $PARTS * ($LOOP_A + $LOOP_B)) + off + line;
        const float2 *columns = (const float2 *)(stages + s * $LOOP_STAGE + $PARTS * ($LOOP_A + $LOOP_B) + $AROWS * 4) + t % 4;
        const float upper = rows[0], lower = rows[8];
$if CHECK
        upmost = fmaxf(upmost, upper), lowmost = fmaxf(lowmost, lower);
$end
#pragma unroll
        for (int j = 0; j < $SUMS / 4; j++) scale[j] = columns[4 * j];
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
        for (int j = 0; j < $SUMS; j++) asm volatile("" : "+f"(part[j]) :: "memory");
        if (first + $TERMS / 16 == 4) {                      // each warp for itself: nothing else says that it has read its scales
          __syncwarp();
          if (t % 32 == 0) barrier_arrive(shared_address(&empty[s]));
        }
#pragma unroll
        for (int j = 0; j < $SUMS; j++)
          sum[j] = fmaf(part[j] * (j & 2 ? lower : upper), j & 1 ? scale[j / 4].y : scale[j / 4].x, sum[j]);
      }
      if (++s == $STAGES) s = 0, phase ^= 1;
    }
$if CHECK
    // What was lost of numbers counts in a result that is less than 2^-15 of its row's largest times its column's. Of sums of one
    // step the columns' largest are at hand.
    if (is_checked) {
      if (!$ONE) {
        if (group == 1) asm volatile("bar.sync 3, 128;" ::: "memory"); else asm volatile("bar.sync 4, 128;" ::: "memory");
        for (int j = t; j < $TILEN; j += 128) {
          const float *from = b_scales + ((size_t)tile.z * $BBATCH + $NAME_before(tile.set) + tile.first) * ($BOCTETS * 8) + tile.n * $TILEN + j;
          float most = 0.0f;
#pragma unroll 8
          for (int step = tile.first; step < tile.last; step++, from += $BOCTETS * 8) most = fmaxf(most, *from);
          across[group - 1][j] = most * 32768.0f;
        }
        if (group == 1) asm volatile("bar.sync 3, 128;" ::: "memory"); else asm volatile("bar.sync 4, 128;" ::: "memory");
      }
#pragma unroll
      for (int j = 0; j < $SUMS; j += 2) {
        const int row = tile.m * 128 + line + (j & 2 ? 8 : 0), at = j / 4 * 8 + 2 * (t % 4), column = tile.n * $TILEN + at;
        const float *const most = across[group - 1] + at, own = j & 2 ? lowmost : upmost;
        const float first = own * ($ONE ? scale[j / 4].x * 32768.0f : most[0]), second = own * ($ONE ? scale[j / 4].y * 32768.0f : most[1]);
        if (row < $M && column < $N && (($SHOWNfabsf(sum[j]) < first) || ($OTHERSHOWNcolumn + 1 < $N && fabsf(sum[j + 1]) < second)))
          note_again(again, many, $AGAIN, (((long long)tile.set * $BATCH + tile.z) * $M + row) * (($N + 1) / 2) + column / 2);
      }
    }
$end
$PUT
  }
  if (group == 1) asm volatile("bar.sync 1, 256;" ::: "memory");          // what group 2's last turn left
}
