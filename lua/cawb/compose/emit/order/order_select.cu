// $NAME: the first `most` of lines of n elements in order, a block a line. Digit by digit, from the highest,
// it finds the largest item that is among them; then it collects these and sorts them.
extern "C" __global__ void __launch_bounds__($THREADS)
$NAME($PARAMETERS, int n, int most, long long inner, long long lines) {
  __shared__ $NAME_item items[$SPAN];
  __shared__ int count[256], found, left, all;
  const long long o = blockIdx.x / inner, i = blockIdx.x % inner;
  unsigned long long head = 0;                     // digits of the largest item that are known
  int shift = 64;
  if (threadIdx.x == 0) left = most, all = n, found = 0;
  __syncthreads();
  while (left < all) {                             // all: items with that head, of which `left` are taken
    shift -= 8;
    for (int d = threadIdx.x; d < 256; d += $THREADS) count[d] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += $THREADS) {
      const $NAME_item item = $fetch(o, k, i, n);
      if (shift == 56 || item >> (shift + 8) == head) atomicAdd(&count[item >> shift & 255], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int d = 0, rest = left;
      while (count[d] < rest) rest -= count[d++];
      found = d, left = rest, all = count[d];
    }
    __syncthreads();
    head = head << 8 | found;
    __syncthreads();
  }
  if (threadIdx.x == 0) found = 0;
  for (int e = threadIdx.x; e < $SPAN; e += $THREADS) items[e] = ~($NAME_item)0;
  __syncthreads();
  for (int k = threadIdx.x; k < n; k += $THREADS) {
    const $NAME_item item = $fetch(o, k, i, n);
    if (shift == 64 || item >> shift <= head) items[atomicAdd(&found, 1)] = item;
  }
  $NAME_sort(items);
  for (int e = threadIdx.x; e < most; e += $THREADS) {
    const int at = $NAME_at(items[e]);
    $store(o, e, i, $load(o, at, i), at);
  }
}
