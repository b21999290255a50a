/* undefined_note.h - what is known of the undefined values of a warp; for undefined.c and undefined_run.c. */
#ifndef CAWB_SIM_WATCH_UNDEFINED_NOTE_H
#define CAWB_SIM_WATCH_UNDEFINED_NOTE_H

#include "sim/watch/undefined.h"

/* Loads whose values may be under way at once. */
enum { SIM_ORIGINS = 64 };

/* The last time that this load brought undefined values, and from where. */
typedef struct sim_origin {
  const sim_insn *in;
  int space;
  uint32_t lanes;
  uint64_t place[SIM_LANES];
} sim_origin;

struct sim_undefined {
  uint32_t registers;           /* that are undefined in any lane */
  uint32_t carry, carry_from;   /* lanes of the condition code; and its origin */
  uint32_t size;                /* of the lists, which are by register: its offset in words */
  uint32_t norigins;
  sim_origin origins[SIM_ORIGINS];
  uint8_t *from;                /* the origin; */
  uint32_t lanes[];             /* undefined lanes */
};

/* From now on a register is undefined in `lanes` of those that are `here`. */
static inline void undefined_put(struct sim_undefined *u, uint32_t off, uint32_t here, uint32_t lanes, uint32_t from) {
  uint32_t *at = &u->lanes[off / 4], was = *at;
  *at = (was & ~here) | (lanes & here);
  u->registers += (uint32_t)(*at != 0) - (uint32_t)(was != 0);
  if ((lanes & here) != 0) u->from[off / 4] = (uint8_t)from;
}

#endif
