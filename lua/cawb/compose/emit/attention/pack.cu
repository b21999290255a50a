// Keys and values of a step as two parts of 16 bits each, [high, low][$KEYS][$DPAD] and [high, low][$KEYS][$VPAD], scaled by a
// power of two that is the step's own; scales: what undoes these, the first one negative where 16 bits do not hold the numbers:
// one is NaN or infinite, a row of values is 2^-12 of the largest, or two values 2^-24: one alone, as of random numbers one in
// millions is, is nothing beside its row.

enum { $NAME_KEYBYTES = 4 * $KEYS * $DPAD, $NAME_BYTES = 4 * $KEYS * ($DPAD + $VPAD) };

// Where four neighbours of a row lie in a tile of so many rows and bytes of a row: its columns 4 lane and on.
static __device__ __forceinline__ int $NAME_place(int row, int lane, int rows, int pitch) {
  return lane / 16 * (rows * 128) + row * 128 + ((lane / 2 ^ row) & 7) * 16 + lane % 2 * 8;
}

// Four neighbours of a row, scaled and split; `lift` as in tensor.cuh.
static __device__ __forceinline__ void $NAME_put_parts(unsigned char *to, const float (&v)[4], int e, int part, float lift) {
  const float first = power_of_two(e / 2), second = power_of_two(e - e / 2);
  uint2 high, low;
  high.x = split_lifted(v[0] * first * second, v[1] * first * second, lift, low.x);
  high.y = split_lifted(v[2] * first * second, v[3] * first * second, lift, low.y);
  *(uint2 *)to = high, *(uint2 *)(to + part) = low;
}

extern "C" __global__ void __launch_bounds__(256)
$NAME_pack($PARAMETERS, unsigned char *__restrict__ parts, float *__restrict__ scales) {
  __shared__ unsigned largest[2], least;
  const int z = blockIdx.x / $STEPS, step = blockIdx.x % $STEPS, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) largest[0] = largest[1] = 0, least = ~0u;
  __syncthreads();
  float k[$KEYS / 8][4] = {}, v[$KEYS / 8][4] = {};
  int past = 0;
  unsigned most[2] = {};
  UNROLL for (int i = 0; i < $KEYS / 8; i++) {
    const int row = $KEYS * step + warp + 8 * i;
    if (row < $N) { $FOURK }
    if (row < $N) { $FOURV }
    unsigned own = 0;
    UNROLL for (int j = 0; j < 4; j++) {
      past |= !(fabsf(k[i][j]) < INFINITY) || !(fabsf(v[i][j]) < INFINITY);
      most[0] = max(most[0], __float_as_uint(fabsf(k[i][j]))), own = max(own, __float_as_uint(fabsf(v[i][j])));
    }
    own = __reduce_max_sync(~0u, own);
    most[1] = max(most[1], own);
    if (lane == 0 && own > 0) atomicMin(&least, own);
  }
  most[0] = __reduce_max_sync(~0u, most[0]);
  if (lane == 0) atomicMax(&largest[0], most[0]), atomicMax(&largest[1], most[1]);
  past = __syncthreads_or(past);
  const float key = __uint_as_float(largest[0]), value = __uint_as_float(largest[1]);
  const int ek = exponent_of(key), ev = exponent_of(value);
  past |= key > 0x1p80f || value > 0x1p80f || (least != ~0u && __uint_as_float(least) < value * 0x1p-12f);
  // Where a query's largest weights meet values of nothing, small weights make its result, and these keep fewer bits.
  int none = 0;
  UNROLL for (int i = 0; i < 4 * ($KEYS / 8); i++)
    if ($KEYS * step + warp + i / 4 * 8 < $N && 4 * lane + i % 4 < $V && fabsf(v[i / 4][i % 4]) <= value * 0x1p-24f) none++;
  const int threads = __syncthreads_count(none > 0);
  past |= none > 1 || threads > 1;
  unsigned char *const to = parts + (size_t)blockIdx.x * $NAME_BYTES;
  UNROLL for (int i = 0; i < $KEYS / 8; i++) {
    const int row = warp + 8 * i;
    if (lane < $DPAD / 4) $NAME_put_parts(to + $NAME_place(row, lane, $KEYS, $DPAD * 2), k[i], ek, 2 * $KEYS * $DPAD, $LIFTK);
    if (lane < $VPAD / 4) $NAME_put_parts(to + $NAME_KEYBYTES + $NAME_place(row, lane, $KEYS, $VPAD * 2), v[i], ev, 2 * $KEYS * $VPAD, $LIFTV);
  }
  past = __syncthreads_or(past);
  if (threadIdx.x < 2) scales[2 * blockIdx.x + threadIdx.x] = past ? -1.0f : largest[threadIdx.x] == 0 ? 0.0f : power_of_two(threadIdx.x == 0 ? -ek : -ev);
}
