// Products on tensor cores at float32's accuracy. A number is two of 16 bits, high + low; a product is three of
// them, and sums leave the tensor core every 64 terms, because it cuts each sum off towards zero.

// In front of a loop that hardly ever runs. Long texts define it, for a build's sake: it is not unrolled there.
#ifndef RARE
#define RARE
#endif

// Eight neighbours along k, as the two halves lie in memory.
struct halves { uint4 high, low; };

__device__ __forceinline__ unsigned two_halves(float first, float second) {
  unsigned both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  return both;
}

__device__ __forceinline__ float2 two_floats(unsigned both) {
  float2 v;
  asm("{ .reg .b16 a, b;\n mov.b32 {a, b}, %2;\n cvt.f32.f16 %0, a;\n cvt.f32.f16 %1, b; }" : "=f"(v.x), "=f"(v.y) : "r"(both));
  return v;
}

// The last part of v, larger by v * lift: tensor cores cut sums off towards zero, so results would be too small by a like share. A number that
// the parts ahead hold stays as it is, so that sums of such numbers are exact.
__device__ __forceinline__ float lifted(float rest, float v, float lift) { return rest != 0.0f ? fmaf(v, lift, rest) : 0.0f; }

// Both numbers rounded to halves; what is left of them.
__device__ __forceinline__ unsigned take_halves(float &first, float &second) {
  const unsigned both = two_halves(first, second);
  const float2 v = two_floats(both);
  first -= v.x, second -= v.y;
  return both;
}

__device__ __forceinline__ unsigned split_two(float a, float b, unsigned &low) {
  const unsigned high = take_halves(a, b);
  low = two_halves(a, b);
  return high;
}

__device__ __forceinline__ unsigned split_lifted(float a, float b, float lift, unsigned &low) {
  float rest = a, other = b;
  const unsigned high = take_halves(rest, other);
  low = two_halves(lifted(rest, a, lift), lifted(other, b, lift));
  return high;
}

__device__ __forceinline__ halves split(const float *v, float lift) {
  halves h;
  h.high.x = split_lifted(v[0], v[1], lift, h.low.x), h.high.y = split_lifted(v[2], v[3], lift, h.low.y);
  h.high.z = split_lifted(v[4], v[5], lift, h.low.z), h.high.w = split_lifted(v[6], v[7], lift, h.low.w);
  return h;
}

// 2^e for -149 <= e <= 127.
__device__ __forceinline__ float power_of_two(int e) {
  return e < -126 ? __uint_as_float(1u << (e + 149)) : __uint_as_float((unsigned)(e + 127) << 23);
}

