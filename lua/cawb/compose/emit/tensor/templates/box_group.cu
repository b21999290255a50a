// Eight channels of a place, as 16 bytes of each half: the next eight lie $PLACES places further on.
static __device__ __forceinline__ void $NAME_keep(unsigned *box, int u, const float (&v)[8], int e) {
  const float first = power_of_two(e / 2), second = power_of_two(e - e / 2);
  float own[8];
  UNROLL for (int j = 0; j < 8; j++) own[j] = v[j] * first * second;
  const halves h = split(own, $LIFT);
  ((uint4 *)box)[u] = h.high, ((uint4 *)box)[$UNITS + u] = h.low;
}

$INSTRUCTION
// Where the weights of 16 products lie: 64 along k a row.
static __device__ __forceinline__ unsigned long long $NAME_place(unsigned long long b, int step) {
  return b + step / 4 * (2 * $WIDE * 128 / 16) + step % 4 * 2;
}

$PARTSUMS
// COUNT steps of 16 products: the small ones of all steps first, because a tensor core cuts its sum off towards zero.
$if DOUBLE: // An instruction takes as long for few columns, so that each has the high and the low halves of the weights beside each other.
template <int COUNT>
static __device__ __forceinline__ void $NAME_steps(float (&sum)[$TILES][4], unsigned from, const int *offsets, unsigned long long b, int step) {
  unsigned high[COUNT][4], low[COUNT][4];
  float part[$SUMS];
  UNROLL for (int s = 0; s < COUNT; s++) {
    const unsigned at = from + offsets[2 * (step + s)];
    load_blocks(high[s], at);
    load_blocks(low[s], at + $UNITS * 16);
  }
  UNROLL for (int j = 0; j < $SUMS; j++) asm volatile("" : "+f"(part[j]) :: "memory");
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
$if DOUBLE
  UNROLL for (int s = 0; s < COUNT; s++) $NAME_multiply(part, low[s], $NAME_place(b, step + s), s > 0);
  UNROLL for (int s = 0; s < COUNT; s++) $NAME_multiply(part, high[s], $NAME_place(b, step + s), 1);
$else
$PRODUCTS
$end
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  UNROLL for (int j = 0; j < $SUMS; j++) asm volatile("" : "+f"(part[j]) :: "memory");
  UNROLL for (int j = 0; j < 4 * $TILES; j++) sum[j / 4][j % 4] += $PART1;
}

$if STREAM
// Weights of 64 along k into their place of the ring, when nobody reads any more what was there.
static __device__ __forceinline__ void $NAME_refill(unsigned rings, const uint4 *own, const uint4 *weights, int turn) {
  const unsigned full = rings + 8 * (turn % $RING);
  if (turn >= $RING) barrier_wait(full + 8 * $RING, (turn / $RING - 1) & 1);
  barrier_expect(full, $SLOT);
  bulk_copy(shared_address(own) + turn % $RING * $SLOT, (const unsigned char *)weights + turn % $TURNSALL * $SLOT, $SLOT, full);
}
$end
