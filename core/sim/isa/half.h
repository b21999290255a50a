/*
** half.h - float16 and bfloat16 from float32 and back, rounded as the instructions cvt do; for instructions and for libraries' calls.
** NaN becomes 0x7fff.
*/
#ifndef CAWB_SIM_HALF_H
#define CAWB_SIM_HALF_H

#include "sim/instructions/insn.h"
#include "sim/exec/lanes.h"

static inline float half_to_float(uint32_t h) {
  uint32_t sign = (h & 0x8000) << 16, body = (h & 0x7fff) << 13;
  float scaled = float_of(body) * 5.192296858534828e33f;   /* 2^112: exponents, subnormals too */
  uint32_t u = bits_of(scaled);
  if ((h & 0x7c00) == 0x7c00) u = body | 0x7f800000;
  return float_of(sign | u);
}
static inline float bf_to_float(uint32_t h) { return float_of(h << 16); }

/* Round the low `drop` bits of u: to nearest even, or as `mode` says for a sign. */
static inline uint32_t rounded(uint32_t u, unsigned drop, int mode, uint32_t negative) {
  uint32_t rest = u & ((1u << drop) - 1), half = 1u << (drop - 1), q = u >> drop;
  if (mode == SIM_RN) return q + (rest > half || (rest == half && (q & 1)));
  if (mode == SIM_RZ) return q;
  return q + (rest != 0 && (mode == SIM_RM) == (negative != 0));
}

static inline uint32_t float_to_half(float x, int mode) {
  uint32_t u = bits_of(x), sign = u >> 16 & 0x8000, a = u & 0x7fffffff, r;
  if (a > 0x7f800000) return 0x7fff;
  if (a == 0x7f800000) return sign | 0x7c00;
  if (a < 0x38800000) {                       /* subnormal: the unit is 2^-24 */
    unsigned e = a >> 23, shift = e > 101 ? 126 - e : 25;
    uint32_t m = (a & 0x7fffff) | (e ? 0x800000 : 0);
    if (shift >= 25) m = m != 0, shift = 2;   /* less than half a unit */
    r = rounded(m, shift, mode, sign);
  } else r = rounded(a - 0x38000000, 13, mode, sign);
  if (r >= 0x7c00)
    r = mode == SIM_RZ || (mode != SIM_RN && (mode == SIM_RM) != (sign != 0)) ? 0x7bff : 0x7c00;
  return sign | r;
}
static inline uint32_t float_to_bf(float x, int mode) {
  uint32_t u = bits_of(x);
  if (x != x) return 0x7fff;
  uint32_t r = rounded(u & 0x7fffffff, 16, (u & 0x7f800000) == 0x7f800000 ? SIM_RZ : mode, u & 0x80000000);
  return (u >> 16 & 0x8000) | r;
}

#endif
