// Whether no score of a step counts; whether none is hidden; the first step from this one on that has scores.
static __device__ __forceinline__ bool $NAME_is_hidden(int first, int step) { return $HIDDEN; }
static __device__ __forceinline__ bool $NAME_is_open(int first, int step) { return $OPEN; }
static __device__ __forceinline__ int $NAME_next(int first, int step) {
$if HIDES:   while (step < $STEPS && $NAME_is_hidden(first, step)) step++;
  return step;
}

// A thread's scores of a step as they are to be, from its own row and column on: four for each of eight keys, two of them eight rows below.
static __device__ __forceinline__ void $NAME_mask($PARAMETERS, float *s, int z, int from, int step) {
  UNROLL for (int i = 0; i < $KEYS / 2; i++) {
    const int row = from + i / 2 % 2 * 8, column = $KEYS * step + threadIdx.x % 4 * 2 + i / 4 * 8 + i % 2;
    s[i] = (unsigned)row < $M && column < $N ? $score(z, row, column, s[i]) : -INFINITY;
  }
}
