// $NAME: sums over k of a(m, k) b(k, n), for each z. A block computes $TM x $TN of them, a thread $RM x $RN; tiles of
// both factors go through shared memory, the next one being fetched meanwhile.
$if CHAIN: // At most $CHAIN products are added one after the other: long sums are sums of short ones.

struct alignas(16) $NAME_quad { $T v[4]; };

$FUNCTIONS
// Tiles of both factors on their way from memory, a step of k each; zeros beyond the sides.
static __device__ __forceinline__ void $NAME_fetch_a($PARAMETERS, $T (&held)[$HELDA], long long z, int first, int M, int from,
                                                      int end) {
  UNROLL for (int i = 0; i < $HELDA / $WIDEA; i++) {
    const int e = threadIdx.x + i * $EACH, m = first + $ROWA, k = from + $COLA;
    $T *v = held + i * $WIDEA;
    if (m < M && k < end) $LOADA
    else for (int j = 0; j < $WIDEA; j++) v[j] = 0;
  }
}

static __device__ __forceinline__ void $NAME_fetch_b($PARAMETERS, $T (&held)[$HELDB], long long z, int first, int N, int from, int end) {
  UNROLL for (int i = 0; i < $HELDB / $WIDEB; i++) {
    const int e = threadIdx.x + i * $EACH, n = first + $ROWB, k = from + $COLB;
    $T *v = held + i * $WIDEB;
    if (n < N && k < end) $LOADB
    else for (int j = 0; j < $WIDEB; j++) v[j] = 0;
  }
}

extern "C" __global__ void __launch_bounds__($EACH)
$NAME($PARAMETERS, $PARTIAL int M, int N, int K, int part, int splits) {
  __shared__ $NAME_quad as[2][$TK][$TM / 4 + 1], bs[2][$TK][$TN / 4 + 1];
  const int down = (M + $TM - 1) / $TM, tiles = down * ((N + $TN - 1) / $TN);
  const int tile = blockIdx.x % tiles, layer = blockIdx.x / tiles, split = layer % splits;
  const int m0 = tile % down * $TM, n0 = tile / down * $TN;
  const long long z = layer / splits;
  const int begin = split * part, end = min(K, begin + part);
  const int tx = threadIdx.x % ($TN / $RN), ty = threadIdx.x / ($TN / $RN);
  $T acc[$RM][$RN], ha[$HELDA], hb[$HELDB];
$if CHAIN:   $T total[$RM][$RN];
  UNROLL for (int i = 0; i < $RM; i++)
    UNROLL for (int j = 0; j < $RN; j++) {
      acc[i][j] = 0;
$if CHAIN:       total[i][j] = 0;
    }
  $fetch_a(ha, z, m0, M, begin, end);
  $fetch_b(hb, z, n0, N, begin, end);
  for (int from = begin, turn = 0; from < end; from += $TK, turn ^= 1) {
    UNROLL for (int i = 0; i < $HELDA; i++) {
      const int e = threadIdx.x + i / $WIDEA * $EACH, j = i % $WIDEA;
      as[turn][$COLA + $JCOLA][($ROWA + $JROWA) / 4].v[($ROWA + $JROWA) % 4] = ha[i];
    }
    UNROLL for (int i = 0; i < $HELDB; i++) {
      const int e = threadIdx.x + i / $WIDEB * $EACH, j = i % $WIDEB;
      bs[turn][$COLB + $JCOLB][($ROWB + $JROWB) / 4].v[($ROWB + $JROWB) % 4] = hb[i];
    }
    __syncthreads();
    if (from + $TK < end) {
      $fetch_a(ha, z, m0, M, from + $TK, end);
      $fetch_b(hb, z, n0, N, from + $TK, end);
    }
    UNROLL for (int k = 0; k < $TK; k++) {
      $NAME_quad a[$RM / 4], b[$RN / 4];
      UNROLL for (int q = 0; q < $RM / 4; q++) a[q] = as[turn][k][q * ($TM / $RM) + ty];
      UNROLL for (int q = 0; q < $RN / 4; q++) b[q] = bs[turn][k][q * ($TN / $RN) + tx];
      UNROLL for (int i = 0; i < $RM; i++)
        UNROLL for (int j = 0; j < $RN; j++) acc[i][j] += a[i / 4].v[i % 4] * b[j / 4].v[j % 4];
    }
$if CHAIN
    if ((from - begin) / $TK % ($CHAIN / $TK) == $CHAIN / $TK - 1) {
      UNROLL for (int i = 0; i < $RM; i++)
        UNROLL for (int j = 0; j < $RN; j++) total[i][j] += acc[i][j], acc[i][j] = 0;
    }
$end
  }
$if STORE4
  UNROLL for (int j = 0; j < $RN; j += 4) {
    const int n = n0 + j * ($TN / $RN) + 4 * tx;
    if (n >= N) continue;
    UNROLL for (int i = 0; i < $RM; i++) {
      const int m = m0 + i / 4 * (4 * ($TM / $RM)) + 4 * ty + i % 4;
      $NAME_quad value;
      UNROLL for (int x = 0; x < 4; x++)
        value.v[x] = $SUMFOUR;
      if (m < M) $WRITE
    }
  }
$else
  UNROLL for (int j = 0; j < $RN; j++) {
    const int n = n0 + j / 4 * (4 * ($TN / $RN)) + 4 * tx + j % 4;
    if (n >= N) continue;
    UNROLL for (int i = 0; i < $RM; i++) {
      const int m = m0 + i / 4 * (4 * ($TM / $RM)) + 4 * ty + i % 4;
      const $T value = $SUM;
      if (m < M) $WRITE
    }
  }
$end
}
$if SUMMED

// The parts of each sum, in order; then what is behind it.
extern "C" __global__ void __launch_bounds__(256)
$NAME_sum($PARAMETERS, const $T *__restrict__ parts, int M, int N, int splits, long long all) {
  const long long e = (long long)blockIdx.x * 256 + threadIdx.x;
  if (e >= all) return;
  const int n = (int)(e % N), m = (int)(e / N % M);
  const long long z = e / N / M;
  $T value = 0;
  for (int s = 0; s < splits; s++) value += parts[((z * splits + s) * M + m) * N + n];
  $store(z, m, n, value);
}
$end
