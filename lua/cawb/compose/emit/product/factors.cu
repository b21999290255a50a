// Tiles of both factors on their way from memory, a step of k each; zeros beyond the sides.
static __device__ __forceinline__ void $NAME_fetch_a($PARAMETERS, $T (&held)[$HELDA], long long z, int first, int M, int from,
                                                      int end) {
  UNROLL for (int i = 0; i < $HELDA / $WIDEA; i++) {
    const int e = $THREAD + i * $EACH, m = first + $ROWA, k = from + $COLA;
    $T *v = held + i * $WIDEA;
    if (m < M && k < end) $LOADA
    else for (int j = 0; j < $WIDEA; j++) v[j] = 0;
  }
}

static __device__ __forceinline__ void $NAME_fetch_b($PARAMETERS, $T (&held)[$HELDB], long long z, int first, int N, int from, int end) {
  UNROLL for (int i = 0; i < $HELDB / $WIDEB; i++) {
    const int e = $THREAD + i * $EACH, n = first + $ROWB, k = from + $COLB;
    $T *v = held + i * $WIDEB;
    if (n < N && k < end) $LOADB
    else for (int j = 0; j < $WIDEB; j++) v[j] = 0;
  }
}
