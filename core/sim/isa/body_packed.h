/*
** body_packed.h - the rarer integer operations, pairs of 16-bit integers, the packed video
** instructions, and conversions to and from 8-bit floats, tf32 and pairs.
*/

/* ---------------------------------------------------------------- 32 and 64 bits */

static inline uint32_t clamped32(int64_t v) {
  return (uint32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}
SIM_OP2(add_sat_s32, u32, s32, s32, clamped32((int64_t)a[l] + b[l]))
SIM_OP2(sub_sat_s32, u32, s32, s32, clamped32((int64_t)a[l] - b[l]))
SIM_OP2(min_relu_s32, s32, s32, s32, GREATER(LESSER(a[l], b[l]), 0))
SIM_OP2(max_relu_s32, s32, s32, s32, GREATER(GREATER(a[l], b[l]), 0))
SIM_OP2(mul24_hi_s32, u32, u32, u32, (u32)((uint64_t)((int64_t)low24(a[l]) * low24(b[l])) >> 16))
SIM_OP2(mul24_hi_u32, u32, u32, u32, (u32)((uint64_t)(a[l] & 0xffffff) * (b[l] & 0xffffff) >> 16))
SIM_OP3(mad_hi_s16, u32, u32, u32, u32, ((u32)((int32_t)(int16_t)a[l] * (int16_t)b[l]) >> 16) + c[l])
SIM_OP3(mad_hi_u16, u32, u32, u32, u32, ((a[l] & 0xffff) * (b[l] & 0xffff) >> 16) + c[l])

static inline uint32_t apart16(int32_t a, int32_t b) { return (uint32_t)(a < b ? b - a : a - b); }
SIM_OP3(sad_s16, u32, u32, u32, u32, c[l] + apart16((int16_t)a[l], (int16_t)b[l]))
SIM_OP3(sad_u16, u32, u32, u32, u32, c[l] + apart16((uint16_t)a[l], (uint16_t)b[l]))
SIM_OP3(sad_s64, u64, s64, s64, u64, c[l] + (a[l] < b[l] ? (u64)b[l] - (u64)a[l] : (u64)a[l] - (u64)b[l]))
SIM_OP3(sad_u64, u64, u64, u64, u64, c[l] + (a[l] < b[l] ? b[l] - a[l] : a[l] - b[l]))

/* szext d, a, n: the low n bits of a; mode 1 wraps n, else 32 and more are all of a. */
static inline uint32_t extended(uint32_t a, uint32_t n, int wrap, int is_signed) {
  if (!wrap && n >= 32) return a;
  n &= 31;
  uint32_t low = (1u << n) - 1, sign = is_signed && n > 0 ? a >> (n - 1) & 1 : 0;
  return (a & low) | (sign ? ~low : 0);
}
SIM_OP2(szext_s32, u32, u32, u32, extended(a[l], b[l], in->mode, 1))
SIM_OP2(szext_u32, u32, u32, u32, extended(a[l], b[l], in->mode, 0))

/* The n-th set bit from `base` on, downwards where n is negative; all ones: there is none. */
static inline uint32_t nth_set(uint32_t bits, uint32_t base, int32_t n) {
  if (n == 0) return base < 32 && bits >> base & 1 ? base : SIM_ALL;
  int64_t left = n > 0 ? n : -(int64_t)n;
  for (int64_t at = base; at >= 0 && at < 32; at += n > 0 ? 1 : -1)
    if ((bits >> at & 1) && --left == 0) return (uint32_t)at;
  return SIM_ALL;
}
SIM_OP3(fns_b32, u32, u32, u32, s32, nth_set(a[l], b[l], c[l]))

/* ------------------------------------------------------ pairs of 16-bit integers */

#define PAIRED(name, T, expr) \
  static inline uint32_t name##_of(uint32_t a_, uint32_t b_) { \
    uint32_t r_ = 0; \
    for (unsigned i_ = 0; i_ < 32; i_ += 16) { \
      T x = (T)(a_ >> i_), y = (T)(b_ >> i_); \
      r_ |= (uint32_t)(uint16_t)(expr) << i_; \
    } \
    return r_; } \
  SIM_OP2(name, u32, u32, u32, name##_of(a[l], b[l]))
PAIRED(add_s16x2, uint16_t, x + y)
PAIRED(add_u16x2, uint16_t, x + y)
PAIRED(min_s16x2, int16_t, LESSER(x, y))
PAIRED(min_u16x2, uint16_t, LESSER(x, y))
PAIRED(max_s16x2, int16_t, GREATER(x, y))
PAIRED(max_u16x2, uint16_t, GREATER(x, y))
PAIRED(min_relu_s16x2, int16_t, GREATER(LESSER(x, y), 0))
PAIRED(max_relu_s16x2, int16_t, GREATER(GREATER(x, y), 0))

/* ------------------------------------------------------------------------- video */

static inline int32_t video_part(uint32_t v, unsigned at, unsigned bits, int is_signed) {
  uint32_t shifted = v << ((32 - bits - at) & 31);      /* of a whole word `at` says more than a place */
  return is_signed ? (int32_t)shifted >> (32 - bits) : (int32_t)(shifted >> (32 - bits));
}

static inline int compared(int32_t x, int32_t y, int how) {
  switch (how) {
    case SIM_EQ: return x == y;
    case SIM_NE: return x != y;
    case SIM_LT: return x < y;
    case SIM_LE: return x <= y;
    case SIM_GT: return x > y;
    default: return x >= y;
  }
}

static inline int32_t video_result(const sim_insn *in, int32_t x, int32_t y) {
  switch (in->mode) {
    case VIDEO_ADD: return x + y;
    case VIDEO_SUB: return x - y;
    case VIDEO_ABSDIFF: return x < y ? y - x : x - y;
    case VIDEO_MIN: return LESSER(x, y);
    case VIDEO_MAX: return GREATER(x, y);
    case VIDEO_AVRG: return (x + y + (x + y >= 0)) >> 1;
    default: return compared(x, y, in->cmp);
  }
}

/* `flags` 1, 2, 4: a, b, d are signed; 8: the parts' sum is added to c. */
static inline uint32_t video_of(const sim_insn *in, uint32_t a, uint32_t b, uint32_t c) {
  unsigned bits = 8u * in->width;
  uint32_t r = 0;
  int32_t most = in->flags & 4 ? (1 << (bits - 1)) - 1 : (1 << bits) - 1, least = in->flags & 4 ? -most - 1 : 0;
  for (unsigned at = 0; at < 32; at += bits) {
    int32_t v = video_result(in, video_part(a, at, bits, in->flags & 1), video_part(b, at, bits, in->flags & 2));
    if (in->sat) v = v > most ? most : v < least ? least : v;
    if (in->flags & 8) c += (uint32_t)v;
    else r |= ((uint32_t)v & ((1u << bits) - 1)) << at;
  }
  return in->flags & 8 ? c : r;
}
SIM_OP3(video, u32, u32, u32, u32, video_of(in, a[l], b[l], c[l]))

/* A byte, a half or all of a register, as the decoder numbers them. */
static inline int64_t one_part(uint32_t v, unsigned part, int is_signed) {
  unsigned bits = part == 0 ? 32 : part <= 4 ? 8 : 16, at = part == 0 ? 0 : part <= 4 ? 8 * (part - 1) : 16 * (part - 5);
  return video_part(v, at, bits, is_signed) + (is_signed || part != 0 ? 0 : (int64_t)(v >> 31) << 32);
}

static inline int64_t one_result(const sim_insn *in, int64_t x, int64_t y) {
  unsigned by = (unsigned)(in->flags & 8 ? y & 31 : y < 0 || y > 32 ? 32 : y);
  switch (in->mode) {
    case VIDEO_ADD: return x + y;
    case VIDEO_SUB: return x - y;
    case VIDEO_ABSDIFF: return x < y ? y - x : x - y;
    case VIDEO_MIN: return LESSER(x, y);
    case VIDEO_MAX: return GREATER(x, y);
    case VIDEO_SHL: return by < 32 || x <= INT32_MAX ? (int64_t)((uint64_t)x << by) : INT64_C(1) << 62;
    case VIDEO_SHR: return x >> by;
    case VIDEO_SET: return in->cmp == SIM_EQ ? x == y : in->cmp == SIM_NE ? x != y : in->cmp == SIM_LT ? x < y
                         : in->cmp == SIM_LE ? x <= y : in->cmp == SIM_GT ? x > y : x >= y;
    default: return x * y;
  }
}

/* a * b + c, plus one with .po, shifted; as wide as it takes. */
static inline uint32_t one_mad(const sim_insn *in, int64_t x, int64_t y, uint32_t c) {
  int either = (in->flags & 3) != 0;
  __int128 v = (__int128)x * y + (either ? (__int128)(int32_t)c : (__int128)c) + (in->flags >> 4 & 1);
  v >>= in->vec;
  if (in->sat && either) v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
  else if (in->sat) v = v > UINT32_MAX ? UINT32_MAX : v;
  return (uint32_t)v;
}

/* `flags` 1, 2, 4: a, b, d are signed; 8: shifts wrap; `type`: the parts of d, a, b. */
static inline uint32_t video_one_of(const sim_insn *in, uint32_t a, uint32_t b, uint32_t c) {
  int64_t x = one_part(a, in->type[1], in->flags & 1), y = one_part(b, in->type[2], in->flags & 2 ? 1 : 0), v;
  unsigned part = in->type[0], bits = part == 0 ? 32 : part <= 4 ? 8 : 16, at = part == 0 ? 0 : part <= 4 ? 8 * (part - 1) : 16 * (part - 5);
  if (in->mode == VIDEO_MAD) return one_mad(in, x, y, c);
  int64_t most = in->flags & 4 ? (INT64_C(1) << (bits - 1)) - 1 : (INT64_C(1) << bits) - 1, least = in->flags & 4 ? -most - 1 : 0;
  v = one_result(in, x, y);
  if (in->sat) v = v > most ? most : v < least ? least : v;
  uint32_t r = (uint32_t)v, keep = bits == 32 ? 0 : ~(((1u << bits) - 1) << at);
  switch (in->from_lane) {
    case 1: return r + c;
    case 2: return in->flags & 4 ? (uint32_t)LESSER((int32_t)r, (int32_t)c) : LESSER(r, c);
    case 3: return in->flags & 4 ? (uint32_t)GREATER((int32_t)r, (int32_t)c) : GREATER(r, c);
    default: return keep == 0 ? r : (r << at & ~keep) | (c & keep);
  }
}
SIM_OP3(video_one, u32, u32, u32, u32, video_one_of(in, a[l], b[l], c[l]))

/* ------------------------------------------------------------------------ floats */

/* min.xorsign.abs: of the magnitudes; the signs' exclusive or. */
static inline float with_sign(float r, float x, float y) {
  return float_of((bits_of(r) & 0x7fffffff) | ((bits_of(x) ^ bits_of(y)) & 0x80000000));
}
#define MAGNITUDE(x) float_of(bits_of(x) & 0x7fffffff)
F32_2(min_xorsign_f32, with_sign(lesser(MAGNITUDE(x), MAGNITUDE(y)), x, y))
F32_2(max_xorsign_f32, with_sign(greater(MAGNITUDE(x), MAGNITUDE(y)), x, y))

/* To 16 bits. */
static inline uint32_t small_half(float x, const sim_insn *in) {
  int brain = in->type[0] == 'b';
  if (in->sat & SIM_RELU) x = x < 0 || (x == 0 && bits_of(x)) ? 0.0f : x;
  uint32_t h = brain ? float_to_bf(x, in->rnd) : float_to_half(x, in->rnd), top = brain ? 0x7f80 : 0x7c00;
  return (in->sat & SIM_FINITE) && (h & 0x7fff) == top ? h - 1 : h;
}
/* One value, or (`vec` 2) a pair whose upper half is a. */
SIM_BEGIN(cvt_pair)
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  const f32 *a = SIM_PLACE(f32, w, in->r[1]), *b = SIM_PLACE(f32, w, in->r[2]);
  SIM_EACH(w, d[l] = in->vec == 2 ? small_half(a[l], in) << 16 | small_half(b[l], in) : small_half(a[l], in));
SIM_END

/* To nearest in 8 bits with `m` of mantissa; beyond the greatest: the greatest. */
static inline uint32_t eight_bits(float x, int code, int relu) {
  int m = code == 'e' ? 3 : 2, bias = code == 'e' ? 7 : 15, e = -64;
  uint32_t sign = bits_of(x) >> 24 & 128, most = code == 'e' ? 0x7e : 0x7b;
  if (x != x) return 0x7f;
  if (relu && sign) return 0;
  x = MAGNITUDE(x);
  if (x > 65536.0f) return sign | most;
  if (x != 0) (void)__builtin_frexpf(x, &e), e--;
  if (e < 1 - bias) e = 1 - bias;
  uint32_t v = (uint32_t)__builtin_rintf(__builtin_ldexpf(x, m - e)) + ((uint32_t)(e + bias - 1) << m);
  return sign | (v > most ? most : v);
}
/* cvt.rn.satfinite.e4m3x2: from two floats (vec 2) or a pair of halves (vec 1). */
SIM_BEGIN(cvt_small)
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  const u32 *a = SIM_PLACE(u32, w, in->r[1]), *b = in->vec == 2 ? SIM_PLACE(u32, w, in->r[2]) : a;
  int relu = in->sat & SIM_RELU;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    float high = in->vec == 2 ? float_of(a[l]) : half_to_float(a[l] >> 16);
    float low = in->vec == 2 ? float_of(b[l]) : half_to_float(a[l] & 0xffff);
    d[l] = eight_bits(high, in->type[0], relu) << 8 | eight_bits(low, in->type[0], relu);
  }
