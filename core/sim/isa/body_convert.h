/* body_convert.h - moves, packing, conversions, address windows. */

SIM_OP1(mov_b32, u32, u32, a[l])
SIM_OP1(mov_b64, u64, u64, a[l])
SIM_OP1(cvt_b32_u16, u32, u32, a[l] & 0xffff)
SIM_OP1(cvt_b32_s16, u32, u32, (u32)(int16_t)a[l])
SIM_OP1(cvt_b32_u8, u32, u32, a[l] & 0xff)
SIM_OP1(cvt_b32_s8, u32, u32, (u32)(int8_t)a[l])
SIM_OP1(cvt_b64_u32, u64, u32, a[l])
SIM_OP1(cvt_b64_s32, s64, s32, a[l])
SIM_OP1(cvt_b32_b64, u32, u64, (u32)a[l])
SIM_OP1(cvt_f32_s32, f32, s32, (float)a[l])
SIM_OP1(cvt_f32_u32, f32, u32, (float)a[l])
SIM_OP1(cvt_f64_f32, f64, f32, (double)a[l])
SIM_OP1(cvt_f32_f64, f32, f64, (float)a[l])
SIM_OP1(cvt_f32_f16, f32, u32, half_to_float(a[l] & 0xffff))
SIM_OP1(cvt_f16_f32, u32, f32, float_to_half(a[l], SIM_RN))
SIM_OP1(cvt_f32_bf16, f32, u32, bf_to_float(a[l]))
SIM_OP1(cvt_bf16_f32, u32, f32, float_to_bf(a[l], SIM_RN))
SIM_OP2(cvt_f16x2_f32, u32, f32, f32, float_to_half(a[l], in->rnd) << 16 | float_to_half(b[l], in->rnd))
SIM_OP2(cvt_bf16x2_f32, u32, f32, f32, float_to_bf(a[l], in->rnd) << 16 | float_to_bf(b[l], in->rnd))

/* Clamped to the range; NaN is 0. */
SIM_OP1(cvt_s32_f32, s32, f32,
        a[l] >= 2147483648.0f ? INT32_MAX : a[l] >= -2147483648.0f ? (int32_t)a[l]
                                          : a[l] != a[l] ? 0 : INT32_MIN)

/* Windows of generic addresses onto shared and local memory. */
SIM_OP1(cvta_window, u64, u64, a[l] + (uint64_t)in->value)
SIM_OP1(cvta_to_window, u64, u64, a[l] - (uint64_t)in->value)

SIM_BEGIN(isspacep)
  const u64 *a = SIM_PLACE(u64, w, in->r[1]);
  uint32_t m;
  if (in->space == SIM_GLOBAL) SIM_TEST(m, a[l] >> SIM_SLOT_BITS >= SIM_SLOT_FIRST);
  else SIM_TEST(m, a[l] >> SIM_SLOT_BITS == in->space);
  set_mask(w, in->r[0], m);
SIM_END

/* ------------------------------------------------------- pack and unpack */

SIM_BEGIN(pack)
  unsigned bits = in->width * 8u, each = in->width == 8 ? 8 : 4;
  uint64_t low = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    uint64_t v = 0;
    for (unsigned k = in->vec; k-- > 0;)
      v = (bits == 64 ? 0 : v << bits) | (lane_of(w, in->r[k + 1], each, l) & low);
    put_lane(w, in->r[0], in->lane, l, v);
  }
SIM_END

SIM_BEGIN(unpack)
  static const uint8_t slot[] = { 0, 2, 3, 4 };
  unsigned bits = in->width * 8u, each = in->width == 8 ? 8 : 4;
  uint64_t low = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    uint64_t v = lane_of(w, in->r[1], in->lane, l);
    for (unsigned k = 0; k < in->vec; k++)
      put_lane(w, in->r[slot[k]], each, l, k == 0 ? v & low : v >> (bits * k) & low);
  }
SIM_END

/* ------------------------------- any conversion; mode 1: to an integral value */

typedef struct number { int is_float, is_signed; uint64_t i; double d; } number;

