/*
** l2.h - which sectors L2 has of those that L1 asks for: see cache.h, which asks as blocks
** are executed, and sim/cores/replay.c, which asks for those that ran beside others, in their order.
*/
#ifndef CAWB_SIM_ACCESS_L2_H
#define CAWB_SIM_ACCESS_L2_H

#include <math.h>

#include "sim/exec/exec.h"

/* Note who touches a line; 1: L2 has lost it since another block of the launch did. A line
** takes the room of its four sectors, whichever of them are asked for. */
static inline int line_lost(sim_exec *x, const sim_region *r, uint64_t line) {
  uint32_t now = x->first_stamp + x->serial, before = r->last[line];
  r->last[line] = now;
  if (before == now) return 0;
  double apart = before < x->first_stamp ? HUGE_VAL : now > before ? now - before : before - now;
  x->counts.filled += apart > x->at_once ? 4 : 0;
  if (before < x->first_stamp) return 0;
  return apart * x->block_sectors > x->l2_sectors;
}

/* Whether the launch, or one before it, has asked for all these sectors. */
static inline int was_touched(const sim_region *r, uint64_t sector, uint32_t mask) {
  const uint64_t *at = r->bits + (sector >> 6);
  uint64_t any = at[0] | at[SIM_READS_RUN * r->words] | at[SIM_WRITES_RUN * r->words];
  return ((any >> (sector & 63)) & mask) == mask;
}

/* DRAM gives two sectors at a time. */
static inline unsigned pairs(uint32_t sectors) {
  return 2 * ((sectors & 3) != 0) + 2 * ((sectors & 12) != 0);
}

/* Sectors of a line, from `first` on, that L1 has not. Returns the level that has: 1 L2, 2 DRAM.
** To be called before the sectors are noted as touched. */
static inline unsigned l2_load(sim_exec *x, const sim_region *r, uint64_t first, uint32_t missing, uint32_t old) {
  int lost = line_lost(x, r, first >> 2);
  if (!was_touched(r, first, missing)) return 2;
  if (!lost && old == 0) return 1;
  x->counts.evicted += pairs(lost ? missing : old);
  return 2;
}

/* Part of a sector that L2 has lost must be fetched and merged. */
static inline void l2_store(sim_exec *x, const sim_region *r, uint64_t first, uint32_t sectors, int whole) {
  const uint64_t *at = r->bits + SIM_WRITES_NOW * r->words + (first >> 6);
  unsigned n = (unsigned)__builtin_popcount(sectors);
  int lost = line_lost(x, r, first >> 2);
  if (!lost || ((*at >> (first & 63)) & sectors) != sectors) return;
  if (whole) x->counts.evicted += n;
  else x->counts.merged += n, x->counts.merged_lines++;
}

#endif