// The largest of the 64 numbers of eight lanes, or infinity. NaN is no number here, and goes through a product by itself.
__device__ __forceinline__ float largest_of(const float *v) {
  float most = 0.0f;
  UNROLL for (int j = 0; j < 8; j++) most = fmaxf(most, fabsf(v[j]));
  UNROLL for (int d = 1; d < 8; d *= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  return most;
}

// Whether one of eight is NaN, or infinite.
__device__ __forceinline__ bool any_none(const float *v) {
  float none = 0.0f;
  UNROLL for (int j = 0; j < 8; j++) none = fmaf(v[j], 0.0f, none);
  return none != none;
}

// The exponent of the power of two that brings it into [2^14, 2^15): 16 bits then hold what counts of each.
__device__ __forceinline__ int exponent_of(float most) {
  const int e = (int)(__float_as_uint(most) >> 23) - 127;
  return most > 0.0f ? 14 - max(e, -126) : 0;
}

enum { MANY = 1 << 10, TOO_WIDE = 1 << 20, BEYOND = 1 << 24, SMALL = 1 << 8, SHORT = 1 << 16, FAINT = 1 << 20, LANES = 16, FAINTS = 1 << 16 };

// Order of numbers by size, with zero above all.
__device__ __forceinline__ unsigned size_of(float v) { return 2 * __float_as_uint(v) - 1; }

// Scale eight numbers by 2^e. Returns how many are so small beside the largest that 16-bit halves keep too few of their
// bits, or BEYOND where one is infinite, or so large that scaling back might overflow; SMALL times how many lie below
// 2^7, which is 2^-7 of the largest or less; SHORT where one keeps fewer than 22 bits, and FAINT where one keeps fewer than 16. Packing waits
// for instructions, not for memory, so that what is rare is looked for once for all eight.
__device__ __forceinline__ int scale_by(float *v, int e) {
  int lost = e < -66 ? BEYOND : 0;
  if (e > 127) {
    UNROLL for (int j = 0; j < 8; j++) v[j] *= power_of_two(e - 127);
    e = 127;
  }
  const float scale = power_of_two(e);
  unsigned least = ~0u;
  UNROLL for (int j = 0; j < 8; j++) {
    v[j] *= scale;
    least = min(least, size_of(v[j]));
    if (fabsf(v[j]) < 128.0f) lost += SMALL;
  }
  if (least >= size_of(0.125f)) return lost;
  UNROLL for (int j = 0; j < 8; j++)
    if (size_of(v[j]) < size_of(1.52587890625e-5f)) lost++;           // 2^-16 = 2^-30 of 2^14
  return lost + SHORT + (least < size_of(0.001953125f) ? FAINT : 0);
}

// What is said of a factor: six numbers.
//   wide[0]   BEYOND; or TOO_WIDE, where two of the 64 numbers of a row lose bits; or of how many rows one does, up to MANY
//   wide[1]   of rows that lose bits: the most small numbers in any, of 64
//   wide[2]   of all rows: the same
//   wide[3]   of rows with numbers that keep fewer than 22 bits: the same
//   wide[4]   how many rows lose bits and have 48 small numbers
//   wide[5]   how many rows have a number that keeps fewer than 16 bits, up to MANY
// A number that loses bits is off by at most 2^-39 of its row's largest, M. That is nothing beside float32's own rounding if
// the sum has a term that is not small, and it has one if the large numbers of both rows are more than can avoid each other:
// then two of them meet, their product is at least 2^-16 M N, and float32's errors are about 2^-24 of that. A few rows
// with one such number occur where random ones are many (two of 2^30); they count for nothing. Numbers that keep some of their bits count
// where small ones in both rows would cover a chunk one and a half times: then both have little else, as outliers do. A row of few
// large numbers, as of a triangle or a mask, has no others to hide behind: beside it numbers that keep fewer than 16 bits count as lost ones do.
__device__ __forceinline__ int so_far(const int *where) {
  int n;
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(n) : "l"(__cvta_generic_to_global(where)) : "memory");
  return n;
}

__device__ __forceinline__ void at_least(int *where, int n) {
  if (so_far(where) < n) atomicMax(where, n);
}

// What a thread has seen of rows: wide[1] to wide[4], of wide[0] the worst, and how many rows: those of wide[0], and FAINTS times those of
// wide[5]. It is told once a block: wide is one address for all multiprocessors, and where thousands of warps ask at a time they wait for each other.
struct seen { int lost, small, brief, vast, worst, rows; };

// Counts the numbers of a row of which `count` are the factor's; of a row of zeros none is small.
__device__ __forceinline__ void count_lost(int lost, int piece, int count, seen &s) {
  UNROLL for (int d = 1; d < 8; d *= 2) lost += __shfl_xor_sync(~0u, lost, d);
  const int small = lost / SMALL % SMALL, few = small < 64 ? ((small - 64 + count) * 64 + count - 1) / count : 0;
  const bool is_short = lost / SHORT % LANES > 0, is_faint = lost / FAINT % LANES > 0;
  lost = lost >= BEYOND ? BEYOND : lost % SMALL;
  if (is_short) s.brief = max(s.brief, few);
  if (piece == 0 && is_faint && s.rows < MANY * FAINTS) s.rows += FAINTS;
  if (lost > 0) s.lost = max(s.lost, few);
  if (piece == 0 && lost > 0) {
    if (few >= 48) s.vast++;
    if (lost > 1) s.worst = max(s.worst, lost >= BEYOND ? BEYOND : TOO_WIDE); else s.rows += s.rows % FAINTS < MANY;
  }
  s.small = max(s.small, few);
}

