/*
** global.h - accesses to global memory: checks, counts, 32-byte sectors touched. The look at all
** lanes is here, for the instruction set of whoever includes it; the rest is in global.c.
*/
#ifndef CAWB_SIM_ACCESS_GLOBAL_H
#define CAWB_SIM_ACCESS_GLOBAL_H

#include "sim/exec/request.h"
#include "sim/memory/device.h"

/* Of a block that runs beside others, before it stores bytes `from` up to `to`; 0: it must not. */
int sim_global_may_store(sim_warp *w, sim_region *r, uint64_t from, uint64_t to);

/* Count a request for bytes `from` up to `to` of a region. */
void sim_global_range(sim_warp *w, const sim_region *r, uint64_t from, uint64_t to, int how);

/* Count a request of all lanes, the lowest of them at `lo`, the highest at `hi`. SIM_FAULT: the
   block must not go on here. */
int sim_global_count(sim_warp *w, const sim_insn *in, sim_region *r, const uint64_t *addr, unsigned size, int how,
                     int pattern, uint64_t lo, uint64_t hi);

/* The first lane that is wrong: SIM_FAULT; or they lie in several regions: SIM_SPLIT. */
int sim_global_fault(sim_warp *w, const sim_insn *in, const uint64_t *addr, unsigned size, int how);

/* Check a global access and count it. SIM_SPLIT: take the lanes one by one. */
static inline int global_access(sim_warp *w, const sim_insn *in, const uint64_t *addr, unsigned size,
                                int how, int counted, sim_where *where) {
  uint64_t lo = addr[0], hi = addr[0], any = addr[0];
  sim_exec *x = w->exec;
  *where = (sim_where){ NULL, 0, NULL, NULL, pattern_of(addr, w->mask, size) };
  if (where->pattern == DENSE) hi = lo + (uint64_t)(SIM_LANES - 1) * size;
  else if (where->pattern == MIXED) extent(addr, w->mask, &lo, &hi, &any);
  uint64_t slot = lo >> SIM_SLOT_BITS;
  sim_region *r = slot < SIM_SLOTS ? x->device->slots[slot] : NULL;
  if (r == NULL || lo - r->base >= r->size || hi - r->base >= r->size ||
      r->size - (hi - r->base) < size || (any & (size - 1)))
    return sim_global_fault(w, in, addr, size, how);
  where->host = r->host;
  where->base = r->base;
  where->written = x->checks ? r->written : NULL;
  where->blocks = x->follows && r->notes.writers != NULL ? &r->notes : NULL;
  return counted ? sim_global_count(w, in, r, addr, size, how, where->pattern, lo, hi) : SIM_NEXT;
}

#endif
