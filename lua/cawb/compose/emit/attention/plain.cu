static __device__ __forceinline__ float $NAME_dot($PARAMETERS, int z, int row, int column) {
  float sum = 0.0f;
  for (int from = 0; from < $D; from += 32) {
    float part = 0.0f;
    for (int k = from; k < min(from + 32, $D); k++) part = fmaf($query(z, row, k), $key(z, column, k), part);
    sum += part;
  }
  return $SCALE$score(z, row, column, sum);
}

// $ROWS queries without tensor cores, for numbers that they do not take: a warp takes a row.
static __device__ __noinline__ void $NAME_plain($PARAMETERS, int z, int first) {
  const int lane = threadIdx.x % 32;
  for (int row = first + threadIdx.x / 32; row < min(first + $ROWS, $M); row += $WARPS) {
    float most = -INFINITY, total = 0.0f, sum[$STRIPS] = {};
    for (int column = lane; column < $N; column += 32) most = fmaxf(most, $NAME_dot($PASS, z, row, column));
    UNROLL for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    const float base = $FINITE(most);
    for (int from = 0; from < $N; from += 32) {
      const float p = from + lane < $N ? expf($NAME_dot($PASS, z, row, from + lane) - base) : 0.0f;
      float part[$STRIPS] = {};
      for (int k = 0; k < min(32, $N - from); k++) {
        const float weight = __shfl_sync(~0u, p, k);
        UNROLL for (int c = 0; c < $STRIPS; c++)
          if (c * 32 + lane < $V) part[c] = fmaf(weight, $value(z, from + k, c * 32 + lane), part[c]);
      }
      total += p;
      UNROLL for (int c = 0; c < $STRIPS; c++) sum[c] += part[c];
    }
    UNROLL for (int d = 16; d > 0; d /= 2) total += __shfl_xor_sync(~0u, total, d);
    UNROLL for (int c = 0; c < $STRIPS; c++)
      if (c * 32 + lane < $V) $put(z, row, c * 32 + lane, $EMPTY(total) ? 0.0f : sum[c] / total);
  }
}
