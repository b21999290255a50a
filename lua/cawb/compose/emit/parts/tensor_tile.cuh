// Factors of 16-bit numbers for tensor cores, 64 along k a step: as they lie in memory, or as tensor/factors.lua has packed them. In shared
// memory rows have 128 bytes, whose 16-byte pieces change places as the tensor cores' 128-byte swizzle wants it.

// A thread's copies so far count as its arrival at a barrier when they are done.
__device__ __forceinline__ void barrier_copies(unsigned barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(barrier) : "memory");
}

// Warpgroup products behind it see what copies of threads have brought.
__device__ __forceinline__ void copies_seen() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Where a row lies that is spread: eight neighbours of 32 are then those of one thread in the tensor cores' sums.
__device__ __forceinline__ int spread(int row) { return (row & ~31) + row % 8 / 2 * 8 + row / 8 % 4 * 2 + row % 2; }

// Eight lanes put away a row's 64 numbers of a chunk, which are 16-bit ones: [chunk][8 rows][8 rows of 128 bytes], as pairs of halves lie.
template <unsigned (*TWO)(float, float), bool SPREAD>
__device__ __forceinline__ void pack_row_whole(unsigned char *out, const float *v, int chunk, int row, int piece, int octets) {
  const int place = SPREAD ? spread(row) : row;
  uint4 all;
  all.x = TWO(v[0], v[1]), all.y = TWO(v[2], v[3]), all.z = TWO(v[4], v[5]), all.w = TWO(v[6], v[7]);
  *(uint4 *)(out + ((size_t)chunk * (8 * octets) + place) * 128 + (piece ^ (place & 7)) * 16) = all;
}

// Four lanes with two neighbours of each of four blocks of eight columns, v[2 * block + which], change them: a lane has its block's eight.
__device__ __forceinline__ void turn_eight(float (&v)[8]) {
  UNROLL for (int d = 1; d < 4; d *= 2) {
    const bool is_upper = threadIdx.x & d;
    UNROLL for (int k = 0; k < 8; k++) {
      if (k & 2 * d) continue;
      const float other = __shfl_xor_sync(~0u, is_upper ? v[k] : v[k + 2 * d], d);
      v[k] = is_upper ? other : v[k], v[k + 2 * d] = is_upper ? v[k + 2 * d] : other;
    }
  }
}

// An address that stays one: copies add constants to it. Else the compiler has a register for each copy and spills them, so that threads
// that copy are late.
__device__ __forceinline__ void keep(const unsigned short *&from) { asm volatile("" : "+l"(from)); }
__device__ __forceinline__ void keep(unsigned &to) { asm volatile("" : "+r"(to)); }

// ROWS rows of neighbours along k, STRIDE numbers from row to row; `rows`, `terms`: how many there are from the first on. A thread's
// rows are a multiple of eight apart, so that its pieces change places alike; where rows are spread, every second one lies four further.
template <int THREADS, int ROWS, long long STRIDE, bool SPREAD>
__device__ __forceinline__ void bring_rows(unsigned to, const unsigned short *from, int rows, int terms) {
  enum { EACH = THREADS / 8 };
  static_assert(ROWS % EACH == 0 && (!SPREAD || EACH == 16), "threads have equally many rows");
  const int own = threadIdx.x % THREADS / 8, piece = threadIdx.x % 8, place = SPREAD ? spread(own) : own;
  const bool is_term = piece * 8 < terms;
  unsigned even = to + place * 128 + ((piece ^ place) & 7) * 16, odd = to + (place + 4) * 128 + ((piece ^ place ^ 4) & 7) * 16;
  from += own * STRIDE + piece * 8;
  keep(from), keep(even);
  if (SPREAD) keep(odd);
  UNROLL for (int j = 0; j < ROWS; j += EACH) {
    const unsigned at = !SPREAD ? even + j * 128 : (j % 32 == 0 ? even : odd) + j / 32 * (32 * 128);
    copy_16_or_zeros(at, from + j * STRIDE, is_term && own + j < rows);
  }
}

// 8 bytes that will be there, or zeros.
__device__ __forceinline__ void copy_8_or_zeros(unsigned to, const void *from, bool is_there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(to), "l"(from), "r"(is_there ? 8 : 0) : "memory");
}

// The same of rows that are neighbours: 64 lines along k, in blocks of 64 rows, STRIDE numbers from line to line. TOGETHER of a line's
// numbers are copied at once, 8 or 4, as lines are aligned.
template <int THREADS, int ROWS, long long STRIDE, int TOGETHER>
__device__ __forceinline__ void bring_columns(unsigned to, const unsigned short *from, int rows, int terms) {
  enum { EIGHTS = ROWS / 8, LINES = THREADS / EIGHTS };
  static_assert(THREADS % EIGHTS == 0, "threads have one eight each");
  const int own = threadIdx.x % THREADS / EIGHTS, eight = threadIdx.x % EIGHTS;
  from += own * STRIDE + eight * 8, to += eight / 8 * (64 * 128) + own * 128;
  keep(from);
  UNROLL for (int j = 0; j < 64; j += LINES) {
    if (64 % LINES != 0 && own + j >= 64) break;
    const unsigned at = to + j * 128 + ((eight ^ (own + j)) & 7) * 16;
    const bool is_term = own + j < terms;
    if (TOGETHER == 8) copy_16_or_zeros(at, from + j * STRIDE, is_term && eight * 8 < rows);
    else UNROLL for (int n = 0; n < 8; n += 4) copy_8_or_zeros(at + 2 * n, from + j * STRIDE + n, is_term && eight * 8 + n < rows);
  }
}
