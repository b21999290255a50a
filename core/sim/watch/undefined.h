/*
** undefined.h - values that were read where nothing had been written, for as long as they decide nothing.
**
** Code reads ahead and drops what it has read, so that a load of shared or local memory to which nothing was written is
** no finding by itself. From there on the instructions of the warp are looked at one by one, and for each register it is
** known in which lanes it is undefined: a lane of a register is so as a whole. Arithmetic, moves and shuffles pass it on;
** a selection, and, or pass on what they let through. A finding is made, of the load and its thread, where such a value
** is branched on, is an address, is stored to global memory, or goes into an instruction that is none of these (votes,
** reductions, atomics, products of matrices). What is stored to shared or local memory counts as not written there.
**
** Warps without such values are not slowed down: w->undefined is NULL then.
*/
#ifndef CAWB_SIM_WATCH_UNDEFINED_H
#define CAWB_SIM_WATCH_UNDEFINED_H

#include "sim/exec/request.h"

/* Whether what this load brings can be followed. */
static inline int sim_undefined_may(const sim_insn *in) {
  return in->op == SIM_OP_ld_shared || in->op == SIM_OP_ld_local || in->op == SIM_OP_ld_generic;
}

/* A load some of whose bytes nothing has written, before its registers get them. SIM_UNDEFINED: the warp's values are
   followed from here on; SIM_NEXT: they were already, or cannot be, and that is a finding. */
int sim_undefined_shared(sim_warp *w, const sim_insn *in, const uint32_t *addr);
int sim_undefined_local(sim_warp *w, const sim_insn *in, const uint64_t *addr);

/* After a store of a warp that is followed. */
void sim_undefined_kept(sim_warp *w, const sim_insn *in, const uint32_t *addr);
void sim_undefined_kept_local(sim_warp *w, const sim_insn *in, const uint64_t *addr);

/* Execute an instruction in the lanes of w->mask, and follow what it does. */
int sim_undefined_run(sim_warp *w, const sim_insn *in);

void sim_undefined_free(sim_warp *w);

#endif
