// Every thread fetches sixteen bytes at a time, a step ahead; eight warps have 32 rows and half of the columns of a tile each.

enum { $LOOP_A = 128 * 128, $LOOP_B = $TILEN * 128, $LOOP_STAGE = $PARTS * ($LOOP_A + $LOOP_B), $LOOP_EACH = $TILEN / 16 };

// Rows of a chunk of a factor, from one on, 128 bytes each, part after part as they are packed; pieces of a row change places by where it
// lies.
template <int ROWS>
static __device__ __forceinline__ void $LOOP_rows(unsigned to, const unsigned char *from, int row, int octets) {
#pragma unroll
  for (int i = threadIdx.x; i < $PARTS * ROWS * 8; i += 256) {
    const int piece = i % 8, r = i / 8 % ROWS, part = i / (8 * ROWS), at = row + r;
    copy_16(to + part * (ROWS * 128) + r * 128 + (piece ^ (r & 7)) * 16, from + (part * octets + at / 8) * 1024ll + at % 8 * 128 + (piece ^ (at & 7)) * 16);
  }
}

static __device__ __forceinline__ void $LOOP_fetch(unsigned to, const unsigned char *a, const unsigned char *b, $NAME_tile tile, int step) {
  const size_t chunk = (size_t)tile.z * $ABATCH + $NAME_chunk(tile.set, step), own = (size_t)tile.z * $BBATCH + $NAME_before(tile.set) + step;
  $LOOP_rows<128>(to, a + chunk * ($PARTS * 1024ll * $AOCTETS), tile.m * 128 + $NAME_shift(tile.set, step), $AOCTETS);
  $LOOP_rows<$TILEN>(to + $PARTS * $LOOP_A, b + own * ($PARTS * 1024ll * $BOCTETS), tile.n * $TILEN, $BOCTETS);
}

// Where a lane finds its row of four blocks of eight rows and 16 bytes: of a factor's rows from `row` on, 16 along k.
static __device__ __forceinline__ unsigned $LOOP_block(unsigned from, int row, int piece) {
  return from + row * 128 + (piece ^ (row & 7)) * 16;
}

