// Parts of sums over $NAME's results: of each box and channel $SAYS.

static __device__ __forceinline__ bool $NAME_is_inside($NAME_tile tile, int row) {
  return tile.d + row / ($BOXH * $BOXW) < $LASTD && tile.h + row / $BOXW % $BOXH < $LASTH && tile.w + row % $BOXW < $LASTW;
}

// A pass's results that tensor cores cannot have, into what is staged: all of them (`redo` is 2), or those that read places with a mark. A
// warp has a place, and each lane some of its columns.
static __device__ __forceinline__ void $NAME_repair($PARAMETERS, int z, int cut, $NAME_tile tile, int redo, const unsigned *marks, int from,
                                                    float *stage) {
  RARE for (int row = threadIdx.x / 32; row < $ROWS; row += $THREADS / 32) {
    const int3 to = { row / ($BOXH * $BOXW), row / $BOXW % $BOXH, row % $BOXW };
    if (!(redo == 2 || $NAME_is_marked(to, 0, marks)) || !$NAME_is_inside(tile, row)) continue;
    RARE for (int own = threadIdx.x % 32; own < min($TILES * 8, $EACH - cut * $COLUMNS - from); own += 32)
      stage[own * $PITCH + row] = $NAME_plain($PASS, z, tile, to, 0, cut * $COLUMNS + from + own);
  }
  __syncthreads();
}

static __device__ __forceinline__ float $NAME_joined(float v) {
  UNROLL for (int d = 1; d < $LANES; d *= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

// Which of four places from `row` on are inside, a bit each.
static __device__ __forceinline__ unsigned $NAME_shown($NAME_tile tile, int row) {
  if ($BOXW >= 4) {
    const int left = tile.d + row / ($BOXH * $BOXW) < $LASTD && tile.h + row / $BOXW % $BOXH < $LASTH ? $LASTW - tile.w - row % $BOXW : 0;
    return left > 3 ? 15 : left > 0 ? (1 << left) - 1 : 0;
  }
  unsigned bits = 0;
  UNROLL for (int k = 0; k < 4; k++) bits |= (unsigned)$NAME_is_inside(tile, row + k) << k;
  return bits;
}

// What is summed, of a result in place `row` of a box; of one outside, something.
static __device__ __forceinline__ float $NAME_of($PARAMETERS, int o, $NAME_tile tile, int row, float sum) {
  const int d = min(tile.d + row / ($BOXH * $BOXW), $LASTD - 1), h = min(tile.h + row / $BOXW % $BOXH, $LASTH - 1);
  const int w = min(tile.w + row % $BOXW, $LASTW - 1);
  return $summed((long long)tile.n * $ALL + o, d, h, w, $VALUE);
}

// Of one box and channel `o`, $LANES neighbouring threads of it with packs of four places each, so numbered that neighbours read from all
// banks. WHOLE: no place of it lies outside; else what does is left out.
template <bool WHOLE>
static __device__ __forceinline__ void $NAME_part($PARAMETERS, int o, const float *line, $NAME_tile tile, int lane, float *to, bool is_one) {
  float4 held[$PACKS];
  UNROLL for (int k = 0; k < $PACKS; k++) {
    const int row = 4 * ($PACK);
    const float4 v = *(const float4 *)(line + row);
    held[k] = { $NAME_of($PASS, o, tile, row, v.x), $NAME_of($PASS, o, tile, row + 1, v.y), $NAME_of($PASS, o, tile, row + 2, v.z),
                $NAME_of($PASS, o, tile, row + 3, v.w) };
  }
$if SQUARES
  float first = __shfl_sync(~0u, held[0].x, threadIdx.x % 32 - lane);        // distances from it lose little where all are far from zero
  if (!(fabsf(first) < INFINITY)) first = 0.0f;
$else
  const float first = 0.0f;
$end
  float parts[4] = {};
  UNROLL for (int k = 0; k < $PACKS; k++) {
    const unsigned shown = WHOLE ? 15 : $NAME_shown(tile, 4 * ($PACK));
    if (WHOLE || shown & 1) parts[0] += held[k].x - first;
    if (WHOLE || shown & 2) parts[1] += held[k].y - first;
    if (WHOLE || shown & 4) parts[2] += held[k].z - first;
    if (WHOLE || shown & 8) parts[3] += held[k].w - first;
  }
  const float sum = $NAME_joined((parts[0] + parts[1]) + (parts[2] + parts[3]));
$if SQUARES
  const int count = WHOLE ? $ROWS : min($BOXD, $LASTD - tile.d) * min($BOXH, $LASTH - tile.h) * min($BOXW, $LASTW - tile.w);
  const float apart = sum / (float)count, middle = first + apart;
  float squares[4] = {};
  UNROLL for (int k = 0; k < $PACKS; k++) {
    const unsigned shown = WHOLE ? 15 : $NAME_shown(tile, 4 * ($PACK));
    const float4 v = { held[k].x - first - apart, held[k].y - first - apart, held[k].z - first - apart, held[k].w - first - apart };
    if (WHOLE || shown & 1) squares[0] = fmaf(v.x, v.x, squares[0]);
    if (WHOLE || shown & 2) squares[1] = fmaf(v.y, v.y, squares[1]);
    if (WHOLE || shown & 4) squares[2] = fmaf(v.z, v.z, squares[2]);
    if (WHOLE || shown & 8) squares[3] = fmaf(v.w, v.w, squares[3]);
  }
  const float own = $NAME_joined((squares[0] + squares[1]) + (squares[2] + squares[3]));
  if (is_one) to[0] = middle, to[$PLANE] = own;
$else
  if (is_one) to[0] = sum;
$end
}

static __device__ __forceinline__ void $NAME_parts($PARAMETERS, int z, int cut, $NAME_tile tile, int box, int from, const float *stage, float *to) {
  if (threadIdx.x / 32 * 32 >= $TILES * 8 * $LANES) return;
  const int own = min((int)threadIdx.x / $LANES, $TILES * 8 - 1), lane = threadIdx.x % $LANES, column = min(cut * $COLUMNS + from + own, $EACH - 1);
  const bool is_one = lane == 0 && threadIdx.x < $TILES * 8 * $LANES && cut * $COLUMNS + from + own < $EACH;
  const int o = z * $EACH + column;
  to += ((long long)tile.n * $ALL + o) * $ITEMSEACH + box;
  if (tile.d + $BOXD <= $LASTD && tile.h + $BOXH <= $LASTH && tile.w + $BOXW <= $LASTW)
    $NAME_part<true>($PASS, o, stage + own * $PITCH, tile, lane, to, is_one);
  else $NAME_part<false>($PASS, o, stage + own * $PITCH, tile, lane, to, is_one);
}
