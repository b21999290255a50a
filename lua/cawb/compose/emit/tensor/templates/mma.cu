// Sums by products of warps. Every thread fetches 16 bytes at a time, some steps ahead; eight warps have 32 rows and half of the columns of
// a tile each.

$if RIGHTTYPE: $INSTRUCTION
enum { $LOOP_A = $AROWS * 128, $LOOP_B = $BROWS * 128, $LOOP_STAGE = $STAGE, $LOOP_EACH = $TILEN / 16 };

static __device__ __forceinline__ void $LOOP_fetch($PARAMETERS$FACTORS, unsigned to, $NAME_tile tile, int step) {
  const int z = tile.z;
$if APACKED
  const unsigned char *const left = a + ((size_t)z * $ABATCH/**/ + $NAME_chunk(tile.set, step)) * ($PARTS * $AOCTETS/**/ * 1024ll);
  UNROLL for (int p = 0; p < $PARTS; p++) bring_packed<256, 128>(to + p * $LOOP_A, left + p * ($AOCTETS * 1024ll), tile.m * 128 + $NAME_shift(tile.set, step));
$else
  $ABRING(to, (const unsigned short *)$ATENSOR + $ABASE + $AFROM + (size_t)step * $ASTEP, $AROOM, $DEEP);
$end
$if BPACKED
  const unsigned char *const right = b + ((size_t)z * $BBATCH/**/ + $NAME_before(tile.set) + step) * ($PARTS * $BOCTETS/**/ * 1024ll);
  UNROLL for (int p = 0; p < $PARTS; p++) bring_packed<256, $TILEN>(to + $PARTS * $LOOP_A + p * $LOOP_B, right + p * ($BOCTETS * 1024ll), tile.n * $TILEN);
$else
  $BBRING(to + $LOOP_A, (const unsigned short *)$BTENSOR + $BBASE + $BFROM + (size_t)step * $BSTEP, $BROOM, $DEEP);
$end
}

// Where a lane finds its row of four blocks of eight by eight numbers: of a factor's rows from `row` on, 16 from the k-th on.
static __device__ __forceinline__ void $LOOP_left(unsigned (&v)[4], unsigned from, int row, int k) {
  const int lane = threadIdx.x % 32;
$if ATURNS
  const int line = k + lane / 16 * 8 + lane % 8, eight = row / 8 + lane / 8 % 2;
  load_turned(v, from + eight / 8 * (64 * 128) + line * 128 + ((eight ^ line) & 7) * 16);
$else
  const int own = row + lane % 16, piece = k / 8 + lane / 16;
  load_blocks(v, from + own * 128 + (piece ^ (own & 7)) * 16);
$end
}

static __device__ __forceinline__ void $LOOP_right(unsigned (&v)[4], unsigned from, int row, int k) {
  const int lane = threadIdx.x % 32;
$if BTURNS
  const int line = k + lane / 8 % 2 * 8 + lane % 8, eight = row / 8 + lane / 16;
  load_turned(v, from + eight / 8 * (64 * 128) + line * 128 + ((eight ^ line) & 7) * 16);
$else
  const int own = row + lane / 16 * 8 + lane % 8, piece = k / 8 + lane / 8 % 2;
  load_blocks(v, from + own * 128 + (piece ^ (own & 7)) * 16);
$end
}

