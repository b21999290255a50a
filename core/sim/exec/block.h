/* block.h - a block from its first instruction to its end, with the others of its cluster. */
#ifndef CAWB_SIM_EXEC_BLOCK_H
#define CAWB_SIM_EXEC_BLOCK_H

#include "sim/exec/exec.h"

/* Backward jumps for which a warp runs on; waits in vain and looks at global memory after which the
   others of the block go first. */
enum { SIM_JUMPS_MOST = 1 << 16, SIM_FAILS_MOST = 4, SIM_POLLS_MOST = 64 };

/* What became of a warp that ran, beside SIM_FAULT. */
enum { SIM_WARP_WAITS = 100, SIM_WARP_ENDS, SIM_WARP_YIELDS };

void sim_block_begin(sim_exec *x);

/* The block and its peers until they end: SIM_NEXT, SIM_FAULT; or SIM_PARK, others must go on first. */
int sim_block_run(sim_exec *x);

/* What a block that has ended took, the longest of its warps and of its cluster; and what moved, from a count to another one. */
sim_spent sim_block_spent(const sim_exec *x);
void      sim_moves_add(sim_moves *m, const sim_counts *from, const sim_counts *to);

/* What was accessed before is over: at a barrier, and between blocks. */
void sim_epoch_next(sim_exec *x);

#endif
