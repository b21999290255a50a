/*
** uninitialised.h - reads of memory that nothing has written: global memory that was poisoned
** (outputs, scratch tensors) and the thread's local memory. A bit, or a byte, for each byte says
** that something was stored there. An element of which any part was is not reported: compilers copy
** structures with their gaps. Shared memory is in shadow.h.
*/
#ifndef CAWB_SIM_WATCH_UNINITIALISED_H
#define CAWB_SIM_WATCH_UNINITIALISED_H

#include "sim/exec/request.h"

/* Returns whether this is the finding that is kept. */
int  sim_uninitialised_note(sim_warp *w, const sim_insn *in, int space, unsigned lane, uint64_t place);

/* Before a load, or an atomic access, of global memory; with a store. */
void sim_uninitialised_check(sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr);
void sim_uninitialised_mark(const sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr);

/* The same of a piece of a region, all of which is accessed. */
void sim_uninitialised_range(sim_warp *w, const sim_insn *in, sim_region *r, unsigned lane, uint64_t addr,
                             uint32_t size, int how);

/* A thread's local memory: `addr` are places in the warp's area. Whether a load reads what was not written. */
int sim_uninitialised_local(sim_warp *w, const sim_insn *in, const uint64_t *addr, int how);

#endif
