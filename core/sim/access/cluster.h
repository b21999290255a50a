/*
** cluster.h - shared memory of the other blocks of a cluster. An address that mapa made has the
** block's rank + 1 in its top byte; one without is the block's own. What comes from elsewhere
** counts, for the race detector, as several warps.
*/
#ifndef CAWB_SIM_ACCESS_CLUSTER_H
#define CAWB_SIM_ACCESS_CLUSTER_H

#include "sim/exec/exec.h"

enum { SIM_RANK_SHIFT = 24 };

sim_exec *sim_cluster_member(const sim_exec *x, uint32_t addr);     /* the block that an address lies in, or NULL */
static inline uint32_t sim_cluster_within(uint32_t addr) { return addr & ((1u << SIM_RANK_SHIFT) - 1); }

int sim_cluster_ended(sim_warp *w, const sim_insn *in, unsigned lane);       /* its memory is gone: SIM_FAULT */

/* Between another block's memory and registers. */
int sim_cluster_move(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size, int how);

#endif
