// Sums of products of 16-bit numbers. Every thread fetches 16 bytes at a time, some steps ahead; eight warps have 32 rows and half of the
// columns of a tile each.

enum { $NAME_A = $ABYTES, $NAME_B = $BBYTES, $NAME_STAGE = $NAME_A + $NAME_B, $NAME_EACH = $TILEN / 16 };

static __device__ __forceinline__ void $NAME_fetch($PARAMETERS$MORE, unsigned to, $NAME_tile tile, int step) {
  const int z = tile.z;
$if ALIES
  $ABRING(to, (const unsigned short *)$ATENSOR + $ABASE + $AFROM + (size_t)step * $ASTEP, $AROOM, $TERMS);
$end
$if APACKED
  bring_packed<256, 128>(to, a + ((size_t)z * $ABATCH + $NAME_chunk(tile.set, step)) * ($AOCTETS * 1024), tile.m * 128 + $NAME_shift(tile.set, step));
$end
$if BLIES
  $BBRING(to + $NAME_A, (const unsigned short *)$BTENSOR + $BBASE + $BFROM + (size_t)step * $BSTEP, $BROOM, $TERMS);
$end
$if BPACKED
  bring_packed<256, $TILEN>(to + $NAME_A, b + ((size_t)z * $BBATCH + $NAME_before(tile.set) + step) * ($BOCTETS * 1024), tile.n * $TILEN);
$end
}

// Where a lane finds its row of four blocks of eight by eight numbers: of a factor's rows from `row` on, 16 from the k-th on.
static __device__ __forceinline__ void $NAME_left(unsigned (&v)[4], unsigned from, int row, int k) {
  const int lane = threadIdx.x % 32;
$if ATURNS
  const int line = k + lane / 16 * 8 + lane % 8, eight = row / 8 + lane / 8 % 2;
  load_turned(v, from + eight / 8 * (64 * 128) + line * 128 + ((eight ^ line) & 7) * 16);
$else
  const int own = row + lane % 16, piece = k / 8 + lane / 16;
  load_blocks(v, from + own * 128 + (piece ^ (own & 7)) * 16);
$end
}

static __device__ __forceinline__ void $NAME_right(unsigned (&v)[4], unsigned from, int row, int k) {
  const int lane = threadIdx.x % 32;
$if BTURNS
  const int line = k + lane / 8 % 2 * 8 + lane % 8, eight = row / 8 + lane / 16;
  load_turned(v, from + eight / 8 * (64 * 128) + line * 128 + ((eight ^ line) & 7) * 16);
$else
  const int own = row + lane / 16 * 8 + lane % 8, piece = k / 8 + lane / 8 % 2;
  load_blocks(v, from + own * 128 + (piece ^ (own & 7)) * 16);
$end
}

extern "C" __global__ void __launch_bounds__(256)
$NAME($PARAMETERS$MORE$MOREPARTIAL) {
  extern __shared__ __align__(128) unsigned char slots[];
  const int lane = threadIdx.x % 32, down = threadIdx.x / 32 % 4 * 32, across = threadIdx.x / 128 * ($TILEN / 2);
  const unsigned own = shared_address(slots);
  for (int i = blockIdx.x; i < $ITEMS; i += gridDim.x) {
    const $NAME_tile tile = $NAME_at(i);
    float sum[2][$NAME_EACH][4] = {};
#pragma unroll
    for (int p = 0; p < $STAGES - 1; p++) {
      if (tile.first + p < tile.last) $NAME_fetch($PASS$PASSMORE, own + p * $NAME_STAGE, tile, tile.first + p);
      copies_end();
    }
    for (int step = tile.first; step < tile.last; step++) {
      const int at = step - tile.first, next = at + $STAGES - 1;
      copies_wait_but<$STAGES - 2>();
      __syncthreads();
      if (tile.first + next < tile.last) $NAME_fetch($PASS$PASSMORE, own + next % $STAGES * $NAME_STAGE, tile, tile.first + next);
      copies_end();
      const unsigned from = own + at % $STAGES * $NAME_STAGE;
#pragma unroll
      for (int k = 0; k < 64; k += 16) {
        unsigned x[2][4], y[$NAME_EACH / 2][4];
#pragma unroll
        for (int r = 0; r < 2; r++) $NAME_left(x[r], from, down + 16 * r, k);
#pragma unroll
        for (int j = 0; j < $NAME_EACH / 2; j++) $NAME_right(y[j], from + $NAME_A, across + 16 * j, k);
#pragma unroll
        for (int r = 0; r < 2; r++)
#pragma unroll
          for (int j = 0; j < $NAME_EACH; j++) $MULTIPLY(sum[r][j], x[r], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
      }
    }
    copies_wait_all();
    __syncthreads();
#pragma unroll
    for (int half = 0; half < 4; half++) {
      const int row = tile.m * 128 + down + lane / 4 + 8 * half;
      if (row >= $M) continue;
#pragma unroll
      for (int j = 0; j < $NAME_EACH; j++) {
        const int column = tile.n * $TILEN + across + 8 * j + 2 * (lane % 4);
        const float first = sum[half / 2][j][half % 2 * 2], second = sum[half / 2][j][half % 2 * 2 + 1];
$RESULT
      }
    }
  }
}
