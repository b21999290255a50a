/*
** body_half.h - 16-bit floats: widened to float32 or float64, computed there
** and rounded once. A float32 sum or product of two halves rounds to a half as
** the exact result would (24 >= 2 * 11 + 2 bits); fma goes through double with
** a sticky bit, so that it too is rounded once.
*/

/* A double as a float whose last bit says that something was dropped. */
static inline float sticky(double x) {
  float f = (float)x;
  if (x != x || (double)f == x || f - f != 0) return f;
  uint32_t u = bits_of(f);
  if (u & 1) return f;
  if (((double)f > x) == (f > 0)) u--;        /* truncate, then set the sticky bit */
  return float_of(u | 1);
}

#define HALF_IN(x) half_to_float((x) & 0xffff)
#define HALF_OUT(x) float_to_half((x), SIM_RN)
#define BF_IN(x) bf_to_float((x) & 0xffff)
#define BF_OUT(x) float_to_bf((x), SIM_RN)

/* `expr` of x, y, z for scalars and for both halves of packed pairs. */
#define HALF_FN(name, IN, OUT, expr) \
  static inline uint32_t name(uint32_t a_, uint32_t b_, uint32_t c_) { \
    float x = IN(a_), y = IN(b_), z = IN(c_); (void)y; (void)z; return OUT(expr); } \
  static inline uint32_t name##_2(uint32_t a_, uint32_t b_, uint32_t c_) { \
    return name(a_, b_, c_) | name(a_ >> 16, b_ >> 16, c_ >> 16) << 16; }
#define HALF_BOTH(op, expr) \
  HALF_FN(op##_h, HALF_IN, HALF_OUT, expr) HALF_FN(op##_b, BF_IN, BF_OUT, expr)
#define HALF_OP(op, kind, fn) SIM_BEGIN(op##_##kind) \
  u32 *d = SIM_PLACE(u32, w, in->r[0]); const u32 *a = SIM_PLACE(u32, w, in->r[1]); \
  const u32 *b = in->r[2].base != SIM_UNUSED ? SIM_PLACE(u32, w, in->r[2]) : a; \
  const u32 *c = in->r[3].base != SIM_UNUSED ? SIM_PLACE(u32, w, in->r[3]) : a; \
  SIM_EACH(w, d[l] = fn(a[l], b[l], c[l])); SIM_END
#define HALF_OPS(op, expr) HALF_BOTH(op, expr) \
  HALF_OP(op, f16, op##_h) HALF_OP(op, f16x2, op##_h_2) \
  HALF_OP(op, bf16, op##_b) HALF_OP(op, bf16x2, op##_b_2)

HALF_OPS(add, x + y)
HALF_OPS(sub, x - y)
HALF_OPS(mul, x * y)
HALF_OPS(fma, sticky((double)x * y + z))
HALF_OPS(min, lesser(x, y))
HALF_OPS(max, greater(x, y))
HALF_OPS(min_nan, nan_or(x, y, lesser(x, y)))
HALF_OPS(max_nan, nan_or(x, y, greater(x, y)))
HALF_OPS(ex2, exp2_of(x))
HALF_OPS(tanh, tanh_of(x))
SIM_OP1(neg_f16, u32, u32, a[l] ^ 0x8000)
SIM_OP1(neg_bf16, u32, u32, a[l] ^ 0x8000)
SIM_OP1(abs_f16, u32, u32, a[l] & 0x7fff)
SIM_OP1(abs_bf16, u32, u32, a[l] & 0x7fff)
SIM_OP1(neg_f16x2, u32, u32, a[l] ^ 0x80008000)
SIM_OP1(neg_bf16x2, u32, u32, a[l] ^ 0x80008000)
SIM_OP1(abs_f16x2, u32, u32, a[l] & 0x7fff7fff)
SIM_OP1(abs_bf16x2, u32, u32, a[l] & 0x7fff7fff)

/* ----------------------------------- other roundings and saturation, around */

/* .sat clamps to [0, 1] with NaN as 0; .relu to [0, inf) and keeps NaN. */
static inline float bounded(float x, int how) {
  if (how == SIM_SAT) return x > 0 ? x < 1 ? x : 1.0f : 0.0f;
  return x < 0 ? 0.0f : x;
}
HALF_FN(bound_sat_h, HALF_IN, HALF_OUT, bounded(x, SIM_SAT))
HALF_FN(bound_sat_b, BF_IN, BF_OUT, bounded(x, SIM_SAT))
HALF_FN(bound_relu_h, HALF_IN, HALF_OUT, bounded(x, SIM_RELU))
HALF_FN(bound_relu_b, BF_IN, BF_OUT, bounded(x, SIM_RELU))

static inline uint32_t bounded_bits(uint32_t v, int kind, int how) {
  int sat = how == SIM_SAT;
  switch (kind) {
    case 'h': return sat ? bound_sat_h(v, 0, 0) : bound_relu_h(v, 0, 0);
    case 'H': return sat ? bound_sat_h_2(v, 0, 0) : bound_relu_h_2(v, 0, 0);
    case 'b': return sat ? bound_sat_b(v, 0, 0) : bound_relu_b(v, 0, 0);
    case 'B': return sat ? bound_sat_b_2(v, 0, 0) : bound_relu_b_2(v, 0, 0);
    default: return bits_of(bounded(float_of(v), how));
  }
}

static int op_adjust(sim_warp *w, const sim_insn *in) {
  static const int modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD };
  if (in->rnd != SIM_RN) fesetround(modes[in->rnd]);
  in->inner(w, in);
  if (in->rnd != SIM_RN) fesetround(FE_TONEAREST);
  if (in->sat == 0) return SIM_NEXT;
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  SIM_EACH(w, d[l] = bounded_bits(d[l], in->type[0], in->sat));
  return SIM_NEXT;
}
