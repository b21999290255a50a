// $NAME: $WHAT. Only the weights are packed ahead, and those of a tile's columns stay in shared memory, behind the stages. Four warps, a
// thread a row, read the left factor and split its numbers. A block stays with its columns.
struct $NAME_tile { int set, z, m, n, first, last; };

static __device__ __forceinline__ $NAME_tile $NAME_at(int i) {
  return { 0, i % $COLS / $ACROSS, i / $COLS, i % $COLS % $ACROSS, 0, $CHUNKS/**/ };
}

// 32 numbers of a row, from k on.
static __device__ __forceinline__ void $NAME_fetch($PARAMETERS, float (&v)[32], int z, int row, int k) {
  UNROLL for (int j = 0; j < 32; j++) v[j] = row < $ROWS && k + j < $DEPTH ? $left(z, row, k + j) : 0.0f;
}

// Two results without tensor cores, where a number is infinite, or nearly, or so small that the parts do not hold it.
static __device__ __noinline__ float2 $NAME_exact($PARAMETERS, int z, int row, int column) {
  float2 sum = { 0.0f, 0.0f };
  for (int from = 0; from < $DEPTH/**/; from += 64) {
    float2 part = { 0.0f, 0.0f };
    for (int k = from; k < min(from + 64, $DEPTH/**/); k++) {
      const float a = $left(z, row, k);
      part.x = fmaf(a, $right(z, column, k), part.x);
      if (column + 1 < $N/**/) part.y = fmaf(a, $right(z, column + 1, k), part.y);
    }
    sum.x += part.x, sum.y += part.y;
  }
  return sum;
}
