/* body_compare.h - setp, set and testp. Predicates are masks of lanes. */

/* d|n = (test) op p: `mode` is the operation, `second` is n. */
static inline void put_tests(sim_warp *w, const sim_insn *in, uint32_t yes) {
  uint32_t no = ~yes;
  if (in->mode != 0) {
    uint32_t p = SIM_MASK_OF(w, in->r[3]) ^ (in->negate ? SIM_ALL : 0);
    if (in->mode == 1) yes &= p, no &= p;
    else if (in->mode == 2) yes |= p, no |= p;
    else yes ^= p, no ^= p;
  }
  set_mask(w, in->r[0], yes);
  set_second(w, in, no);
}

#define COMPARE_INT(name, T, cast) SIM_BEGIN(setp_##name) \
  const T *a = SIM_PLACE(T, w, in->r[1]), *b = SIM_PLACE(T, w, in->r[2]); \
  uint32_t m = 0; \
  switch (in->cmp & 7) { \
    case SIM_EQ: SIM_TEST(m, (cast)a[l] == (cast)b[l]); break; \
    case SIM_NE: SIM_TEST(m, (cast)a[l] != (cast)b[l]); break; \
    case SIM_LT: SIM_TEST(m, (cast)a[l] < (cast)b[l]); break; \
    case SIM_LE: SIM_TEST(m, (cast)a[l] <= (cast)b[l]); break; \
    case SIM_GT: SIM_TEST(m, (cast)a[l] > (cast)b[l]); break; \
    case SIM_GE: SIM_TEST(m, (cast)a[l] >= (cast)b[l]); break; \
    default: break; \
  } \
  put_tests(w, in, m); SIM_END
COMPARE_INT(s16, u32, int16_t)
COMPARE_INT(u16, u32, uint16_t)
COMPARE_INT(s32, s32, int32_t)
COMPARE_INT(u32, u32, uint32_t)
COMPARE_INT(s64, s64, int64_t)
COMPARE_INT(u64, u64, uint64_t)

/* Ordered comparisons are false with a NaN, the unordered ones (equ, ...) true. */
#define COMPARE_FLOAT(m, x, y) do { \
  uint32_t nan_; \
  SIM_TEST(nan_, (x) != (x) || (y) != (y)); \
  switch (in->cmp & 7) { \
    case SIM_EQ: SIM_TEST(m, (x) == (y)); break; \
    case SIM_NE: SIM_TEST(m, (x) != (y)); m &= ~nan_; break; \
    case SIM_LT: SIM_TEST(m, (x) < (y)); break; \
    case SIM_LE: SIM_TEST(m, (x) <= (y)); break; \
    case SIM_GT: SIM_TEST(m, (x) > (y)); break; \
    case SIM_GE: SIM_TEST(m, (x) >= (y)); break; \
    case SIM_NUM: m = ~nan_; break; \
    default: m = nan_; break; \
  } \
  if (in->cmp & SIM_UNORD) m |= nan_; \
} while (0)

SIM_BEGIN(setp_f32)
  const f32 *a = SIM_PLACE(f32, w, in->r[1]), *b = SIM_PLACE(f32, w, in->r[2]);
  uint32_t m = 0;
  if (in->ftz) COMPARE_FLOAT(m, flushed(a[l]), flushed(b[l]));
  else COMPARE_FLOAT(m, a[l], b[l]);
  put_tests(w, in, m);
SIM_END

SIM_BEGIN(setp_f64)
  const f64 *a = SIM_PLACE(f64, w, in->r[1]), *b = SIM_PLACE(f64, w, in->r[2]);
  uint32_t m = 0;
  COMPARE_FLOAT(m, a[l], b[l]);
  put_tests(w, in, m);
SIM_END

#define COMPARE_HALF(name, IN) SIM_BEGIN(setp_##name) \
  const u32 *a = SIM_PLACE(u32, w, in->r[1]), *b = SIM_PLACE(u32, w, in->r[2]); \
  float x[SIM_LANES], y[SIM_LANES]; \
  uint32_t m = 0; \
  for (unsigned l = 0; l < SIM_LANES; l++) x[l] = IN(a[l]), y[l] = IN(b[l]); \
  COMPARE_FLOAT(m, x[l], y[l]); \
  put_tests(w, in, m); SIM_END
