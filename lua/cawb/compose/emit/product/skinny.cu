// $NAME: sums over k of a(m, k) b(k, n), for each z, where one side is short: a tile has $FEW of its places and $LONG of the other side's. A warp
// has 32 places of the long side and a slice of k. It reads the long factor into registers, $DEPTH steps of 16 terms ahead, in the order in which tensor
// cores take it; the short factor lies in shared memory. $NUMBERS
$if CLUSTER: // A tile has a cluster of $CLUSTER blocks, each with its part of k. Each block adds up the sums of all for its share of the tile.

struct alignas(16) $NAME_quad { float v[4]; };

$FUNCTIONS
// Four places of the long side from l on, four terms from k on; zeros beyond the sides.
static __device__ __forceinline__ void $NAME_fetch($PARAMETERS, float (&held)[4][4], long long z, int l, int L, int from, int end) {
  UNROLL for (int j = 0; j < 4; j++) held[j][0] = held[j][1] = held[j][2] = held[j][3] = 0;
  $READLONG
}

// A sum by plain arithmetic, where a number is infinite, nearly so, or NaN: its parts do not hold it.
static __device__ __noinline__ float $NAME_plain($PARAMETERS, long long z, int m, int n, int K) {
  float sum = 0;
  for (int k = 0; k < K; k++) sum += $a(z, m, k) * $b(z, k, n);
  return sum;
}

static __device__ __forceinline__ void $NAME_write($PARAMETERS, $NAME_quad &sum, long long z, int m, int n, int M, int N, int K) {
  UNROLL for (int x = 0; x < 4; x++) {
    const int row = m + $MSTEP, column = n + $NSTEP;
    if (row < M && column < N && !(fabsf(sum.v[x]) <= 3.4028235e38f)) sum.v[x] = $plain(z, row, column, K);
$if !STORE4:     if (row < M && column < N) $store(z, row, column, sum.v[x]);
  }
$if STORE4:   if (m < M && n < N) $store4(sum.v, z, m, n);
}

