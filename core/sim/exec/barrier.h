/* barrier.h - barriers of a block and of a cluster; and what is wrong where nobody can go on. */
#ifndef CAWB_SIM_EXEC_BARRIER_H
#define CAWB_SIM_EXEC_BARRIER_H

#include "sim/exec/exec.h"

int      sim_barrier_arrive(sim_warp *w, const sim_insn *in);       /* bar: SIM_FAULT or SIM_NEXT */
void     sim_barrier_release(sim_exec *x, unsigned id);
int      sim_barrier_complete(sim_exec *x);    /* let go those that are complete; how many were */
uint32_t sim_barrier_expects(const sim_exec *x, const sim_barrier *b);       /* threads */

void sim_barrier_cluster(sim_warp *w, const sim_insn *in);          /* barrier.cluster */
int  sim_barrier_meet(sim_exec *x);            /* the cluster's, where all have arrived; how many go on */

int sim_stuck(sim_exec *x);                    /* say who waits where; SIM_FAULT */

#endif
