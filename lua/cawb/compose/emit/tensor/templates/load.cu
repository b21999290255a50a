$if PACKED
        if (threadIdx.x == 0) {
          barrier_expect(bar, $PACKEDBYTES);
$if SCALED:           const unsigned scales = shared_address(stages) + $SCALESAT + (s + phase * $STAGES) * ($AROWS + $TILEN) * 4;
$if AHERE
          const int row = (tile.m * 128 + $NAME_shift(tile.set, step)) / 8 * 8;
          const size_t ca = (size_t)z * $ABATCH/**/ + $NAME_chunk(tile.set, step);
          UNROLL for (int p = 0; p < $PARTS; p++) bulk_copy(to + p * $LOOP_A, a + ((ca * $PARTS + p) * $AOCTETS * 8 + row) * 128, $LOOP_A, bar);
$if SCALED:           bulk_copy(scales, a_scales + ca * ($AOCTETS * 8) + row, $AROWS * 4, bar);
$end
$if BPACKED
          const size_t cb = (size_t)z * $BBATCH/**/ + $NAME_before(tile.set) + step;
          UNROLL for (int p = 0; p < $PARTS; p++)
            bulk_copy(to + $BAT + p * $LOOP_B, b + ((cb * $PARTS + p) * $BOCTETS * 8 + tile.n * $TILEN) * 128, $LOOP_B, bar);
$if SCALED:           bulk_copy(scales + $AROWS * 4, b_scales + cb * ($BOCTETS * 8) + tile.n * $TILEN, $TILEN * 4, bar);
$end
        }
$end
$if ALIES:         $ABRING(to, left, $AROOM, $DEEP);
$if ALIES:         left += $ASTEP;
$if BLIES:         $BBRING(to + $LOOP_A, right, $BROOM, $DEEP);
$if BLIES:         right += $BSTEP;
$if LIES:         barrier_copies(bar);