// Whether 16 bits are not enough for numbers of factor a beside factor b. `most`: rows that may lose bits of one number; `faint`: rows that may
// have one that keeps fewer than 16 bits; `bare`: from so many small numbers on, of 64, a row has few others.
__device__ __forceinline__ bool loses(const int *a, int most, int faint, const int *b, int bare) {
  const bool is_seen = a[5] > faint && b[2] >= bare;
  return (a[0] > most && a[1] + b[2] >= 64) || a[3] + b[2] >= (is_seen ? 64 : 96);
}

__device__ __forceinline__ bool too_wide(const int *a, int a_most, int a_faint, const int *b, int b_most, int b_faint, int bare) {
  return loses(a, a_most, a_faint, b, bare) || loses(b, b_most, b_faint, a, bare);
}

__device__ __forceinline__ bool is_beyond(const int *a, const int *b) { return a[0] >= BEYOND || b[0] >= BEYOND; }

// Packed: [chunk of 64 along k][high, low][8 rows][8 rows of 128 bytes]; the 16-byte pieces of a row change places as
// the tensor core's 128-byte swizzle wants them. `octets`: rows / 8. Any rows from a multiple of 8 on are one block.
__device__ __forceinline__ size_t packed_at(int chunk, int part, int row, int piece, int octets) {
  return ((size_t)(chunk * 2 + part) * octets + row / 8) * 1024 + (row % 8 * 128 + (piece ^ (row & 7)) * 16);
}

// Eight lanes put away a row's 64 numbers of a chunk, and one of them the scale that undoes theirs: 0 where all are zero.
__device__ __forceinline__ void pack_row(unsigned char *out, float *scales, int count, float lift, seen &s, float *v, int chunk,
                                         int row, int piece, int octets) {
  const float most = largest_of(v);
  const int e = exponent_of(most);
  count_lost(scale_by(v, e), piece, count, s);
  if (piece == 0) scales[(size_t)chunk * (8 * octets) + row] = most > 0.0f ? power_of_two(-e) : 0.0f;
  const halves h = split(v, lift);
  unsigned char *const to = out + packed_at(chunk, 0, row, piece, octets);
  *(uint4 *)to = h.high;
  *(uint4 *)(to + octets * 1024ll) = h.low;
}

// What a block has seen of the rows that it packed; more than `vast` rows of the second kind are enough. `tile`: shared memory that nobody uses.
// Once a block: a program's kernels share one text of it, so that they build faster.
static __device__ __noinline__ void note_seen(int *wide, seen s, int vast, float (*tile)[65]) {
  int *const all = (int *)tile, k = threadIdx.x;
  __syncthreads();
  if (k < 7) all[k] = 0;
  __syncthreads();
  const int faint = __reduce_add_sync(~0u, s.rows / FAINTS);
  s.lost = __reduce_max_sync(~0u, s.lost), s.small = __reduce_max_sync(~0u, s.small), s.brief = __reduce_max_sync(~0u, s.brief);
  s.vast = __reduce_add_sync(~0u, s.vast), s.worst = __reduce_max_sync(~0u, s.worst), s.rows = __reduce_add_sync(~0u, s.rows % FAINTS);
  if (k % 32 < 4) atomicMax(&all[k % 32], k % 32 == 0 ? s.worst : k % 32 == 1 ? s.lost : k % 32 == 2 ? s.small : s.brief);
  if (k % 32 == 4) atomicAdd(&all[4], s.vast);
  if (k % 32 == 5) atomicAdd(&all[5], s.rows);
  if (k % 32 == 6) atomicAdd(&all[6], faint);
  __syncthreads();
  if (k < 4 && all[k] > 0) at_least(wide + k, all[k]);
  if (k == 4 && all[4] > 0 && so_far(wide + 4) <= vast) atomicAdd(wide + 4, all[4]);
  if (k == 5 && all[5] > 0 && so_far(wide) < MANY) atomicAdd(wide, all[5]);
  if (k == 6 && all[6] > 0 && so_far(wide + 5) < MANY) atomicAdd(wide + 5, all[6]);
}

// While a warp packs, where there are kernels for numbers of a wide range: whether so many rows are of the second kind that these do it
// all, and nobody reads what is packed here. They say themselves what is infinite.
__device__ __forceinline__ bool is_vast(int *wide, seen &s, int vast) {
  const int rows = __reduce_add_sync(~0u, s.vast);
  if (rows < 4) return false;
  s.vast = 0;
  if (threadIdx.x % 32 == 0) atomicAdd(wide + 4, rows);
  return __any_sync(~0u, so_far(wide + 4) > vast);
}

