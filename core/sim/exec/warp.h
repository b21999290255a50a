/*
** warp.h - instructions with a member mask wait until the lanes that it names have come to them;
** lanes that have exited are not waited for.
*/
#ifndef CAWB_SIM_EXEC_WARP_H
#define CAWB_SIM_EXEC_WARP_H

#include "sim/exec/lanes.h"
#include "sim/exec/warp_sync.h"

/* Whether all of `named` are here, those that have exited apart. */
static inline int all_here(sim_warp *w, uint32_t named) {
  uint32_t absent = named & w->live & ~w->mask;
  if (absent == 0) return 1;
  for (unsigned i = 0; i < w->ngroups;) {     /* others may be waiting right here */
    sim_group *g = &w->group[i];
    if (g->state == SIM_AT_WARP && g->pc == w->pc) {
      w->active |= g->mask;
      w->mask |= g->mask;
      *g = w->group[--w->ngroups];
    } else i++;
  }
  return (named & w->live & ~w->mask) == 0;
}

/* The lanes that have come together synchronise, each with the lanes of its mask. Returns 1. */
static inline int sync_masks(sim_warp *w, const u32 *m) {
  uint32_t missing = 0;
  if (!w->exec->checks) return 1;
  for (unsigned l = 0; l < SIM_LANES; l++) missing |= (w->mask & ~m[l]) & lane_bit[l];
  if (missing != 0) sim_warp_sync_misnamed(w, (unsigned)__builtin_ctz(missing), m[__builtin_ctz(missing)]);
  sim_warp_sync_masks(w, m);
  return 1;
}

/* Whether all lanes that the masks of these lanes name are here. */
static inline int gathered(sim_warp *w, sim_ref mask) {
  const u32 *m = SIM_PLACE(u32, w, mask);
  uint32_t before, named = 0;
  if (w->mask == SIM_ALL) {
    if (mask.base != SIM_CONSTS || m[0] != SIM_ALL) return sync_masks(w, m);
    if (w->exec->lane_writes != NULL) sim_warp_sync_all(w);
    return 1;
  }
  do {
    before = w->mask;
    for (unsigned l = 0; l < SIM_LANES; l++) named |= before >> l & 1 ? m[l] : 0;
    if (!all_here(w, named)) return 0;
  } while (w->mask != before);               /* those who waited name others, perhaps */
  return sync_masks(w, m);
}

/* Tiles of a warp come with masks of their own: the lanes of `left` whose mask is that of
   the first of them, which leave `left`. `members`: the lanes that it names and that are here. */
static inline uint32_t next_tile(const sim_warp *w, sim_ref mask, uint32_t *left, uint32_t *members) {
  const u32 *m = SIM_PLACE(u32, w, mask);
  uint32_t named = m[__builtin_ctz(*left)], same = 0;
  SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) same |= m[l] == named ? lane_bit[l] : 0;
  same &= *left;
  *left &= ~same;
  *members = named & w->mask;
  return same;
}

/* Where lane l of a shuffle reads, or beyond its segment: itself, and not in range. */
static inline unsigned shuffle_from(int mode, unsigned l, uint32_t b, uint32_t c, int *in_range) {
  uint32_t segment = c >> 8 & 31, clamp = c & 31, from;
  uint32_t low = l & segment, high = low | (clamp & ~segment);
  b &= 31;
  int ok;
  if (mode == 0) { from = l - b; ok = (int)from >= (int)high; }
  else if (mode == 1) { from = l + b; ok = from <= high; }
  else if (mode == 2) { from = l ^ b; ok = from <= high; }
  else { from = low | (b & ~segment); ok = from <= high; }
  *in_range = ok;
  return ok ? from & 31 : l;
}

/* All lanes that live must be here: 1, or 0 to wait for the others. */
static inline int whole_warp(sim_warp *w) {
  if (w->mask != SIM_ALL && !all_here(w, SIM_ALL)) return 0;
  sim_warp_sync_all(w);
  return 1;
}

#endif
