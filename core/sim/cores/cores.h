/*
** cores.h - the blocks of a launch: made, run in order or in clusters, and on several cores with the
** answer of one.
*/
#ifndef CAWB_SIM_CORES_CORES_H
#define CAWB_SIM_CORES_CORES_H

#include "sim/exec/exec.h"
#include "sim/memory/log.h"

/* make.c: everything that one block needs; all of it, or nothing. Free also frees its peers. */
cawb_status sim_exec_make(sim_exec *x, sim_device *d, const sim_function *f, const cawb_step *s, cawb_err *err);
void        sim_exec_free(sim_exec *x);

/* cluster.c: blocks that run together; the first of them owns the others. */
void        sim_cluster_shape(const sim_function *f, const cawb_step *s, unsigned out[3]);
cawb_status sim_cluster_check(const sim_function *f, const cawb_step *s, cawb_err *err);
cawb_status sim_cluster_make(sim_exec *x, cawb_err *err);
void        sim_cluster_free(sim_exec *x);
int         sim_cluster_run(sim_exec *x);     /* that of x->block; nothing where it is not the first */
unsigned    sim_cluster_most(const sim_exec *x);     /* how many more may be under way beside that one */
int         sim_cluster_finish(sim_exec *x);  /* those that waited for others to begin */

void sim_in_order(sim_function *f);              /* order.c: whether blocks must run one after the other */

/* cores.c: blocks on several cores. */
unsigned sim_workers_count(const sim_exec *x, uint64_t n);    /* threads that n blocks may have; 1: they run in order */
int      sim_workers_run(sim_exec *x, uint64_t n, unsigned threads);  /* 0: nothing was done, they must run in order */

/* replay.c: a log's blocks, the first of them the k-th executed; 0: blocks meet. */
int sim_replay(sim_exec *x, const sim_log *g, uint64_t k);

int sim_grid_run(sim_exec *x);                /* grid.c: all blocks: SIM_FAULT or SIM_NEXT */

#endif
