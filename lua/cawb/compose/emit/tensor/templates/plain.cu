// A tile of `down` times `across`, and a part of its steps: parts are innermost.
static __device__ __forceinline__ $NAME_tile $NAME_cut(int i, int down, int across) {
  const int part = i % $SPLITS, all = i / $SPLITS, set = all / (down * across * $BATCH);
  return { set, all / (down * across) % $BATCH, part, all / across % down, all % across, part * $PER/**/, min($NAME_steps(set), part * $PER/**/ + $PER/**/) };
}
$if ARRIVES

// Blocks have left parts of the sums of tiles of `rows` x 64. The last of 256 threads each to arrive adds up a tile's. A number, not an argument of
// a template: kernels that differ in numbers alone become one (plan/merge.lua).
static __device__ __noinline__ void $NAME_add_up($PARAMETERS$PARTLY, $NAME_tile tile, int number, int rows) {
  __shared__ bool is_last;
  asm volatile("bar.sync 3, 256;" ::: "memory");
  if (threadIdx.x == 0) is_last = arrive_last(arrived + number, $SPLITS);
  asm volatile("bar.sync 3, 256;" ::: "memory");
  for (int j = threadIdx.x; is_last && j < rows * 32; j += 256) {
    const int row = tile.m * rows + j / 32, column = tile.n * 64 + j % 32 * 2;
    if (row >= $M/**/ || column >= $N/**/) continue;
    const float *from = partial + ((size_t)tile.z * $SPLITS/**/ * $M/**/ + row) * $N/**/ + column;
    float first = 0.0f, second = 0.0f;
#pragma unroll 8
    for (int p = 0; p < $SPLITS; p++, from += (size_t)$M/**/ * $N/**/) {
      first += __ldcg(from);
      if (column + 1 < $N/**/) second += __ldcg(from + 1);
    }
$STORE
  }
}
$end

// The same without tensor cores, for $PLAINLY: 64 x 64 sums a block of 256
// threads, 4 x 4 each. `a` and `b` have 16 rows.
static __device__ __forceinline__ void $NAME_plain_tile($PARAMETERS$PARTLY, float (*a)[68], float (*b)[68], $NAME_tile tile) {
  const int t = threadIdx.x;
  float sum[4][4] = {};
  for (int step = tile.first; step < tile.last; step++) {
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
$LEAVE
    }
}

static __device__ __forceinline__ void $NAME_plain($PARAMETERS$PARTLY, float (*a)[68], float (*b)[68]) {
  const int down = ($M/**/ + 63) / 64, across = ($N/**/ + 63) / 64;
  for (int i = blockIdx.x; i < $SETS/**/ * $BATCH/**/ * down * across * $SPLITS; i += gridDim.x) {
    const $NAME_tile tile = $NAME_cut(i, down, across);
    $NAME_plain_tile($PASS$PASSPARTLY, a, b, tile);
$if ARRIVES:     $NAME_add_up($PASS$PASSPARTLY, tile, i / $SPLITS, 64);
  }
}
