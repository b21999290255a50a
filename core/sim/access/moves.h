/*
** moves.h - between memory and registers, the access having been checked; for the instruction set
** of whoever includes it. fetch_far, put_far, lost_far take 64-bit addresses (global memory),
** fetch_near, put_near, lost_near 32-bit ones (shared memory).
*/
#ifndef CAWB_SIM_ACCESS_MOVES_H
#define CAWB_SIM_ACCESS_MOVES_H

#include "sim/exec/request.h"

typedef uint32_t quad __attribute__((vector_size(16)));

/* 32-bit elements of lanes that lie side by side, or all at one place. */
#define SPREAD(n) \
  for (unsigned k = 0; k < (n); k++) { \
    u32 *d = SIM_PLACE(u32, w, element(in, k)); \
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) d[l] = from[l * (n) + k]; \
  } \
  return
#define COLLECT(n) \
  for (unsigned k = 0; k < (n); k++) { \
    const u32 *d = SIM_PLACE(u32, w, element(in, k)); \
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) to[l * (n) + k] = d[l]; \
  } \
  return

static inline void fetch_dense(sim_warp *w, const sim_insn *in, const u32 *from) {
  switch (in->vec) {
    case 1: memcpy(SIM_PLACE(u32, w, in->r[0]), from, 128); return;
    case 2: SPREAD(2);
    default: SPREAD(4);
  }
}
static inline void put_dense(sim_warp *w, const sim_insn *in, u32 *to) {
  switch (in->vec) {
    case 1: memcpy(to, SIM_PLACE(u32, w, in->r[0]), 128); return;
    case 2: COLLECT(2);
    default: COLLECT(4);
  }
}
static inline void fetch_same(sim_warp *w, const sim_insn *in, const u32 *from) {
  for (unsigned k = 0; k < in->vec; k++) {
    u32 *d = SIM_PLACE(u32, w, element(in, k)), v = from[k];
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) d[l] = v;
  }
}

#define ADDR uint64_t
#define NAME(x) x##_far
#include "sim/access/fetch.h"
#undef ADDR
#undef NAME
#define ADDR uint32_t
#define NAME(x) x##_near
#include "sim/access/fetch.h"
#undef ADDR
#undef NAME

#endif