extern "C" __global__ void __launch_bounds__(128, $BLOCKS)
$NAME($PARAMETERS, int M, int N, int K) {
  constexpr int SLICES = 4 / $ACROSS, TERMS = SLICES * $PART, PITCH = TERMS + 16, LINE = $LONG / 4 + 1, QUADS = $FEW * ($LONG / 4);
  extern __shared__ __align__(16) unsigned char shared[];
  float *const few = (float *)shared;
  $NAME_quad *const sums = ($NAME_quad *)shared;
$if CLUSTER
  constexpr int SHARE = (QUADS + $CLUSTER - 1) / $CLUSTER;
  __shared__ $NAME_quad got[$CLUSTER][SHARE];
  __shared__ unsigned long long ready;
  const int rank = cluster_rank(), number = blockIdx.x / $CLUSTER, count = min(SHARE, QUADS - rank * SHARE);
  const unsigned barrier = (unsigned)__cvta_generic_to_shared(&ready);
  cluster_expect(barrier, count * $CLUSTER * 16);
$else
  const int rank = 0, number = blockIdx.x;
$end
  const int along = ($LSIDE + $LONG - 1) / $LONG, tiles = along * (($FSIDE + $FEW - 1) / $FEW), tile = number % tiles;
  const int l0 = tile % along * $LONG, f0 = tile / along * $FEW;
  const long long z = number / tiles;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int first = rank * TERMS, slice = warp / $ACROSS, begin = first + slice * $PART, end = min(K, begin + $PART);
  const int own = l0 + warp % $ACROSS * 32 + 4 * g;
  float ahead[$DEPTH][4][4];
  UNROLL for (int d = 0; d < $DEPTH; d++) $fetch(ahead[d], z, own, $LSIDE, begin + 16 * d + 4 * t, end);
  // Quads of a row are exchanged, so that neighbours of a column lie in different banks.
$if FOUR
  for (int from = threadIdx.x; from < $FEW * (TERMS / 4); from += 128 * $HELD) {
    $NAME_quad held[$HELD];
    UNROLL for (int i = 0; i < $HELD; i++) {
      const int e = from + 128 * i, f = f0 + e / (TERMS / 4), k = first + e % (TERMS / 4) * 4;
      float *const v = held[i].v;
      v[0] = v[1] = v[2] = v[3] = 0;
      if (e < $FEW * (TERMS / 4) && f < $FSIDE && k < K) $READSHORT
    }
    UNROLL for (int i = 0; i < $HELD; i++) {
      const int e = from + 128 * i, f = e / (TERMS / 4), k = e % (TERMS / 4);
      if (e < $FEW * (TERMS / 4)) *($NAME_quad *)(few + f * PITCH + (k ^ f / 2 % 4) * 4) = held[i];
    }
  }
$else
  for (int from = threadIdx.x; from < $FEW * TERMS; from += 128 * $HELD) {
    float held[$HELD];
    UNROLL for (int i = 0; i < $HELD; i++) {
      const int e = from + 128 * i, f = f0 + $SHORTF, k = first + $SHORTK;
      held[i] = 0;
      if (e < $FEW * TERMS && f < $FSIDE && k < K) $READSHORT
    }
    UNROLL for (int i = 0; i < $HELD; i++) {
      const int e = from + 128 * i, f = $SHORTF, k = $SHORTK;
      if (e < $FEW * TERMS) few[f * PITCH + (k / 4 ^ f / 2 % 4) * 4 + k % 4] = held[i];
    }
  }
$end
  __syncthreads();
  float acc[2][$EIGHTS][4] = {};
  for (int from = 0; from < $PART / 16; from += $DEPTH) UNROLL for (int d = 0; d < $DEPTH; d++) {
    const int step = from + d;
    if (step == $PART / 16) break;
$if EXACT
    unsigned high[2][2][4];
    UNROLL for (int x = 0; x < 16; x++) high[x / 8][x / 2 % 2][x % 2 * 2 + x / 4 % 2] = __float_as_uint(ahead[d][x / 4][x % 4]);
$else
    unsigned high[2][2][4], low[2][2][4];
    UNROLL for (int x = 0; x < 16; x++)
      split_tf32_lifted(high[x / 8][x / 2 % 2][x % 2 * 2 + x / 4 % 2], low[x / 8][x / 2 % 2][x % 2 * 2 + x / 4 % 2], ahead[d][x / 4][x % 4], $LIFT);
$end
    if (step + $DEPTH < $PART / 16) $fetch(ahead[d], z, own, $LSIDE, begin + 16 * (step + $DEPTH) + 4 * t, end);
    UNROLL for (int r = 0; r < $EIGHTS; r++) {
      const $NAME_quad b = *($NAME_quad *)(few + (8 * r + g) * PITCH + slice * $PART + 16 * step + (t ^ g / 2) * 4);
      float part[2][4] = {};
$if EXACT
      const unsigned right[4] = { __float_as_uint(b.v[0]), __float_as_uint(b.v[1]), __float_as_uint(b.v[2]), __float_as_uint(b.v[3]) };
$else
      unsigned right[4], rest[4];
      UNROLL for (int x = 0; x < 4; x++) split_tf32(right[x], rest[x], b.v[x]);
      UNROLL for (int s = 0; s < 2; s++) {
        UNROLL for (int i = 0; i < 2; i++) multiply_tf32(part[i], low[i][s], right[2 * s], right[2 * s + 1]);
        UNROLL for (int i = 0; i < 2; i++) multiply_tf32(part[i], high[i][s], rest[2 * s], rest[2 * s + 1]);
      }
$end
      UNROLL for (int s = 0; s < 2; s++)
        UNROLL for (int i = 0; i < 2; i++) multiply_tf32(part[i], high[i][s], right[2 * s], right[2 * s + 1]);
      UNROLL for (int x = 0; x < 8; x++) acc[x / 4][r][x % 4] += part[x / 4][x % 4];
    }
  }
  __syncthreads();
  UNROLL for (int r = 0; r < $EIGHTS; r++)
    UNROLL for (int c = 0; c < 2; c++)
      sums[(slice * $FEW + 8 * r + 2 * t + c) * LINE + warp % $ACROSS * 8 + g] = { { acc[0][r][c], acc[0][r][2 + c], acc[1][r][c], acc[1][r][2 + c] } };
  __syncthreads();
$if CLUSTER:   cluster_wait();
  for (int q = threadIdx.x; q < QUADS; q += 128) {
    $NAME_quad sum = sums[$PLACEF * LINE + $PLACEL];
    UNROLL for (int i = 1; i < SLICES; i++)
      UNROLL for (int x = 0; x < 4; x++) sum.v[x] += sums[(i * $FEW + $PLACEF) * LINE + $PLACEL].v[x];
$if CLUSTER
    cluster_put((unsigned)__cvta_generic_to_shared(&got[rank][q % SHARE]), sum.v, barrier, q / SHARE);
  }
  cluster_take(barrier);
  for (int i = threadIdx.x; i < count; i += 128) {
    $NAME_quad sum = got[0][i];
    UNROLL for (int j = 1; j < $CLUSTER; j++)
      UNROLL for (int x = 0; x < 4; x++) sum.v[x] += got[j][i].v[x];
    const int q = rank * SHARE + i;
$end
    const int l = l0 + $PLACEL * 4, f = f0 + $PLACEF;
    $write(sum, z, $MN, M, N, K);
  }
}
