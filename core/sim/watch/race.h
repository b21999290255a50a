/*
** race.h - races that a store shows by itself: lanes of one warp that leave different values at one
** place, and blocks that do so in global memory. What warps do to each other in shared memory is
** in shadow.h.
**
** For each sector (32 bytes) of global memory the region notes the block that stored there last.
** Where it stored to all of it, that is all; else the sector is parted, and each of its words
** (4 bytes) has a note of its own. A block's number grows over launches, so that nothing needs to
** be cleared. Stores of 1 and 2 bytes are not followed.
*/
#ifndef CAWB_SIM_WATCH_RACE_H
#define CAWB_SIM_WATCH_RACE_H

#include "sim/exec/request.h"

/* The first race is kept; a read of what nothing has written gives way to one, since it is often
   what a missing barrier looks like at first. Returns whether this is it. */
int sim_race_first(sim_warp *w, const sim_insn *in, int kind, int how);

/* Lanes of a store went to one place and their values differ: `lost` are those whose did not stay. */
void sim_race_lanes(sim_warp *w, const sim_insn *in, uint32_t lost, int space, uint64_t place);

/* Before a store of global memory; an atomic access; a load. */
void sim_race_store(sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr);
void sim_race_atomic(sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr);
void sim_race_load(sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr);

#endif
