    // Sums of a step begin at zero and leave the tensor cores, with the scales of their row and column if they have some. The groups take turns.
    float part[$SUMS];
$if SCALED:     // Scales have twice as many places as stages. Reads of shared memory wait while the tensor cores read theirs: on an H200 the last ones came
$if SCALED:     // behind the stage's release, and the next copy was there. A place is filled again when the next step of its stage has been released.
$if SCALED:     float2 scale[$SUMS / 4];
$if !SCALED:     int beyond = bad;
$if CHECK:     float upmost = 0.0f, lowmost = 0.0f;
    UNROLL for (int j = 0; j < $SUMS; j++) sum[j] = 0.0f;
    for (int step = tile.first; step < tile.last; step++) {
      const unsigned from = shared_address(stages) + s * $LOOP_STAGE;
$if SCALED
      const int off = $NAME_shift(tile.set, step) % 8;
      const unsigned long long da = rows_descriptor(from + ((group - 1) * 64 + off) * 128), db = rows_descriptor(from + $PARTS * $LOOP_A);
      barrier_wait(shared_address(&full[s]), phase);
$else
      const unsigned long long da = rows_descriptor(from + (group - 1) * 64 * 128);
      const unsigned long long db = rows_descriptor(shared_address(stages) + $STAGES * $LOOP_STAGE + step * 3 * $LOOP_B);
      barrier_wait(shared_address(&full[s]), phase);
      beyond |= past[i / gridDim.x % 8] == tile.m;
$end
      $UNROLLED for (int first = 0; first < $DEEPEST / 16; first += $TERMS / 16) {
        hold(part);
        turn_wait(group);
        products_begin();
$LIST
        products_end();
        turn_pass(3 - group);
$if SCALED
        const float *rows = (const float *)(stages + $SCALESAT) + (s + phase * $STAGES) * ($AROWS + $TILEN) + off + line;
        const float2 *columns = (const float2 *)(rows - off - line + $AROWS) + t % 4;
        const float upper = rows[0], lower = rows[8];
$if CHECK:         upmost = fmaxf(upmost, upper), lowmost = fmaxf(lowmost, lower);
        UNROLL for (int j = 0; j < $SUMS / 4; j++) scale[j] = columns[4 * j];
$end
        products_wait<0>();
        hold(part);
        if (first + $TERMS / 16 == $DEEPEST / 16 && t % 32 == 0) barrier_arrive(shared_address(&empty[s]));      // each warp for itself
        UNROLL for (int j = 0; j < $SUMS; j++)
$if SCALED:           sum[j] = fmaf(part[j] * (j & 2 ? lower : upper), j & 1 ? scale[j / 4].y : scale[j / 4].x, sum[j]);
$if !SCALED:           sum[j] += part[j];
      }
      if (++s == $STAGES) s = 0, phase ^= 1;
    }
$if CHECK
    // What was lost of numbers counts in a result that is less than 2^-15 of its row's largest times its column's. Of sums of one
    // step the columns' largest are at hand.
    if (is_checked) {
      __shared__ float across[2][$TILEN];
      if (!$ONE) {
        group_meet(group);
        for (int j = t; j < $TILEN; j += 128) {
          const float *from = b_scales + ((size_t)tile.z * $BBATCH/**/ + $NAME_before(tile.set) + tile.first) * ($BOCTETS/**/ * 8) + tile.n * $TILEN + j;
          float most = 0.0f;
#pragma unroll 8
          for (int step = tile.first; step < tile.last; step++, from += $BOCTETS * 8) most = fmaxf(most, *from);
          across[group - 1][j] = most * 32768.0f;
        }
        group_meet(group);
      }
      unsigned long long lost = 0;                           // a bit for each two neighbours
      UNROLL for (int j = 0; j < $SUMS; j += 2) {
        const int row = tile.m * 128 + line + (j & 2 ? 8 : 0), at = j / 4 * 8 + 2 * (t % 4), column = tile.n * $TILEN + at;
        const float *const most = across[group - 1] + at, own = j & 2 ? lowmost : upmost;
        const float first = own * ($ONE ? scale[j / 4].x * 32768.0f : most[0]), second = own * ($ONE ? scale[j / 4].y * 32768.0f : most[1]);
        const bool is_lost = ($SHOWNfabsf(sum[j]) < first) | ($OTHERSHOWN(column + 1 < $N/**/) & (fabsf(sum[j + 1]) < second));
        lost |= (unsigned long long)((row < $M/**/) & $WITHINis_lost) << j / 2;
      }
#pragma unroll 1
      for (; lost; lost &= lost - 1) {
        const int j = __ffsll(lost) - 1, row = tile.m * 128 + line + j % 2 * 8, pair = tile.n * ($TILEN / 2) + j / 2 * 4 + t % 4;
        note_again(again, many, $AGAIN, (((long long)tile.set * $BATCH + tile.z) * $M + row) * (($N + 1) / 2) + pair);
      }
    }
$end
