/*
** race.h - races that a store shows by itself: lanes of one warp that leave different values at one
** place; and races in global memory, between warps of a block and between blocks. What warps do to
** each other in shared memory is in shadow.h, what lanes of a warp do in lanes.h.
**
** For each word (4 bytes) of global memory the region notes who stored there last and who read it
** last: stretch << 8 | flags | warp, as the shadow of shared memory does. A stretch is what a block does
** from one barrier to the next; its number grows over launches, so that nothing needs to be cleared, and
** the device knows whose it is. Two accesses of one word, one of them a store that changes it, are a race
**
**   of two warps of a block, where both lie in one stretch
**   of two blocks, unless what the one did is known to the other by fences and flags: see order.h
**
** Atomic accesses race with plain ones only, compare-and-swap with plain stores only: its loop begins with a load. Stores of 1 and 2 bytes are not followed. Reads are noted in
** regions that a launch has stored to, or that one before has both read and stored to.
*/
#ifndef CAWB_SIM_WATCH_RACE_H
#define CAWB_SIM_WATCH_RACE_H

#include "sim/exec/request.h"

/* The first race is kept; a read of what nothing has written gives way to one, since it is often
   what a missing barrier looks like at first, and one between lanes to one between warps. Returns
   whether this is it. */
int sim_race_first(sim_warp *w, const sim_insn *in, int kind, int how);

/* Lanes of a store went to one place and their values differ: `lost` are those whose did not stay. */
void sim_race_lanes(sim_warp *w, const sim_insn *in, uint32_t lost, int space, uint64_t place);

/* Before a store of global memory; an atomic access; a load. */
void sim_race_store(sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr);
void sim_race_atomic(sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr);
void sim_race_load(sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr);

/* How a launch is followed: not at all; its blocks run in order; beside others, each for itself. */
enum { SIM_FOLLOWS_NOT, SIM_FOLLOWS, SIM_FOLLOWS_ALONE };
enum { SIM_STRETCH_MOST = 1 << 24 };

/* A block begins, or comes to a barrier (x->stretches). */
int  sim_stretches_room(sim_device *d, uint32_t n);      /* to know whose n are; 0: out of memory */
void sim_stretch_next(sim_exec *x, int begins);

#endif
