// $NAME: lines of n elements in order. Blocks sort stretches of $SPAN; each pass merges pairs of sorted
// runs: an item's place is its own in its run and the number of those in the other that are ahead of it.
extern "C" __global__ void __launch_bounds__($THREADS)
$NAME_runs($PARAMETERS, $NAME_item *__restrict__ to, int n, long long inner, int wide) {
  __shared__ $NAME_item items[$SPAN];
  const long long line = blockIdx.x / wide;
  const int first = blockIdx.x % wide * $SPAN;
  for (int e = threadIdx.x; e < $SPAN; e += $THREADS) items[e] = $fetch(line / inner, first + e, line % inner, n);
  $NAME_sort(items);
  for (int e = threadIdx.x; e < $SPAN && first + e < n; e += $THREADS) to[line * n + first + e] = items[e];
}

extern "C" __global__ void __launch_bounds__(256)
$NAME_merge($NAME_item *__restrict__ to, const $NAME_item *__restrict__ from, int n, int run, long long all) {
  const long long e = (long long)blockIdx.x * 256 + threadIdx.x;
  if (e >= all) return;
  const $NAME_item *line = from + e / n * n;
  const int k = (int)(e % n), own = k / run * run, other = own ^ run, begin = own < other ? own : other;
  int lo = min(other, n), hi = min(other + run, n);
  const int first = lo;
  while (lo < hi) {
    const int middle = (lo + hi) / 2;
    if ($NAME_ahead(line[middle], line[k])) lo = middle + 1; else hi = middle;
  }
  to[e / n * n + begin + (k - own) + (lo - first)] = line[k];
}

extern "C" __global__ void __launch_bounds__(256)
$NAME($PARAMETERS, const $NAME_item *__restrict__ from, int n, int most, long long inner, long long all) {
  const long long e = (long long)blockIdx.x * 256 + threadIdx.x;
  if (e >= all) return;
  const long long line = e / most;
  const int at = $NAME_at(from[line * n + e % most]);
  $store(line / inner, (int)(e % most), line % inner, $load(line / inner, at, line % inner), at);
}
