// Sums by products of warpgroups: $LOADS, two groups of four warps multiply, each with 64 rows of a tile.

$INSTRUCTION
enum { $LOOP_A = $AROWS * 128, $LOOP_B = $BROWS * 128, $LOOP_STAGE = $STAGE };

extern "C" __global__ void __launch_bounds__(384, 1)
$LOOP($PARAMETERS$FACTORS) {
  extern __shared__ __align__(1024) unsigned char stages[];
  __shared__ unsigned long long full[$STAGES], empty[$STAGES];
$BEGIN
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < $STAGES; s++) barrier_init(shared_address(&full[s]), $ARRIVALS), barrier_init(shared_address(&empty[s]), 8);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  int s = 0, phase = 0;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
$if LIES
$else
    if (threadIdx.x > 0) return;
$end
    for (int i = blockIdx.x; i < $ITEMS; i += gridDim.x) {
      const $NAME_tile tile = $NAME_at(i);
      const int z = tile.z;
$FROM
      for (int step = tile.first; step < tile.last; step++) {
        const unsigned to = shared_address(stages) + s * $LOOP_STAGE, bar = shared_address(&full[s]);
        barrier_wait(shared_address(&empty[s]), phase ^ 1);
$LOAD
        if (++s == $STAGES) s = 0, phase ^= 1;
      }
    }
$if LIES
    copies_wait_all();
$end
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  const int t = threadIdx.x % 128, line = (group - 1) * 64 + t / 32 * 16 + t % 32 / 4;
$if SCALED
  if (group == 2) turn_pass(1);                            // the first turn is group 1's
$end
  for (int i = blockIdx.x; i < $ITEMS; i += gridDim.x) {
    const $NAME_tile tile = $NAME_at(i);
    float sum[$SUMS];
$STEPS
$WRITE
  }
$if SCALED
  if (group == 1) turn_wait(1);                            // what group 2's last turn left
$end
}
