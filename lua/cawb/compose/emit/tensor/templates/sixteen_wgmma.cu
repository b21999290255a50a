// Sums of products of 16-bit numbers. A group of four warps brings both factors, two more multiply, each with 64 rows of a tile.

// One product over 16 along k.
static __device__ __forceinline__ void $NAME_multiply(float (&d)[$SUMS], unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n$TILENk16.f32.$TYPE.$TYPE {$REGISTERS}, %$ADA, %$ADB, 1, 1, 1, $ATURNED, $BTURNED;"
    : $OUTPUTS
    : "l"(a), "l"(b));
}

enum { $NAME_A = $ABYTES, $NAME_B = $BBYTES, $NAME_STAGE = $NAME_A + $NAME_B };

extern "C" __global__ void __launch_bounds__(384, 1)
$NAME($PARAMETERS$MORE) {
  extern __shared__ __align__(1024) unsigned char stages[];
  __shared__ unsigned long long full[$STAGES], empty[$STAGES];
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < $STAGES; s++) barrier_init(shared_address(&full[s]), $ARRIVALS), barrier_init(shared_address(&empty[s]), 8);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  int s = 0, phase = 0;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
$if LONE
    if (threadIdx.x > 0) return;
$end
    for (int i = blockIdx.x; i < $ITEMS; i += gridDim.x) {
      const $NAME_tile tile = $NAME_at(i);
      const int z = tile.z;
$if ALIES
      const unsigned short *left = (const unsigned short *)$ATENSOR + $ABASE + $AFROM;
$end
$if BLIES
      const unsigned short *right = (const unsigned short *)$BTENSOR + $BBASE + $BFROM;
$end
      for (int step = tile.first; step < tile.last; step++) {
        const unsigned to = shared_address(stages) + s * $NAME_STAGE, bar = shared_address(&full[s]);
        barrier_wait(shared_address(&empty[s]), phase ^ 1);
$if PACKED
        if (threadIdx.x == 0) {
          barrier_expect(bar, $PACKEDBYTES);
$end
$if APACKED
          const int row = (tile.m * 128 + $NAME_shift(tile.set, step)) / 8 * 8;
          bulk_copy(to, a + (((size_t)z * $ABATCH + $NAME_chunk(tile.set, step)) * ($AOCTETS * 8) + row) * 128, $NAME_A, bar);
$end
$if BPACKED
          bulk_copy(to + $NAME_A, b + (((size_t)z * $BBATCH + $NAME_before(tile.set) + step) * ($BOCTETS * 8) + tile.n * $TILEN) * 128, $NAME_B, bar);
$end
$if PACKED
        }
$end
$if ALIES
        $ABRING(to, left, $AROOM, $TERMS);
        left += $ASTEP;
$end
$if BLIES
        $BBRING(to + $NAME_A, right, $BROOM, $TERMS);
        right += $BSTEP;
$end
$if LIES
        barrier_copies(bar);
$end
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
  for (int i = blockIdx.x; i < $ITEMS; i += gridDim.x) {
    const $NAME_tile tile = $NAME_at(i);
    float sum[$SUMS];
    int before = -1;                                         // the stage of the last step
#pragma unroll
    for (int j = 0; j < $SUMS; j++) sum[j] = 0.0f;
    hold(sum);
    for (int step = tile.first; step < tile.last; step++) {
      const unsigned from = shared_address(stages) + s * $NAME_STAGE;
      const unsigned long long da = $ADESCRIPTOR, db = $BDESCRIPTOR;
      barrier_wait(shared_address(&full[s]), phase);
$if LIES
      copies_seen();
$end
      products_begin();
#pragma unroll
      for (int k = 0; k < 4; k++) $NAME_multiply(sum, da + k * $AFURTHER, db + k * $BFURTHER);
      products_end();
      if (before >= 0) {
        products_wait<1>();
        if (t % 32 == 0) barrier_arrive(shared_address(&empty[before]));
      }
      before = s;
      if (++s == $STAGES) s = 0, phase ^= 1;
    }
    products_wait<0>();
    hold(sum);
    if (before >= 0 && t % 32 == 0) barrier_arrive(shared_address(&empty[before]));
$PUT
  }
}
