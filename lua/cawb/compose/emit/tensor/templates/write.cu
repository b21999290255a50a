$if LAST
    // Each block leaves its part of the sums. The last block of a tile to arrive adds up all parts, in order, and goes on.
    const int number = (tile.z * $DOWN + tile.m) * $ACROSS + tile.n;
    float4 *const parts = (float4 *)partial + (size_t)number * ($SPLITS * $FOURS * 256) + $OWN;
    const bool is_inside = tile.m * 128 + line < $M/**/;
    UNROLL for (int j = 0; j < $FOURS; j++) {
      const float *const v = $FOUR;
      if (is_inside) __stcg(parts + (tile.part * $FOURS + j) * 256, make_float4(v[0], v[1], v[2], v[3]));
    }
    __shared__ bool is_last[$MEETS];
    $MEET;
    if (t == 0) is_last[$WHICH] = arrive_last(arrived + number * $MEETS + $WHICH, $SPLITS);
    $MEET;
    if (!is_last[$WHICH]) continue;
    UNROLL for (int j = 0; j < $FOURS; j++) {
      float *const v = $FOUR;
      v[0] = v[1] = v[2] = v[3] = 0.0f;
    }
    for (int p = 0; p < $SPLITS && is_inside; p++)
      UNROLL for (int j = 0; j < $FOURS; j++) {
        const float4 w = __ldcg(parts + (p * $FOURS + j) * 256);
        float *const v = $FOUR;
        v[0] += w.x, v[1] += w.y, v[2] += w.z, v[3] += w.w;
      }
$end
$if STAGED
    // Neighbours in memory are neighbouring rows: 32 columns of the group's rows at a time are turned in shared memory, so that a warp
    // writes what lies together.
    float *const stage = (float *)(stages + $TURNEDAT) + (group - 1) * (32 * 68);
    UNROLL for (int from = 0; from < $TILEN; from += 32) {
      group_meet(group);
      UNROLL for (int j = from / 8; j < min(from + 32, $TILEN) / 8; j++)
        UNROLL for (int k = 0; k < 4; k++)
          stage[(8 * j - from + 2 * (t % 4) + k % 2) * 68 + line - (group - 1) * 64 + k / 2 * 8] = sum[4 * j + k];
      group_meet(group);
      UNROLL for (int at = t % $SPREAD; at < 64 * $SIDE; at += $SPREAD) {
        const int row = tile.m * 128 + (group - 1) * 64 + at / $SIDE;
        if (row >= $M/**/) continue;
        UNROLL for (int k = t / $SPREAD; k < min(32, $TILEN - from) / $SIDE; k += 128 / $SPREAD) {
          const int own = (tile.n * $TILEN + from) / $SIDE + k;
          if (own < $N/**/ / $SIDE) $put_one(tile.set, tile.z, row, own, at % $SIDE, stage[(k * $SIDE + at % $SIDE) * 68 + at / $SIDE]);
        }
      }
    }
$else
    UNROLL for (int half = 0; half < $HALVES; half++) {
      const int row = tile.m * 128 + line + 8 * half;
$if EIGHT
      // A thread has eight neighbours of a row, in 16 bytes.
      UNROLL for (int j = 0; j < $EACH; j += 4) {
        const int column = $COLUMN + 8 * j + 8 * (t % 4);
        float v[8];
        UNROLL for (int i = 0; i < 8; i++) v[i] = $EIGHTH;
$if TURNSEIGHT:         turn_eight(v);
        if (row < $M/**/$INSIDE) $put_eight(tile.set, tile.z, row, column / 8, v);
      }
$else
      if (row >= $M/**/) continue;
      UNROLL for (int j = 0; j < $EACH; j++) {
        const int column = $COLUMN + 8 * j + 2 * (t % 4);
        const float first = $FIRSTSUM, second = $SECONDSUM;
$RESULT
      }
$end
    }
$end
