// The same without tensor cores, for $PLAINLY: 64 x 64 sums a block of 256
// threads, 4 x 4 each. `a` and `b` have 16 rows.
static __device__ __forceinline__ void $NAME_plain_tile($PARAMETERS, float (*a)[68], float (*b)[68], int set, int z, int m, int n) {
  const int t = threadIdx.x;
  const $NAME_tile tile = { set, z, 0, m, n, 0, 0 };
  float sum[4][4] = {};
  for (int step = 0; step < $NAME_steps(tile.set); step++) {
    const int chunk = $NAME_chunk(tile.set, step) * 64, shift = $NAME_shift(tile.set, step), before = ($NAME_before(tile.set) + step) * 64;
    float part[4][4] = {};
    for (int from = 0; from < min(64, $DEPTH/**/ - chunk); from += 16) {
      RARE for (int j = t; j < 16 * 64; j += 256) {
        const int ka = $AK, ra = tile.m * 64 + $AR + shift, kb = $BK, rb = tile.n * 64 + $BR;
        a[ka][$AR] = ra < $ROWS/**/ && chunk + from + ka < $DEPTH/**/ ? $left(tile.z, ra, chunk + from + ka) : 0.0f;
        b[kb][$BR] = rb < $N/**/ && chunk + from + kb < $DEPTH/**/ ? $right(tile.z, rb, before + from + kb) : 0.0f;
      }
      asm volatile("bar.sync 3, 256;" ::: "memory");
      RARE for (int k = 0; k < min(16, $DEPTH/**/ - chunk - from); k++)
        UNROLL for (int y = 0; y < 4; y++)
          UNROLL for (int x = 0; x < 4; x++)
$if GAPS:             if (__float_as_uint(b[k][t % 16 * 4 + x]) != 1u << 31)           // a weight that is none
            part[y][x] = fmaf(a[k][t / 16 + 16 * y], b[k][t % 16 * 4 + x], part[y][x]);
      asm volatile("bar.sync 3, 256;" ::: "memory");
    }
    UNROLL for (int y = 0; y < 4; y++)
      UNROLL for (int x = 0; x < 4; x++) sum[y][x] += part[y][x];
  }
  UNROLL for (int y = 0; y < 4; y++)
    UNROLL for (int x = 0; x < 4; x += 2) {
      const int row = tile.m * 64 + t / 16 + 16 * y, column = tile.n * 64 + t % 16 * 4 + x;
      const float first = sum[y][x], second = sum[y][x + 1];
      if (row >= $M/**/) continue;
$STORE
    }
}

static __device__ __forceinline__ void $NAME_plain($PARAMETERS, float (*a)[68], float (*b)[68]) {
  const int down = ($M/**/ + 63) / 64, across = ($N/**/ + 63) / 64;
  for (int i = blockIdx.x; i < $SETS/**/ * $BATCH/**/ * down * across; i += gridDim.x)
    $NAME_plain_tile($PASS, a, b, i / (down * across * $BATCH), i / (down * across) % $BATCH, i / across % down, i % across);
}
