// The rows of a warp of a warpgroup in the end, divided by the sums of their weights.
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int row = first + 64 * group + threadIdx.x / 32 % 4 * 16 + lane / 4 + 8 * half;
    const float all = sum_of_row(total[half]), share = $EMPTY(all) ? 0.0f : 1.0f / all;
    if ((unsigned)row >= $M) continue;
#pragma unroll
    for (int j = 0; j < $VN / 8; j++) {
      const int column = 8 * j + lane % 4 * 2;
      const float left = sum[4 * j + half * 2] * share, right = sum[4 * j + half * 2 + 1] * share;
$if PAIRS
      if (column < $V) $put2(z, row, column / 2, left, right);
$else
      if (column < $V) $put(z, row, column, left);
      if (column + 1 < $V) $put(z, row, column + 1, right);
$end
    }
  }
