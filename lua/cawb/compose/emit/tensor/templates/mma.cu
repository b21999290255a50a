// Every thread fetches sixteen bytes at a time, a step ahead; eight warps have 32 rows and half of the columns of a tile each.

enum { $NAME_A = 128 * 128, $NAME_B = $TILEN * 128, $NAME_STAGE = 2 * ($NAME_A + $NAME_B), $NAME_EACH = $TILEN / 16 };

// Rows of both halves of a factor, from one on, 128 bytes each, as they are packed; pieces of a row change places by where it lies.
template <int ROWS>
static __device__ __forceinline__ void $NAME_rows(unsigned to, const unsigned char *from, int chunk, int row, int octets) {
#pragma unroll
  for (int i = threadIdx.x; i < 2 * ROWS * 8; i += 256) {
    const int piece = i % 8, r = i / 8 % ROWS, half = i / (8 * ROWS);
    copy_16(to + half * (ROWS * 128) + r * 128 + (piece ^ (r & 7)) * 16, from + packed_at(chunk, half, row + r, piece, octets));
  }
}

static __device__ __forceinline__ void $NAME_fetch(unsigned to, const unsigned char *a, const unsigned char *b, $NAME_tile tile, int step) {
  const size_t chunk = (size_t)tile.z * $ABATCH + $NAME_chunk(tile.set, step), own = (size_t)tile.z * $BBATCH + $NAME_before(tile.set) + step;
  $NAME_rows<128>(to, a + chunk * (2048ll * $AOCTETS), 0, tile.m * 128 + $NAME_shift(tile.set, step), $AOCTETS);
  $NAME_rows<$TILEN>(to + 2 * $NAME_A, b + own * (2048ll * $BOCTETS), 0, tile.n * $TILEN, $BOCTETS);
}

// Where a lane finds its row of four blocks of eight rows and 16 bytes: of a factor's rows from `row` on, 16 along k.
static __device__ __forceinline__ unsigned $NAME_block(unsigned from, int row, int piece) {
  return from + row * 128 + (piece ^ (row & 7)) * 16;
}

// part += a b over the 64 of a step, of one half of each.
static __device__ __forceinline__ void $NAME_multiply(float (&part)[2][$NAME_EACH][4], unsigned a, unsigned b, int down, int across) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    unsigned x[2][4], y[$NAME_EACH / 2][4];
#pragma unroll
    for (int i = 0; i < 2; i++) load_blocks(x[i], $NAME_block(a, down + 16 * i + lane % 16, 2 * k + lane / 16));
#pragma unroll
    for (int j = 0; j < $NAME_EACH / 2; j++) load_blocks(y[j], $NAME_block(b, across + 16 * j + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int j = 0; j < $NAME_EACH; j++) multiply_16(part[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
  }
}

extern "C" __global__ void __launch_bounds__(256)
$NAME($PARAMETERS, const unsigned char *__restrict__ a, const float *__restrict__ a_scales, const unsigned char *__restrict__ b,
      const float *__restrict__ b_scales, const int *__restrict__ a_wide, const int *__restrict__ b_wide$MORE) {
  extern __shared__ __align__(128) unsigned char slots[];
$if FIRST
  if ($PLAIN) {
    if (threadIdx.x < 256) $NAME_plain($PASS, (float (*)[68])slots, (float (*)[68])slots + 16);
    return;
  }
$end
  if ($OTHER) return;                                                        // another kernel of the plan does it
  const int lane = threadIdx.x % 32, down = threadIdx.x / 32 % 4 * 32, across = threadIdx.x / 128 * ($TILEN / 2);
  const unsigned own = shared_address(slots);
  for (int i = blockIdx.x; i < $ITEMS; i += gridDim.x) {
    const $NAME_tile tile = $NAME_at(i);
    float sum[2][$NAME_EACH][4] = {};
    if (tile.first < tile.last) $NAME_fetch(own, a, b, tile, tile.first);
    copies_end();
    for (int step = tile.first; step < tile.last; step++) {
      const unsigned from = own + (step - tile.first) % 2 * $NAME_STAGE;
      if (step + 1 < tile.last) $NAME_fetch(own + (step + 1 - tile.first) % 2 * $NAME_STAGE, a, b, tile, step + 1);
      copies_end();
      const float *rows = a_scales + ((size_t)tile.z * $ABATCH + $NAME_chunk(tile.set, step)) * ($AOCTETS * 8) + tile.m * 128
                          + $NAME_shift(tile.set, step) + down + lane / 4;
      const float *columns = b_scales + ((size_t)tile.z * $BBATCH + $NAME_before(tile.set) + step) * ($BOCTETS * 8) + tile.n * $TILEN
                             + across + lane % 4 * 2;
      float down_scale[2][2], across_scale[$NAME_EACH][2], part[2][$NAME_EACH][4] = {};
#pragma unroll
      for (int k = 0; k < 4; k++) down_scale[k / 2][k % 2] = rows[8 * k];
#pragma unroll
      for (int k = 0; k < 2 * $NAME_EACH; k++) across_scale[k / 2][k % 2] = columns[k / 2 * 8 + k % 2];
      copies_wait();
      __syncthreads();
$if FOURTH
      $NAME_multiply(part, from + $NAME_A, from + 2 * $NAME_A + $NAME_B, down, across);
$end
      $NAME_multiply(part, from + $NAME_A, from + 2 * $NAME_A, down, across);
      $NAME_multiply(part, from, from + 2 * $NAME_A + $NAME_B, down, across);
      $NAME_multiply(part, from, from + 2 * $NAME_A, down, across);
#pragma unroll
      for (int r = 0; r < 2; r++)
#pragma unroll
        for (int j = 0; j < $NAME_EACH; j++)
#pragma unroll
          for (int k = 0; k < 4; k++) sum[r][j][k] = fmaf(part[r][j][k] * down_scale[r][k / 2], across_scale[j][k % 2], sum[r][j][k]);
      __syncthreads();
    }
#pragma unroll
    for (int half = 0; half < 4; half++) {
      const int row = tile.m * 128 + down + lane / 4 + 8 * half;
      if (row >= $M) continue;
#pragma unroll
      for (int j = 0; j < $NAME_EACH; j++) {
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
