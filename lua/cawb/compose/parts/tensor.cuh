// Products on tensor cores at float32's accuracy. A number is two of 16 bits, high + low; a product is three of
// them, and sums leave the tensor core every 64 terms, because it cuts each sum off towards zero.

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

__device__ __forceinline__ unsigned split_two(float a, float b, unsigned &low) {
  const unsigned high = two_halves(a, b);
  const float2 v = two_floats(high);
  low = two_halves(a - v.x, b - v.y);
  return high;
}

__device__ __forceinline__ halves split(const float *v) {
  halves h;
  h.high.x = split_two(v[0], v[1], h.low.x), h.high.y = split_two(v[2], v[3], h.low.y);
  h.high.z = split_two(v[4], v[5], h.low.z), h.high.w = split_two(v[6], v[7], h.low.w);
  return h;
}

// 2^e for -149 <= e <= 127.
__device__ __forceinline__ float power_of_two(int e) {
  return e < -126 ? __uint_as_float(1u << (e + 149)) : __uint_as_float((unsigned)(e + 127) << 23);
}

// The power of two that brings the largest of the 64 numbers of eight lanes into [2^14, 2^15): 16 bits then hold what
// counts of each. Returns its exponent. NaN is no number here, and goes through a product by itself.
__device__ __forceinline__ int exponent_of(const float *v) {
  float most = 0.0f;
#pragma unroll
  for (int j = 0; j < 8; j++) most = fmaxf(most, fabsf(v[j]) < INFINITY ? fabsf(v[j]) : 0.0f);
#pragma unroll
  for (int d = 1; d < 8; d *= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  const int e = (int)(__float_as_uint(most) >> 23) - 127;
  return most > 0.0f ? 14 - max(e, -126) : 0;
}

enum { TOO_WIDE = 1 << 20 };

// Scale eight numbers by 2^e. Returns how many are so small beside the largest that 16-bit halves keep too few of their
// bits, or TOO_WIDE where one is infinite, or so large that scaling back might overflow.
__device__ __forceinline__ int scale_by(float *v, int e) {
  const float first = power_of_two(e / 2), second = power_of_two(e - e / 2);
  int lost = e < -66 ? TOO_WIDE : 0;
#pragma unroll
  for (int j = 0; j < 8; j++) {
    if (fabsf(v[j]) == INFINITY) lost = TOO_WIDE;
    v[j] = v[j] * first * second;
    if (v[j] != 0.0f && fabsf(v[j]) < 1.52587890625e-5f) lost++;      // 2^-16 = 2^-30 of 2^14
  }
  return lost;
}

// Where two of the 64 numbers of a row lose bits, a factor's range is too wide. A single one does where random numbers
// are many: it is off by 2^-39 of its largest neighbour at most, so such are counted, and only many of them matter.
__device__ __forceinline__ void count_lost(int *wide, int lost, int piece) {
#pragma unroll
  for (int d = 1; d < 8; d *= 2) lost += __shfl_xor_sync(~0u, lost, d);
  if (piece > 0 || lost == 0) return;
  if (lost == 1) atomicAdd(wide, 1); else atomicMax(wide, TOO_WIDE);
}

// Packed: [chunk of 64 along k][high, low][8 rows][8 rows of 128 bytes]; the 16-byte pieces of a row change places as
// the tensor core's 128-byte swizzle wants them. `octets`: rows / 8. Any rows from a multiple of 8 on are one block.
__device__ __forceinline__ size_t packed_at(int chunk, int part, int row, int piece, int octets) {
  return ((size_t)(chunk * 2 + part) * octets + row / 8) * 1024 + row % 8 * 128 + (piece ^ (row & 7)) * 16;
}

// Eight lanes put away a row's 64 numbers of a chunk, and one of them the scale that undoes theirs.
__device__ __forceinline__ void pack_row(unsigned char *out, float *scales, int *wide, float *v, int chunk, int row, int piece,
                                         int octets) {
  const int e = exponent_of(v);
  count_lost(wide, scale_by(v, e), piece);
  if (piece == 0) scales[(size_t)chunk * (8 * octets) + row] = power_of_two(-e);
  const halves h = split(v);
  *(uint4 *)(out + packed_at(chunk, 0, row, piece, octets)) = h.high;
  *(uint4 *)(out + packed_at(chunk, 1, row, piece, octets)) = h.low;
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
