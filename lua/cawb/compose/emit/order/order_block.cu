// $NAME: the first `most` of lines of n elements in order, $ROWS lines a block, by a bitonic network.
extern "C" __global__ void __launch_bounds__($THREADS)
$NAME($PARAMETERS, int n, int most, long long inner, long long lines) {
  __shared__ $NAME_item items[$ROWS * $SPAN];
  for (int e = threadIdx.x; e < $ROWS * $SPAN; e += $THREADS) {
    const long long line = (long long)blockIdx.x * $ROWS + e / $SPAN;
    items[e] = $fetch(line / inner, e % $SPAN, line % inner, line < lines ? n : 0);
  }
  $NAME_sort(items);
  for (int e = threadIdx.x; e < $ROWS * $SPAN; e += $THREADS) {
    const long long line = (long long)blockIdx.x * $ROWS + e / $SPAN;
    const int at = $NAME_at(items[e]);
    if (line < lines && e % $SPAN < most)
      $store(line / inner, e % $SPAN, line % inner, $load(line / inner, at, line % inner), at);
  }
}
