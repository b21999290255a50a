$if PART
    // Sums of a step leave the tensor cores, so many columns at a time, and are added up in float32. The groups take turns.
    float part[$PART];
    UNROLL for (int j = 0; j < $SUMS; j++) sum[j] = 0.0f;
    for (int step = tile.first; step < tile.last; step++) {
      const unsigned from = shared_address(stages) + s * $LOOP_STAGE;
      const unsigned long long da = $ADESCRIPTOR, right = $BDESCRIPTOR;
      const int first = 0;
      barrier_wait(shared_address(&full[s]), phase);
$if LIES:       copies_seen();
      UNROLL for (int n = 0; n < $SUMS; n += $PART) {
        const unsigned long long db = right + 2 * n * 128 / 16;
        hold(part);
        turn_wait(group);
        products_begin();
$LIST
        products_end();
        turn_pass(3 - group);
        products_wait<0>();
        hold(part);
        if (n + $PART == $SUMS) {                            // each warp for itself
          __syncwarp();
          if (t % 32 == 0) barrier_arrive(shared_address(&empty[s]));
        }
        UNROLL for (int j = 0; j < $PART; j++) sum[n + j] += part[j];
      }
      if (++s == $STAGES) s = 0, phase ^= 1;
    }
$else
    // Sums stay where the tensor cores add to them, over all steps. The stage of a step is free when the next step has begun.
    int before = -1;                                         // the stage of the last step
    hold(sum);
    for (int step = tile.first; step < tile.last; step++) {
      const unsigned from = shared_address(stages) + $SLOTS + s * $LOOP_STAGE;
      const unsigned long long da = $ADESCRIPTOR, db = $BDESCRIPTOR;
      const int first = 0;
$if NEAR:       if (step % $NEAR == 0) barrier_wait(shared_address(&full[$STAGES + r]), turn);
      barrier_wait(shared_address(&full[s]), phase);
$if LIES:       copies_seen();
      products_begin();
$LIST
      products_end();
      if (before >= 0) {
        products_wait<1>();
        if (t % 32 == 0) barrier_arrive(shared_address(&empty[before]));
$if NEAR:         if (t % 32 == 0 && step % $NEAR == 0) barrier_arrive(shared_address(&empty[$STAGES + (r + $ROWSLOTS - 1) % $ROWSLOTS]));
      }
      before = s;
      if (++s == $STAGES) s = 0, phase ^= 1;
$if NEAR:       if (step % $NEAR == $NEAR - 1 && ++r == $ROWSLOTS) r = 0, turn ^= 1;
    }
    products_wait<0>();
    hold(sum);
    if (before >= 0 && t % 32 == 0) {
      barrier_arrive(shared_address(&empty[before]));
$if NEAR:       barrier_arrive(shared_address(&empty[$STAGES + (r + $ROWSLOTS - 1) % $ROWSLOTS]));
    }
    if (before < 0) {                                        // no step at all
      UNROLL for (int j = 0; j < $SUMS; j++) sum[j] = 0.0f;
    }
$end
