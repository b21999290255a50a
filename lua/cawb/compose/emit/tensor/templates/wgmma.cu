// Sums by products of warpgroups: $LOADS, two groups of four warps multiply, each with 64 rows of a tile.

$INSTRUCTION
enum { $LOOP_A = $AROWS * 128, $LOOP_B = $BROWS * 128, $LOOP_STAGE = $STAGE };

extern "C" __global__ void __launch_bounds__(384, 1)
$LOOP($PARAMETERS$FACTORS) {
  extern __shared__ __align__(1024) unsigned char stages[];
  __shared__ unsigned long long full[$BARRIERS], empty[$BARRIERS];
$BEGIN
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < $BARRIERS; s++) barrier_init(shared_address(&full[s]), $ARRIVALS), barrier_init(shared_address(&empty[s]), 8);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  int s = 0, phase = 0;
$if NEAR:   int r = 0, turn = 0;                                       // of rows of the left factor, which $NEAR steps share
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 $FEW;");
$if !TOGETHER:     if (threadIdx.x > 0) return;
$AHEAD
    for (int i = blockIdx.x; i < $ITEMS/**/; i += gridDim.x) {
      const $NAME_tile tile = $NAME_at(i);
      const int z = tile.z;
$FROM
      for (int step = tile.first; step < tile.last; step++) {
$if NEAR
        if (step % $NEAR == 0) {
          const unsigned bar = shared_address(&full[$STAGES + r]);
          const int row = (tile.m * 128 + $NAME_shift(tile.set, step)) / 8 * 8;
          barrier_wait(shared_address(&empty[$STAGES + r]), turn ^ 1);
          barrier_expect(bar, $LOOP_A);
          bulk_copy(shared_address(stages) + r * $LOOP_A, a + (((size_t)z * $ABATCH + $NAME_chunk(tile.set, step)) * $AOCTETS * 8 + row) * 128, $LOOP_A, bar);
          if (++r == $ROWSLOTS) r = 0, turn ^= 1;
        }
$end
        const unsigned to = shared_address(stages) + $SLOTS + s * $LOOP_STAGE, bar = shared_address(&full[s]);
        barrier_wait(shared_address(&empty[s]), phase ^ 1);
$LOAD
        if (++s == $STAGES) s = 0, phase ^= 1;
      }
    }
$if LIES:     copies_wait_all();
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 $MANY;");
  const int t = threadIdx.x % 128, line = (group - 1) * 64 + t / 32 * 16 + t % 32 / 4;
$THEN
$if APART:   if (group == 2) turn_pass(1);                            // the first turn is group 1's
  for (int i = blockIdx.x; i < $ITEMS/**/; i += gridDim.x) {
    const $NAME_tile tile = $NAME_at(i);
    float sum[$SUMS];
$STEPS
$WRITE
  }
$if APART:   if (group == 1) turn_wait(1);                            // what group 2's last turn left
}
