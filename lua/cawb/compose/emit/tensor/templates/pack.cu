// $NAME: $WHAT, $ROWS rows of $DEPTH numbers, as $PARTS parts of 16 bits for tensor cores.
$if ALONG
static __device__ __forceinline__ void $NAME_pack($PARAMETERS, unsigned char *__restrict__ out$PACKOUTS, float (*tile)[65], int first,
                                                  int blocks) {
  $BEFORE
  $EACHBLOCK
    const int lane = threadIdx.x % 32, piece = lane % 8, octet = block % $OCTETS/**/, part = block / $OCTETS/**/ % $PARTSK/**/;
    const int z = block / ($OCTETS/**/ * $PARTSK/**/), row = 8 * octet + threadIdx.x / 32 % 2 * 4 + lane / 8;
    unsigned char *const to = out + (size_t)z * ($CHUNKS/**/ * $PARTS * 1024ll * $OCTETS/**/);
$if SCALED:     float *const own = scales + (size_t)z * ($CHUNKS/**/ * 8ll * $OCTETS/**/);
    const int last = min($CHUNKS/**/, (part + 1) * $PER/**/);
    for (int chunk = part * $PER/**/ + threadIdx.x / 64; chunk < last; chunk += 4) {
      float v[8] = {};
      if (row < $ROWS/**/ && (chunk * 8 + piece) * 8 < $DEPTH/**/) $eight(v, z, row, chunk * 8 + piece);
      $PACK v, chunk, row, piece, $OCTETS/**/);
      $QUIT
    }
  }
  $AFTER
}
$else
// Neighbours in memory are neighbouring rows: 64 rows of a chunk are turned in shared memory. A thread reads one row: where that lies
// is computed once.
static __device__ __forceinline__ void $NAME_pack($PARAMETERS, unsigned char *__restrict__ out$PACKOUTS, float (*tile)[65], int first,
                                                  int blocks) {
  $QUIT
  $BEFORE
  $EACHBLOCK
    const int chunk = block % $CHUNKS/**/, band = block / $CHUNKS/**/ % $BANDS/**/ * 64, z = block / ($CHUNKS/**/ * $BANDS/**/);
    const int one = threadIdx.x % 64, own_row = band + one;
    const bool is_row = own_row < $ROWS/**/;
    unsigned char *const to = out + (size_t)z * ($CHUNKS/**/ * $PARTS * 1024ll * $OCTETS/**/);
$if SCALED:     float *const own = scales + (size_t)z * ($CHUNKS/**/ * 8ll * $OCTETS/**/);
    $WRITTEN for (int j = 0; j < 64; j += 4) {
      const int at = j + threadIdx.x / 64, k = chunk * 64 + at;
      tile[at][one] = is_row$INSIDE ? $one(z, own_row, k) : 0.0f;
    }
    __syncthreads();
    $WRITTEN for (int i = threadIdx.x; i < 64 * 8; i += 256) {
      const int piece = i % 8, row = i / 8;
      float v[8];
      UNROLL for (int j = 0; j < 8; j++) v[j] = tile[8 * piece + j][row];
      $GAPS
      if (band + row < 8 * $OCTETS/**/) $PACK v, chunk, band + row, piece, $OCTETS/**/);
    }
    $AGAIN
  }
  $AFTER
}
$end