SIM_END

static inline float e4m3_to_float(uint32_t v) {
  uint32_t e = v >> 3 & 15, m = v & 7;
  float f = (v & 127) == 127 ? NAN : e == 0 ? (float)m * 0x1p-9f : (float)(m + 8) * float_of((e + 117) << 23);
  return v & 128 ? -f : f;
}
static inline float e5m2_to_float(uint32_t v) { return half_to_float((v & 255) << 8); }

/* A pair of halves, which hold every 8-bit float. */
static inline uint32_t widened_eight(uint32_t v, int code, int relu) {
  float x = code == 'e' ? e4m3_to_float(v & 255) : e5m2_to_float(v & 255);
  return float_to_half(relu && (x < 0 || (v & 255) == 128) ? 0.0f : x, SIM_RN);
}
SIM_OP1(cvt_unsmall, u32, u32, widened_eight(a[l] >> 8, in->type[1], in->sat & SIM_RELU) << 16 |
                               widened_eight(a[l], in->type[1], in->sat & SIM_RELU))

/* tf32 is float32 with 10 bits of mantissa; SIM_RNA: ties go away from zero. */
static inline uint32_t tensor_float(float x, const sim_insn *in) {
  uint32_t u = bits_of(x), a = u & 0x7fffffff, r;
  if (x != x) return 0x7fffffff;
  if ((in->sat & SIM_RELU) && (u & 0x80000000)) return 0;
  if (a == 0x7f800000) return in->sat & SIM_FINITE ? u - 0x2000 : u;
  r = in->rnd == SIM_RNA ? (a + 0x1000) >> 13 << 13 : rounded(a, 13, in->rnd, u & 0x80000000) << 13;
  if ((in->sat & SIM_FINITE) && r >= 0x7f800000) r = 0x7f7fe000;
  return (u & 0x80000000) | r;
}
SIM_OP1(cvt_tf32, u32, f32, tensor_float(a[l], in))
