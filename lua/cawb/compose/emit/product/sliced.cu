// $NAME: sums over k of a(m, k) b(k, n), for each z, of few tiles of $TM x $TN. A block has $SLICES slices of k, each with $EACH threads, so that
// many factors are under way at once. The sums of slices are added up in shared memory.
$if CLUSTER: // A tile has a cluster of $CLUSTER blocks, each with its part of k. Each block adds up the sums of all for its share of the tile.

struct alignas(16) $NAME_quad { $T v[4]; };

$FUNCTIONS
$FACTORS
static __device__ __forceinline__ void $NAME_write($PARAMETERS, const $NAME_quad &sum, long long z, int m, int n, int M, int N) {
  if (m >= M || n >= N) return;
$if STORE4
  $store4(sum.v, z, m, n);
$else
  UNROLL for (int x = 0; x < 4; x++)
    if (n + x < N) $store(z, m, n + x, sum.v[x]);
$end
}

extern "C" __global__ void __launch_bounds__($SLICES * $EACH)
$NAME($PARAMETERS, int M, int N, int K, int part) {
  constexpr int ACROSS = $TN / 4, QUADS = $TM * ACROSS, THREADS = $SLICES * $EACH;
  __shared__ union {
    struct { $NAME_quad a[$SLICES][$TK][$TM / 4], b[$SLICES][$TK][ACROSS]; } in;
    $NAME_quad sums[$SLICES][QUADS];
  } s;
$if CLUSTER
  constexpr int SHARE = QUADS / $CLUSTER;
  __shared__ $NAME_quad got[$CLUSTER][SHARE];
  cluster_arrive();
  const int rank = cluster_rank(), number = blockIdx.x / $CLUSTER;
$else
  const int rank = 0, number = blockIdx.x;
$end
  const int down = (M + $TM - 1) / $TM, tiles = down * ((N + $TN - 1) / $TN), tile = number % tiles;
  const int m0 = tile % down * $TM, n0 = tile / down * $TN;
  const long long z = number / tiles;
  const int slice = threadIdx.x / $EACH, t = threadIdx.x % $EACH, tx = t % ($TN / $RN), ty = t / ($TN / $RN);
  const int begin = (rank * $SLICES + slice) * part, end = min(K, begin + part);
  $T acc[$RM][$RN], ha[$HELDA], hb[$HELDB];
  UNROLL for (int i = 0; i < $RM; i++)
    UNROLL for (int j = 0; j < $RN; j++) acc[i][j] = 0;
  $fetch_a(ha, z, m0, M, begin, end);
  $fetch_b(hb, z, n0, N, begin, end);
  for (int step = 0; step < part; step += $TK) {
    if (step > 0) __syncthreads();
    // Quads are exchanged by k, so that threads with neighbours along k write to different banks.
    UNROLL for (int i = 0; i < $HELDA; i++) {
      const int e = t + i / $WIDEA * $EACH, j = i % $WIDEA, k = $COLA + $JCOLA, m = $ROWA + $JROWA;
      s.in.a[slice][k][m / 4 ^ k / 4 % $MIXA].v[m % 4] = ha[i];
    }
    UNROLL for (int i = 0; i < $HELDB; i++) {
      const int e = t + i / $WIDEB * $EACH, j = i % $WIDEB, k = $COLB + $JCOLB, n = $ROWB + $JROWB;
      s.in.b[slice][k][n / 4 ^ k / 4 % $MIXB].v[n % 4] = hb[i];
    }
    __syncthreads();
    if (step + $TK < part) {
      $fetch_a(ha, z, m0, M, begin + step + $TK, end);
      $fetch_b(hb, z, n0, N, begin + step + $TK, end);
    }
    UNROLL for (int k = 0; k < $TK; k++) {
      $NAME_quad a[$RM / 4], b[$RN / 4];
      UNROLL for (int q = 0; q < $RM / 4; q++) a[q] = s.in.a[slice][k][q * ($TM / $RM) + ty ^ k / 4 % $MIXA];
      UNROLL for (int q = 0; q < $RN / 4; q++) b[q] = s.in.b[slice][k][q * ($TN / $RN) + tx ^ k / 4 % $MIXB];
      UNROLL for (int i = 0; i < $RM; i++)
        UNROLL for (int j = 0; j < $RN; j++) acc[i][j] += a[i / 4].v[i % 4] * b[j / 4].v[j % 4];
    }
  }
  __syncthreads();
  UNROLL for (int i = 0; i < $RM; i++)
    UNROLL for (int j = 0; j < $RN; j += 4) {
      const int m = i / 4 * (4 * ($TM / $RM)) + 4 * ty + i % 4;
      $NAME_quad w;
      UNROLL for (int x = 0; x < 4; x++) w.v[x] = acc[i][j + x];
      s.sums[slice][m * ACROSS + j / 4 * ($TN / $RN) + tx] = w;
    }
  __syncthreads();
$if CLUSTER:   cluster_wait();
  for (int q = threadIdx.x; q < QUADS; q += THREADS) {
    $NAME_quad sum = s.sums[0][q];
    UNROLL for (int i = 1; i < $SLICES; i++)
      UNROLL for (int x = 0; x < 4; x++) sum.v[x] += s.sums[i][q].v[x];
$if CLUSTER
    cluster_send(&got[rank][q % SHARE], sum, q / SHARE);
  }
  cluster_meet();
  for (int q = threadIdx.x; q < SHARE; q += THREADS) {
    $NAME_quad sum = got[0][q];
    UNROLL for (int i = 1; i < $CLUSTER; i++)
      UNROLL for (int x = 0; x < 4; x++) sum.v[x] += got[i][q].v[x];
    const int place = rank * SHARE + q;
$else
    const int place = q;
$end
    $write(sum, z, m0 + place / ACROSS, n0 + place % ACROSS * 4, M, N);
  }
}
