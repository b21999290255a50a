/*
** request.h - a request: one access to memory by the lanes of a warp. Their 32 addresses are looked
** at together: all of them side by side (dense), all the same, or mixed.
*/
#ifndef CAWB_SIM_EXEC_REQUEST_H
#define CAWB_SIM_EXEC_REQUEST_H

#include "sim/exec/lanes.h"
#include "sim/memory/region.h"

/* CROSSED: mixed, and some lanes share a place. */
enum { MIXED, DENSE, SAME, CROSSED };

enum { READ, WRITE, ATOMIC, LOOK, SWAP };      /* LOOK: an atomic load; SWAP: a compare-and-swap */

/* Where the lanes of a global access are. */
typedef struct sim_where {
  unsigned char *host;       /* of the region; lane l is at host + (addr[l] - base) */
  uint64_t base;
  sim_notes *blocks;         /* see sim/watch/race.h; NULL: nobody looks */
  uint64_t *written;         /* see sim/watch/uninitialised.h; NULL: nobody looks */
  int pattern;
} sim_where;

static inline sim_ref element(const sim_insn *in, unsigned k) { return in->r[k == 0 ? 0 : k + 1]; }

static inline void addresses(const sim_warp *w, const sim_insn *in, sim_ref r, int wide,
                             int64_t offset, uint64_t *out) {
  if (wide) {
    const u64 *a = SIM_PLACE(u64, w, r);
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) out[l] = a[l] + (uint64_t)offset;
  } else {
    const u32 *a = SIM_PLACE(u32, w, r);
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) out[l] = (uint32_t)(a[l] + (uint32_t)offset);
  }
  (void)in;
}

static inline int pattern_of(const uint64_t *addr, uint32_t mask, unsigned size) {
  if (mask != SIM_ALL) return MIXED;
  uint64_t first = addr[0], uneven = 0, differ = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    uneven |= addr[l] ^ (first + (uint64_t)l * size);
    differ |= addr[l] ^ first;
  }
  return uneven == 0 ? DENSE : differ == 0 ? SAME : MIXED;
}

/* Lowest and highest address, and the bits that any address has. */
static inline void extent(const uint64_t *addr, uint32_t mask, uint64_t *lo, uint64_t *hi, uint64_t *any) {
  uint64_t least = UINT64_MAX, most = 0, all = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(mask >> l & 1)) continue;
    least = addr[l] < least ? addr[l] : least;
    most = addr[l] > most ? addr[l] : most;
    all |= addr[l];
  }
  *lo = least;
  *hi = most;
  *any = all;
}

/* Set bits `first` to `last`. */
static inline void touch_range(uint64_t *bits, uint64_t first, uint64_t last) {
  for (uint64_t word = first >> 6; word <= last >> 6; word++) {
    uint64_t m = UINT64_MAX;
    if (word == first >> 6) m &= UINT64_MAX << (first & 63);
    if (word == last >> 6) m &= UINT64_MAX >> (63 - (last & 63));
    bits[word] |= m;
  }
}

/* Run `fn` for one lane at a time. */
static inline int one_by_one(sim_warp *w, const sim_insn *in, sim_fn fn) {
  uint32_t mask = w->mask;
  int event = SIM_NEXT;
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(mask >> l & 1)) continue;
    w->mask = 1u << l;
    event = fn(w, in);
  }
  w->mask = mask;
  return event;
}

#endif