// sum += a b over $TERMS of a step, of one part of each; `first`: from which sixteen on.
static __device__ __forceinline__ void $LOOP_multiply(float (&sum)[2][$LOOP_EACH][4], unsigned a, unsigned b, int down, int across, int first) {
  UNROLL for (int k = 16 * first; k < 16 * first + $TERMS; k += 16) {
    unsigned x[2][4], y[$LOOP_EACH / 2][4];
    UNROLL for (int r = 0; r < 2; r++) $LOOP_left(x[r], a, down + 16 * r, k);
    UNROLL for (int j = 0; j < $LOOP_EACH / 2; j++) $LOOP_right(y[j], b, across + 16 * j, k);
    UNROLL for (int r = 0; r < 2; r++)
      UNROLL for (int j = 0; j < $LOOP_EACH; j++) $MULTIPLY(sum[r][j], x[r], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
  }
}

extern "C" __global__ void __launch_bounds__(256)
$LOOP($PARAMETERS$FACTORS) {
  extern __shared__ __align__(128) unsigned char slots[];
  unsigned char *const stages = slots;
$BEGIN
  const int t = threadIdx.x, down = t / 32 % 4 * 32, across = t / 128 * ($TILEN / 2), line = down + t % 32 / 4;
  const unsigned own = shared_address(stages);
  for (int i = blockIdx.x; i < $ITEMS/**/; i += gridDim.x) {
    const $NAME_tile tile = $NAME_at(i);
    float sum[2][$LOOP_EACH][4] = {};
$if CHECK:     float down_most[4] = {}, across_most[$LOOP_EACH][2] = {};
    UNROLL for (int p = 0; p < $STAGES - 1; p++) {
      if (tile.first + p < tile.last) $LOOP_fetch($PASS$PASSFACTORS, own + p * $LOOP_STAGE, tile, tile.first + p);
      copies_end();
    }
    for (int step = tile.first; step < tile.last; step++) {
      const int at = step - tile.first, next = at + $STAGES - 1;
$if SCALED
      const float *rows = a_scales + ((size_t)tile.z * $ABATCH/**/ + $NAME_chunk(tile.set, step)) * ($AOCTETS/**/ * 8) + tile.m * 128
                          + $NAME_shift(tile.set, step) + line;
      const float *columns = b_scales + ((size_t)tile.z * $BBATCH/**/ + $NAME_before(tile.set) + step) * ($BOCTETS/**/ * 8) + tile.n * $TILEN
                             + across + t % 4 * 2;
      float down_scale[4], across_scale[$LOOP_EACH][2];
      UNROLL for (int k = 0; k < 4; k++) down_scale[k] = rows[8 * k];
      UNROLL for (int k = 0; k < 2 * $LOOP_EACH; k++) across_scale[k / 2][k % 2] = columns[k / 2 * 8 + k % 2];
$end
$if CHECK:       UNROLL for (int k = 0; k < 4; k++) down_most[k] = fmaxf(down_most[k], down_scale[k]);
$if CHECK:       UNROLL for (int k = 0; k < 2 * $LOOP_EACH; k++) across_most[k / 2][k % 2] = fmaxf(across_most[k / 2][k % 2], across_scale[k / 2][k % 2]);
      copies_wait_but<$STAGES - 2>();
      __syncthreads();
      if (tile.first + next < tile.last) $LOOP_fetch($PASS$PASSFACTORS, own + next % $STAGES * $LOOP_STAGE, tile, tile.first + next);
      copies_end();
      const unsigned from = own + at % $STAGES * $LOOP_STAGE;
      $UNROLLED for (int first = 0; first < $DEEPEST / 16; first += $TERMS / 16) {
$if SCALED
        float part[2][$LOOP_EACH][4] = {};
$LIST
        UNROLL for (int r = 0; r < 2; r++)
          UNROLL for (int j = 0; j < $LOOP_EACH; j++)
            UNROLL for (int k = 0; k < 4; k++) sum[r][j][k] = fmaf(part[r][j][k] * down_scale[2 * r + k / 2], across_scale[j][k % 2], sum[r][j][k]);
$else
$if APART:         float part[2][$LOOP_EACH][4] = {};
$LIST
$if APART:         UNROLL for (int k = 0; k < 8 * $LOOP_EACH; k++) sum[k / 4 % 2][k / 8][k % 4] += part[k / 4 % 2][k / 8][k % 4];
$end
      }
    }
    copies_wait_all();
    __syncthreads();
$if CHECK
    // What was lost of numbers counts in a result that is less than 2^-15 of its row's largest times its column's.
    if (is_checked) {
      unsigned long long lost = 0;                           // a bit for each two neighbours
      UNROLL for (int k = 0; k < 4 * $LOOP_EACH; k++) {
        const int half = k % 4, j = k / 4, row = tile.m * 128 + line + 8 * half, column = tile.n * $TILEN + across + 8 * j + 2 * (t % 4);
        const float own = down_most[half] * 32768.0f, *const at = sum[half / 2][j] + half % 2 * 2;
        const bool is_lost = ($SHOWNfabsf(at[0]) < own * across_most[j][0])
                             | ($OTHERSHOWN(column + 1 < $N/**/) & (fabsf(at[1]) < own * across_most[j][1]));
        lost |= (unsigned long long)((row < $M/**/) & $WITHINis_lost) << k;
      }
#pragma unroll 1
      for (; lost; lost &= lost - 1) {
        const int k = __ffsll(lost) - 1, row = tile.m * 128 + line + 8 * (k % 4), column = tile.n * $TILEN + across + 8 * (k / 4) + 2 * (t % 4);
        note_again(again, many, $AGAIN, (((long long)tile.set * $BATCH + tile.z) * $M + row) * (($N + 1) / 2) + column / 2);
      }
    }
$end
$WRITE
  }
}
