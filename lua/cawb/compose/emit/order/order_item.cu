// An element to be sorted: bits whose order is that of the values, NaN above all, and where it was. Of equal
// values the one that was first comes first, so no two items are equal.
$if WIDE
struct $NAME_item { $KEY key; unsigned at; };

static __device__ __forceinline__ $NAME_item $NAME_make($KEY key, unsigned at) { return { key, at }; }

static __device__ __forceinline__ unsigned $NAME_at($NAME_item a) { return a.at; }

static __device__ __forceinline__ bool $NAME_ahead($NAME_item a, $NAME_item b) {
  return a.key < b.key || (a.key == b.key && a.at < b.at);
}
$else
typedef unsigned long long $NAME_item;

static __device__ __forceinline__ $NAME_item $NAME_make($KEY key, unsigned at) { return ($NAME_item)key << 32 | at; }

static __device__ __forceinline__ unsigned $NAME_at($NAME_item a) { return (unsigned)a; }

static __device__ __forceinline__ bool $NAME_ahead($NAME_item a, $NAME_item b) { return a < b; }
$end

// The element at o, k, i; behind the line's end something that comes last.
static __device__ __forceinline__ $NAME_item $NAME_fetch($PARAMETERS, long long o, int k, long long i, int n) {
  if (k >= n) return $NAME_make(~($KEY)0, k);
  const $T v = $load(o, k, i);
  return $NAME_make($BITS, k);
}

// Sorts each of the block's rows of $SPAN items by itself.
static __device__ __forceinline__ void $NAME_sort($NAME_item *items) {
  for (int size = 2; size <= $SPAN; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      for (int p = threadIdx.x; p < $SPAN * $ROWS / 2; p += $THREADS) {
        const int a = 2 * p - (p & (step - 1)), b = a + step;
        const $NAME_item x = items[a], y = items[b];
        if ($NAME_ahead(y, x) == ((a & ($SPAN - 1) & size) == 0)) items[a] = y, items[b] = x;
      }
    }
  __syncthreads();
}