// part += a b over $TERMS of a step, of one part of each; `first`: from which sixteen on.
static __device__ __forceinline__ void $LOOP_multiply(float (&part)[2][$LOOP_EACH][4], unsigned a, unsigned b, int down, int across, int first) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i16 = 0; i16 < $TERMS / 16; i16++) {
    const int k = first + i16;
    unsigned x[2][4], y[$LOOP_EACH / 2][4];
#pragma unroll
    for (int i = 0; i < 2; i++) load_blocks(x[i], $LOOP_block(a, down + 16 * i + lane % 16, 2 * k + lane / 16));
#pragma unroll
    for (int j = 0; j < $LOOP_EACH / 2; j++) load_blocks(y[j], $LOOP_block(b, across + 16 * j + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int j = 0; j < $LOOP_EACH; j++) $MULTIPLY(part[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
  }
}

extern "C" __global__ void __launch_bounds__(256)
$LOOP($PARAMETERS, const unsigned char *__restrict__ a, const float *__restrict__ a_scales, const unsigned char *__restrict__ b,
      const float *__restrict__ b_scales, const int *__restrict__ a_wide, const int *__restrict__ b_wide$MORE) {
  extern __shared__ __align__(128) unsigned char slots[];
$if FIRST
  if ($PLAIN) {
    if (threadIdx.x < 256) $NAME_plain($PASS, (float (*)[68])slots, (float (*)[68])slots + 16);
    return;
  }
$end
$if CHECK
  if ($VAST) {                                                               // three parts of bfloat16 will do it
    if (blockIdx.x == 0 && threadIdx.x == 0) *many = $AGAIN + 1;
    return;
  }
  const bool is_checked = $WIDE;
$else
  if ($OTHER) return;                                                        // another kernel of the plan does it
$end
  const int lane = threadIdx.x % 32, down = threadIdx.x / 32 % 4 * 32, across = threadIdx.x / 128 * ($TILEN / 2);
  const unsigned own = shared_address(slots);
  for (int i = blockIdx.x; i < $ITEMS; i += gridDim.x) {
    const $NAME_tile tile = $NAME_at(i);
    float sum[2][$LOOP_EACH][4] = {};
$if CHECK
    float down_most[2][2] = {}, across_most[$LOOP_EACH][2] = {};
$end
    if (tile.first < tile.last) $LOOP_fetch(own, a, b, tile, tile.first);
    copies_end();
    for (int step = tile.first; step < tile.last; step++) {
      const unsigned from = own + (step - tile.first) % 2 * $LOOP_STAGE;
      if (step + 1 < tile.last) $LOOP_fetch(own + (step + 1 - tile.first) % 2 * $LOOP_STAGE, a, b, tile, step + 1);
      copies_end();
      const float *rows = a_scales + ((size_t)tile.z * $ABATCH + $NAME_chunk(tile.set, step)) * ($AOCTETS * 8) + tile.m * 128
                          + $NAME_shift(tile.set, step) + down + lane / 4;
      const float *columns = b_scales + ((size_t)tile.z * $BBATCH + $NAME_before(tile.set) + step) * ($BOCTETS * 8) + tile.n * $TILEN
                             + across + lane % 4 * 2;
      float down_scale[2][2], across_scale[$LOOP_EACH][2];
#pragma unroll
      for (int k = 0; k < 4; k++) down_scale[k / 2][k % 2] = rows[8 * k];
#pragma unroll
      for (int k = 0; k < 2 * $LOOP_EACH; k++) across_scale[k / 2][k % 2] = columns[k / 2 * 8 + k % 2];
$if CHECK
#pragma unroll
      for (int k = 0; k < 4; k++) down_most[k / 2][k % 2] = fmaxf(down_most[k / 2][k % 2], down_scale[k / 2][k % 2]);
#pragma unroll
      for (int k = 0; k < 2 * $LOOP_EACH; k++) across_most[k / 2][k % 2] = fmaxf(across_most[k / 2][k % 2], across_scale[k / 2][k % 2]);
$end
      copies_wait();
      __syncthreads();
#pragma unroll
      for (int first = 0; first < 4; first += $TERMS / 16) {
        float part[2][$LOOP_EACH][4] = {};
$LIST
#pragma unroll
        for (int r = 0; r < 2; r++)
#pragma unroll
          for (int j = 0; j < $LOOP_EACH; j++)
#pragma unroll
            for (int k = 0; k < 4; k++) sum[r][j][k] = fmaf(part[r][j][k] * down_scale[r][k / 2], across_scale[j][k % 2], sum[r][j][k]);
      }
      __syncthreads();
    }
$if CHECK
    // What was lost of numbers counts in a result that is less than 2^-15 of its row's largest times its column's.
    if (is_checked) {
#pragma unroll
      for (int k = 0; k < 4 * $LOOP_EACH; k++) {
        const int half = k % 4, j = k / 4, row = tile.m * 128 + down + lane / 4 + 8 * half, column = tile.n * $TILEN + across + 8 * j + 2 * (lane % 4);
        const float own = down_most[half / 2][half % 2] * 32768.0f, *const at = sum[half / 2][j] + half % 2 * 2;
        if (row < $M && column < $N && (($SHOWNfabsf(at[0]) < own * across_most[j][0])
                                        || ($OTHERSHOWNcolumn + 1 < $N && fabsf(at[1]) < own * across_most[j][1])))
          note_again(again, many, $AGAIN, (((long long)tile.set * $BATCH + tile.z) * $M + row) * (($N + 1) / 2) + column / 2);
      }
    }
$end
#pragma unroll
    for (int half = 0; half < 4; half++) {
      const int row = tile.m * 128 + down + lane / 4 + 8 * half;
      if (row >= $M) continue;
#pragma unroll
      for (int j = 0; j < $LOOP_EACH; j++) {
        const int column = tile.n * $TILEN + across + 8 * j + 2 * (lane % 4);
        const float first = sum[half / 2][j][half % 2 * 2], second = sum[half / 2][j][half % 2 * 2 + 1];
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
}
