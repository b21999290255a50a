    // A thread has eight neighbours of a row, in 16 bytes.
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int row = tile.m * 128 + line + 8 * half;
#pragma unroll
      for (int j = 0; j < $SUMS / 16; j++) {
        const int column = tile.n * $TILEN + 32 * j + 8 * (t % 4);
        float v[8];
#pragma unroll
        for (int i = 0; i < 8; i++) v[i] = sum[16 * j + i / 2 * 4 + 2 * half + i % 2];
$if TURNSEIGHT
        turn_eight(v);
$end
        if (row < $M$INSIDE) $put_eight(tile.set, tile.z, row, column / 8, v);
      }
    }