COMPARE_HALF(f16, HALF_IN)
COMPARE_HALF(bf16, BF_IN)

/* Packed: the lower halves decide the first predicate, the upper the second. */
#define COMPARE_PAIR(name, IN) SIM_BEGIN(setp_##name) \
  const u32 *a = SIM_PLACE(u32, w, in->r[1]), *b = SIM_PLACE(u32, w, in->r[2]); \
  float x[SIM_LANES], y[SIM_LANES]; \
  uint32_t p = in->mode ? SIM_MASK_OF(w, in->r[3]) ^ (in->negate ? SIM_ALL : 0) : 0, m[2] = { 0, 0 }; \
  for (unsigned half = 0; half < 2; half++) { \
    for (unsigned l = 0; l < SIM_LANES; l++) x[l] = IN(a[l] >> 16 * half), y[l] = IN(b[l] >> 16 * half); \
    COMPARE_FLOAT(m[half], x[l], y[l]); \
    m[half] = in->mode == 1 ? m[half] & p : in->mode == 2 ? m[half] | p : m[half] ^ p; \
  } \
  set_mask(w, in->r[0], m[0]); \
  set_second(w, in, m[1]); \
  SIM_END
COMPARE_PAIR(f16x2, HALF_IN)
COMPARE_PAIR(bf16x2, BF_IN)

/* set: the value `value` where the predicate holds, for pairs in each half. */
SIM_BEGIN(set_from_pred)
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  uint32_t low = SIM_MASK_OF(w, in->r[1]), high = SIM_MASK_OF(w, in->r[2]), one = (uint32_t)in->value;
  if (in->vec == 1) SIM_EACH(w, d[l] = low & lane_bit[l] ? one : 0);
  else SIM_EACH(w, d[l] = (low & lane_bit[l] ? 0xffffu : 0) | (high & lane_bit[l] ? 0xffff0000u : 0));
SIM_END
#define SET_PAIR(name, one) SIM_BEGIN(name) \
  u32 *d = SIM_PLACE(u32, w, in->r[0]); \
  uint32_t low = SIM_MASK_OF(w, in->r[1]), high = SIM_MASK_OF(w, in->r[2]); \
  SIM_EACH(w, d[l] = (low & lane_bit[l] ? (one) : 0u) | (high & lane_bit[l] ? (one) << 16 : 0u)); SIM_END
SET_PAIR(set_f16x2, 0x3c00u)
SET_PAIR(set_bf16x2, 0x3f80u)

/* finite, infinite, number, notanumber, normal, subnormal: exponent and mantissa decide. */
static inline int kind_holds(int kind, int exponent_max, int exponent_zero, int mantissa_zero) {
  switch (kind) {
    case 0: return !exponent_max;
    case 1: return exponent_max && mantissa_zero;
    case 2: return !exponent_max || mantissa_zero;
    case 3: return exponent_max && !mantissa_zero;
    case 4: return !exponent_max && (!exponent_zero || mantissa_zero);   /* zero is normal */
    default: return exponent_zero && !mantissa_zero;
  }
}
SIM_BEGIN(testp_f32)
  const u32 *a = SIM_PLACE(u32, w, in->r[1]);
  uint32_t m = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    uint32_t e = a[l] >> 23 & 255;
    if (kind_holds(in->mode, e == 255, e == 0, (a[l] & 0x7fffff) == 0)) m |= lane_bit[l];
  }
  set_mask(w, in->r[0], m);
SIM_END
SIM_BEGIN(testp_f64)
  const u64 *a = SIM_PLACE(u64, w, in->r[1]);
  uint32_t m = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    uint64_t e = a[l] >> 52 & 2047;
    if (kind_holds(in->mode, e == 2047, e == 0, a[l] << 12 == 0)) m |= lane_bit[l];
  }
  set_mask(w, in->r[0], m);
SIM_END