static inline number number_in(uint64_t raw, int code) {
  number n = { 0, 0, 0, 0 };
  n.is_float = code >= 'b';
  if (code == 'd') n.d = double_of(raw);
  else if (code == 'f') n.d = (double)float_of((uint32_t)raw);
  else if (code == 'h') n.d = (double)half_to_float((uint32_t)raw & 0xffff);
  else if (code == 'b') n.d = (double)bf_to_float((uint32_t)raw & 0xffff);
  else {
    unsigned drop = 64 - 8 * (code & 15);
    n.is_signed = code & 16;
    n.i = n.is_signed ? (uint64_t)((int64_t)(raw << drop) >> drop) : raw << drop >> drop;
  }
  return n;
}

static inline double integral(double x, int mode) {
  return mode == SIM_RZ ? __builtin_trunc(x) : mode == SIM_RM ? __builtin_floor(x)
       : mode == SIM_RP ? __builtin_ceil(x) : __builtin_rint(x);
}

/*
** A float becomes an integer of `bits`, clamped. NaN is 0, unless one of the
** two is 64 bits wide: then it is the top bit alone.
*/
static inline uint64_t to_integer(double x, unsigned bits, int is_signed, int mode, int from_double) {
  if (x != x) return bits == 64 || from_double ? UINT64_C(1) << (bits - 1) : 0;
  x = integral(x, mode);
  double top = bits == 64 ? 18446744073709551616.0 : (double)(UINT64_C(1) << bits);
  if (is_signed) top /= 2;
  if (x >= top) return is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
  if (is_signed) return x < -top ? (uint64_t)-(INT64_C(1) << (bits - 2)) * 2 : (uint64_t)(int64_t)x;
  return x <= 0 ? 0 : (uint64_t)x;
}

/* .sat of integers clamps to the destination's range. */
static inline uint64_t saturated(number n, unsigned bits, int is_signed) {
  uint64_t top = is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
  int negative = n.is_signed && (int64_t)n.i < 0;
  if (!negative) return n.i > top ? top : n.i;
  if (!is_signed) return 0;
  return (int64_t)n.i < -(int64_t)top - 1 ? ~top : n.i;
}

static inline uint64_t narrow(number n, const sim_insn *in) {
  int code = in->type[0], signed_int = n.is_signed && (int64_t)n.i < 0;
  if (code < 'b') {
    unsigned bits = 8u * (code & 15);
    if (n.is_float) return to_integer(n.d, bits, code & 16, in->rnd, in->type[1] == 'd');
    if (in->sat && bits < 64) return saturated(n, bits, code & 16);
    if (in->sat && (code & 16) == 0 && signed_int) return 0;
    return n.i;
  }
  double x = n.d;
  if (n.is_float && in->mode) x = integral(x, in->rnd);
  if (in->sat) x = x > 0 ? x < 1 ? x : 1 : 0;
  if (code == 'd') return bits_of64(n.is_float ? x : n.is_signed ? (double)(int64_t)n.i : (double)n.i);
  float f = n.is_float ? (float)x : n.is_signed ? (float)(int64_t)n.i : (float)n.i;
  if (code == 'f') return bits_of(in->ftz ? flushed(f) : f);
  if (!n.is_float) f = sticky(n.is_signed ? (double)(int64_t)n.i : (double)n.i);
  else f = sticky(x);
  int mode = in->mode ? SIM_RN : in->rnd;
  return code == 'h' ? float_to_half(f, mode) : float_to_bf(f, mode);
}

SIM_BEGIN(cvt_any)
  static const int modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD };
  int turned = in->rnd != SIM_RN && !in->mode && (in->type[0] == 'f' || in->type[0] == 'd');
  if (turned) fesetround(modes[in->rnd]);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    uint64_t raw = lane_of(w, in->r[1], in->from_lane, l);
    if (in->ftz && in->type[1] == 'f') raw = bits_of(flushed(float_of((uint32_t)raw)));
    put_lane(w, in->r[0], in->lane, l, narrow(number_in(raw, in->type[1]), in));
  }
  if (turned) fesetround(FE_TONEAREST);
SIM_END

/* cvt.f32.f32: to an integral value, saturated, flushed. */
static inline float reshaped(float x, const sim_insn *in) {
  if (in->ftz) x = flushed(x);
  if (in->mode) x = in->rnd == SIM_RZ ? __builtin_truncf(x) : in->rnd == SIM_RM ? __builtin_floorf(x)
                 : in->rnd == SIM_RP ? __builtin_ceilf(x) : __builtin_rintf(x);
  if (in->sat) x = x > 0 ? x < 1 ? x : 1 : 0;
  return x;
}
SIM_OP1(cvt_f32_f32, f32, f32, reshaped(a[l], in))