// Two neighbours along k of a row's 64 numbers of a chunk, as they are packed; `is_short`: they may keep fewer than 22 bits there.
struct packed_two { float at[2]; bool is_short[2]; };

__device__ __forceinline__ packed_two two_packed(const unsigned char *packed, const float *scales, size_t chunk, int row, int octets, int pair) {
  const unsigned char *const from = packed + (chunk * 2 * octets * 8 + row) * 128 + ((pair / 4) ^ (row & 7)) * 16 + pair % 4 * 4;
  const float2 high = two_floats(*(const unsigned *)from), low = two_floats(*(const unsigned *)(from + octets * 1024ll));
  const float scale = scales[chunk * (octets * 8) + row];
  return { { (high.x + low.x) * scale, (high.y + low.y) * scale }, { fabsf(high.x) < 0.125f, fabsf(high.y) < 0.125f } };
}

// One more result that is to be computed again: `many` are, the first `most` of them in a list.
__device__ __forceinline__ void note_again(long long *list, int *many, int most, long long place) {
  if (so_far(many) > most) return;
  const int at = atomicAdd(many, 1);
  if (at < most) list[at] = place;
}

// ---- the same in three parts of bfloat16, which keep all bits of numbers of any size

__device__ __forceinline__ unsigned two_narrow(float first, float second) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  return both;
}

// Both numbers rounded to bfloat16; what is left of them.
__device__ __forceinline__ unsigned take_two(float &first, float &second) {
  const unsigned both = two_narrow(first, second);
  first -= __uint_as_float(both << 16), second -= __uint_as_float(both & 0xffff0000u);
  return both;
}

// Eight numbers, as 16 bytes of each part: `put(p, bytes)`. What the first two parts leave is lifted.
template <class Put>
__device__ __forceinline__ void in_parts(float *v, float lift, Put put) {
  float whole[8];
  UNROLL for (int j = 0; j < 8; j++) whole[j] = v[j];
  UNROLL for (int p = 0; p < 3; p++) {
    uint4 part;
    if (p == 2) UNROLL for (int j = 0; j < 8; j++) v[j] = lifted(v[j], whole[j], lift);
    part.x = take_two(v[0], v[1]), part.y = take_two(v[2], v[3]), part.z = take_two(v[4], v[5]), part.w = take_two(v[6], v[7]);
    put(p, part);
  }
}

__device__ __forceinline__ void put_parts(unsigned char *out, float lift, float *v, int chunk, int row, int piece, int octets) {
  in_parts(v, lift, [&](int p, uint4 part) {
    *(uint4 *)(out + ((size_t)(chunk * 3 + p) * octets + row / 8) * 1024 + row % 8 * 128 + (piece ^ (row & 7)) * 16) = part;
  });
}

// As pack_row. The largest of the 64 comes to 2^50, so that what is 2^-150 of it keeps all its bits.
__device__ __forceinline__ void pack_row_full(unsigned char *out, float *scales, float lift, int *wide, float *v, int chunk, int row, int piece, int octets) {
  const int least = exponent_of(largest_of(v)), e = min(least + 36, 140);
  if (least < -66) at_least(wide, BEYOND);
  const float first = power_of_two(e / 2), second = power_of_two(e - e / 2);
  UNROLL for (int j = 0; j < 8; j++) v[j] = v[j] * first * second;
  if (piece == 0) scales[(size_t)chunk * (8 * octets) + row] = power_of_two(-e);
  put_parts(out, lift, v, chunk, row, piece, octets);
}

// ---- barriers and copies of a block

__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void barrier_init(unsigned barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void barrier_expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_wait(unsigned barrier, int phase) {
  int done = 0;
  while (!done)
    asm volatile("{ .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.s32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(barrier), "r"(phase) : "memory");
}

__device__ __forceinline__ void bulk_copy(unsigned to, const void *from, int bytes, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :: "r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}

// Rows of 128 bytes along k, swizzled: the next 16 numbers along k are 2 further, 64 rows 512.
__device__ __forceinline__ unsigned long long rows_descriptor(unsigned address) {
  return (address >> 4 & 0x3fff) | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}
