    const $NAME_tile own = $NAME_at(blockIdx.x);
    if (threadIdx.x == 0) {
      barrier_expect(shared_address(&ready), $CHUNKS * 3 * $LOOP_B);
      for (int i = 0; i < $CHUNKS/**/ * 3; i++)
        bulk_copy(shared_address(stages) + $STAGES * $LOOP_STAGE + i * $LOOP_B, b + ((size_t)(own.z * $CHUNKS * 3 + i) * $BOCTETS * 8 + own.n * $TILEN) * 128,
                  $LOOP_B, shared_address(&ready));
    }
    float next[32];
    $NAME_fetch($PASS, next, own.z, own.m * 128 + threadIdx.x, 0);
