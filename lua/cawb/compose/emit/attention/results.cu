// The rows of a warp in the end, divided by the sums of their weights: attend_half and attend_pairs end with it.
#pragma unroll
  for (int m = 0; m < $TILES; m++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int row = first + (warp * $TILES + m) * 16 + lane / 4 + 8 * half;
      const float all = sum_of_row(total[m][half]), part = $EMPTY(all) ? 0.0f : 1.0f / all;
      if (row >= $M) continue;
#pragma unroll
      for (int j = 0; j < $VPAD / 8; j++) {
        const int column = 8 * j + lane % 4 * 2;
        const float left = sum[m][j][half * 2] * part, right = sum[m][j][half * 2 + 1] * part;
$if PAIRS
        if (column < $V) $put2(z, row, column / 2, left, right);
$else
        if (column < $V) $put(z, row, column, left);
        if (column + 1 < $V) $put(z, row, column + 1, right);
$end
      }
    }
