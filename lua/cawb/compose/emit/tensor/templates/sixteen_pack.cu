// $NAME: the $SIDE factor, $ROWS rows of $DEPTH numbers of 16 bits, as tensor cores want them: [chunk of 64 along k][row].
extern "C" __global__ void __launch_bounds__(256)
$NAME($PARAMETERS, unsigned char *__restrict__ out) {
$if ALONG
  for (size_t i = blockIdx.x * 256ull + threadIdx.x; i < $BATCHull * $CHUNKS * $OCTETS * 64; i += gridDim.x * 256ull) {
    const int piece = i % 8, row = i / 8 % (8 * $OCTETS), chunk = i / (64 * $OCTETS) % $CHUNKS, z = i / ($CHUNKSull * 64 * $OCTETS);
    float v[8] = {};
    if (row < $ROWS && (chunk * 8 + piece) * 8 < $DEPTH) $eight(v, z, row, chunk * 8 + piece);
    uint4 all;
    all.x = $TWO(v[0], v[1]), all.y = $TWO(v[2], v[3]), all.z = $TWO(v[4], v[5]), all.w = $TWO(v[6], v[7]);
    const int place = $PLACE;
    *(uint4 *)(out + ((size_t)(z * $CHUNKS + chunk) * (8 * $OCTETS) + place) * 128 + (piece ^ (place & 7)) * 16) = all;
  }
$else
  // Neighbours in memory are neighbouring rows: 64 rows of a chunk are turned in shared memory.
  __shared__ float tile[64][65];
  const int band = blockIdx.x % $BANDS * 64, chunk = blockIdx.x / $BANDS % $CHUNKS, z = blockIdx.x / ($BANDS * $CHUNKS);
  const int one = threadIdx.x % 64, own = band + one;
#pragma unroll
  for (int j = 0; j < 64; j += 4) {
    const int at = j + threadIdx.x / 64, k = chunk * 64 + at;
    tile[at][one] = own < $ROWS && k < $DEPTH ? $one(z, own, k) : 0.0f;
  }
  __syncthreads();
#pragma unroll
  for (int i = threadIdx.x; i < 64 * 8; i += 256) {
    const int piece = i % 8, from = i / 8, row = band + from, place = $PLACE;
    uint4 all;
    all.x = $TWO(tile[8 * piece][from], tile[8 * piece + 1][from]), all.y = $TWO(tile[8 * piece + 2][from], tile[8 * piece + 3][from]);
    all.z = $TWO(tile[8 * piece + 4][from], tile[8 * piece + 5][from]), all.w = $TWO(tile[8 * piece + 6][from], tile[8 * piece + 7][from]);
    if (row < 8 * $OCTETS) *(uint4 *)(out + ((size_t)(z * $CHUNKS + chunk) * (8 * $OCTETS) + place) * 128 + (piece ^ (place & 7)) * 16) = all;
  }
$end
}
