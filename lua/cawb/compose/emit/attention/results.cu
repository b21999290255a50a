// The rows of a warp in the end, divided by the sums of their weights.
$if TILES:   UNROLL for (int m = 0; m < $TILES; m++)
    UNROLL for (int half = 0; half < 2; half++) {
      const int row = $ENDROW + lane / 4 + 8 * half;
      const float all = sum_of_row($ENDTOTAL[half]), share = $EMPTY(all) ? 0.0f : 1.0f / all;
      if ((unsigned)row >= $M) continue;
      UNROLL for (int j = 0; j < $ENDEACH; j++) {
        const int column = 8 * j + lane % 4 * 2;
        const float left = $ENDLEFT * share, right = $ENDRIGHT * share;
$if PAIRS
        if (column < $V) $put2(z, row, column / 2, left, right);
$else
        if (column < $V) $put(z, row, column, left);
        if (column + 1 < $V) $put(z, row, column + 1, right);
$end
      }
    }
