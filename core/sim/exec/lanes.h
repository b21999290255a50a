/*
** lanes.h - how an instruction is written: over 32 lanes, in loops that the compiler turns into
** vector code, of the instruction set of whoever includes this.
*/
#ifndef CAWB_SIM_EXEC_LANES_H
#define CAWB_SIM_EXEC_LANES_H

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/exec/exec.h"
#include "sim/instructions/ops.h"

/* Lanes are read as whatever type an instruction says. */
typedef uint8_t u8;
typedef uint16_t u16 __attribute__((may_alias));
typedef uint32_t u32 __attribute__((may_alias));
typedef uint64_t u64 __attribute__((may_alias));
typedef int32_t s32 __attribute__((may_alias));
typedef int64_t s64 __attribute__((may_alias));
typedef float f32 __attribute__((may_alias));
typedef double f64 __attribute__((may_alias));

#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"   /* a loop that stays scalar is no error */
#define SIM_VECTOR _Pragma("clang loop vectorize(assume_safety)")
#else
#define SIM_VECTOR _Pragma("GCC ivdep")
#endif

#define SIM_PLACE(type, w, ref) \
  ((type *)__builtin_assume_aligned((w)->base[(ref).base] + (ref).off, 64))
#define SIM_MASK_OF(w, ref) (*(u32 *)(void *)((w)->base[(ref).base] + (ref).off))

/* Do `...` for each active lane l; fast where all are. */
#define SIM_EACH(w, ...) do { \
    if ((w)->mask == SIM_ALL) { \
      SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) { __VA_ARGS__; } \
    } else { \
      const uint32_t lanes_ = (w)->mask; \
      SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) if (lanes_ >> l & 1) { __VA_ARGS__; } \
    } \
  } while (0)

/* A lane of a register of 4 or 8 bytes; the lanes of a predicate. */
static inline uint64_t lane_of(const sim_warp *w, sim_ref r, unsigned bytes, unsigned l) {
  const unsigned char *p = w->base[r.base] + r.off;
  return bytes == 8 ? ((const u64 *)(const void *)p)[l] : ((const u32 *)(const void *)p)[l];
}
static inline void put_lane(sim_warp *w, sim_ref r, unsigned bytes, unsigned l, uint64_t v) {
  unsigned char *p = w->base[r.base] + r.off;
  if (bytes == 8) ((u64 *)(void *)p)[l] = v;
  else ((u32 *)(void *)p)[l] = (uint32_t)v;
}
static inline void set_mask(sim_warp *w, sim_ref r, uint32_t value) {
  u32 *p = &SIM_MASK_OF(w, r);
  *p = (*p & ~w->mask) | (value & w->mask);
}
/* The second result, where there is one. */
static inline void set_second(sim_warp *w, const sim_insn *in, uint32_t value) {
  if (in->second != SIM_NONE) set_mask(w, (sim_ref){ SIM_REGS, in->second }, value);
}

#define SIM_BEGIN(name) static int op_##name(sim_warp *w, const sim_insn *in) {
#define SIM_END return SIM_NEXT; }

/* Destination type D, source types A, B, C; sources as a[l], b[l], c[l]. */
#define SIM_OP1(name, D, A, expr) SIM_BEGIN(name) \
  D *d = SIM_PLACE(D, w, in->r[0]); const A *a = SIM_PLACE(A, w, in->r[1]); \
  SIM_EACH(w, d[l] = (expr)); SIM_END
#define SIM_OP2(name, D, A, B, expr) SIM_BEGIN(name) \
  D *d = SIM_PLACE(D, w, in->r[0]); const A *a = SIM_PLACE(A, w, in->r[1]); \
  const B *b = SIM_PLACE(B, w, in->r[2]); \
  SIM_EACH(w, d[l] = (expr)); SIM_END
#define SIM_OP3(name, D, A, B, C, expr) SIM_BEGIN(name) \
  D *d = SIM_PLACE(D, w, in->r[0]); const A *a = SIM_PLACE(A, w, in->r[1]); \
  const B *b = SIM_PLACE(B, w, in->r[2]); const C *c = SIM_PLACE(C, w, in->r[3]); \
  SIM_EACH(w, d[l] = (expr)); SIM_END

/* The lanes where `test` of lane l holds, as a mask. */
#define SIM_TEST(mask, test) do { \
    uint32_t found_ = 0; \
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) found_ |= (test) ? lane_bit[l] : 0; \
    (mask) = found_; \
  } while (0)

static const uint32_t lane_bit[SIM_LANES] __attribute__((aligned(64), unused)) = {
  1u << 0, 1u << 1, 1u << 2, 1u << 3, 1u << 4, 1u << 5, 1u << 6, 1u << 7,
  1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
  1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
  1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31
};

static inline uint32_t bits_of(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
static inline float float_of(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }
static inline uint64_t bits_of64(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }
static inline double double_of(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }

/* Subnormals become zero of the same sign. */
static inline float flushed(float x) {
  uint32_t u = bits_of(x);
  return float_of((u & 0x7f800000u) == 0 ? u & 0x80000000u : u);
}

#endif
