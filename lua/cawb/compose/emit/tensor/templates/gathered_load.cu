        unsigned char *const at = stages + s * $LOOP_STAGE + threadIdx.x * 128;
        int beyond = 0;
#pragma unroll 1
        for (int half = 0; half < $DEEPEST / 32; half++) {
          float v[4][8];
          UNROLL for (int j = 0; j < 32; j++) v[j / 8][j % 8] = next[j];
          const bool is_last = half + 1 == $DEEPEST / 32, is_end = is_last && step + 1 == $CHUNKS/**/;
          $NAME_fetch($PASS, next, z, (is_end ? tile.m + gridDim.x / $COLS : tile.m) * 128 + threadIdx.x, is_end ? 0 : is_last ? step * 64 + 64 : step * 64 + 32);
          UNROLL for (int q = 0; q < 4; q++) {
            beyond |= any_past(v[q]);
            in_parts(v[q], $LIFT, [&](int p, uint4 part) { *(uint4 *)(at + p * $LOOP_A + ((half * 4 + q) ^ (threadIdx.x & 7)) * 16) = part; });
          }
        }
        if (beyond) atomicMax(&past[i / gridDim.x % 8], tile.m);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");      // the tensor cores see what this thread wrote
        barrier_arrive(bar);
