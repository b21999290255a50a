// The sums of all parts of k.
extern "C" __global__ void __launch_bounds__(256)
$NAME_finish($PARAMETERS, $RANGESconst float *__restrict__ partial) {
$if DONE:   if ($DONE) return;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < $PLACES/**/; i += gridDim.x * 256ll) {
    const int z = i / ((long long)$M * (($N + 1) / 2)), row = i / (($N + 1) / 2) % $M, column = i % (($N + 1) / 2) * 2;
    const float *from = partial + ((size_t)z * $SPLITS/**/ * $M/**/ + row) * $N/**/ + column;
    float first = 0.0f, second = 0.0f;
    for (int p = 0; p < $SPLITS/**/; p++, from += (size_t)$M/**/ * $N/**/) {
      first += from[0];
      if (column + 1 < $N/**/) second += from[1];
    }
    const $NAME_tile tile = { 0, z, 0, 0, 0, 0, 0 };
$STORE
  }
}
