$PARTSUMS
// COUNT steps of 16 products: the small ones of all steps first, because a tensor core cuts its sum off towards zero.
template <int COUNT>
static __device__ __forceinline__ void $NAME_steps(float (&sum)[$TILES][4], const unsigned *upper, const unsigned *lower,
                                                   const int *offsets, const uint4 *weights) {
  unsigned high[COUNT][4], low[COUNT][4];
  UNROLL for (int s = 0; s < COUNT; s++) {
    const int2 near = *(const int2 *)(offsets + 16 * s), far = *(const int2 *)(offsets + 16 * s + 8);
    join_pairs(upper[near.x], upper[near.y], high[s][0], low[s][0]);
    join_pairs(lower[near.x], lower[near.y], high[s][1], low[s][1]);
    join_pairs(upper[far.x], upper[far.y], high[s][2], low[s][2]);
    join_pairs(lower[far.x], lower[far.y], high[s][3], low[s][3]);
  }
  UNROLL for (int j = 0; j < $TILES; j += $BESIDE) {                // tiles beside each other: a product waits for the one before it
    uint4 b[$BESIDE][COUNT];
    float part[$BESIDE][4] = {};
    UNROLL for (int s = 0; s < $BESIDE * COUNT; s++) b[s % $BESIDE][s / $BESIDE] = weights[(s / $BESIDE * ($COLUMNS / 8) + j + s % $BESIDE) * 32];
$PRODUCTS
    UNROLL for (int k = 0; k < 4 * $BESIDE; k++) sum[j + k / 4][k % 4] += part[k / 4][k % 4];
  }
}
