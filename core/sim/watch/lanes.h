/*
** lanes.h - races between the lanes of a warp in shared memory: one lane stores to a place, another one loads from it, and
** neither access happens before the other. A note for each unit of shared memory says which lane stored to it last, which
** lane read it last, and in which epochs (sim/exec/warp_sync.h). An access races with a note of another lane whose epoch
** does not happen before it. Not all accesses are noted and checked: only those that another access may follow, or precede,
** without a synchronisation between them. sim/read/lanes.c finds these when a kernel is decoded.
*/
#ifndef CAWB_SIM_WATCH_LANES_H
#define CAWB_SIM_WATCH_LANES_H

#include "sim/exec/request.h"

/* An access to shared memory, before it. READ or WRITE. */
void sim_lanes_access(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size, int how);

#endif
