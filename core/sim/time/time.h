/*
** time.h - what a launch would take on a GPU: which blocks stand for all (sample.c), what the
** machine's compiler makes of the code (cost.c, schedule.c), and the model itself (model.c).
*/
#ifndef CAWB_SIM_TIME_TIME_H
#define CAWB_SIM_TIME_TIME_H

#include "sim/exec/exec.h"
#include "sim/memory/device.h"

/* schedule.c: mark the loads that a warp waits for; 0 when out of memory. */
#define SIM_UNROLL 4.0          /* iterations of a small loop that ptxas puts side by side */
enum { SIM_LEADS_GLOBAL = 1, SIM_LEADS_UNROLLED };
int sim_schedule(sim_function *f);

int  sim_chain(sim_function *f, const sim_model *m);    /* chain.c: what a warp alone takes for each part; 0 when out of memory */
void sim_costs(sim_function *f);        /* cost.c: what the machine's compiler makes of an instruction */

/* sample.c: the k-th of n clusters that are executed; thread instructions of a block of it. */
uint64_t sim_sample_blocks(const cawb_step *s);
void     sim_sample_room(sim_exec *x);          /* room in the caches for what one block fetches */
void     sim_sample_stamps(sim_exec *x);        /* numbers for the blocks in the regions' `last` */
void     sim_sample_begin(sim_exec *x, uint64_t k, uint64_t n);
void     sim_sample_ran(sim_exec *x, uint64_t k, double threads);
void     sim_sample_ended(sim_exec *x, unsigned blocks, const sim_spent *spent, const sim_moves *moves);     /* of a cluster */
void     sim_sample_join(sim_exec *p, const sim_exec *x);     /* another block of a cluster */
void     sim_sample_sectors(sim_exec *x, sim_sectors *sum);
double   sim_sample_spread(const sim_exec *x);

/* model.c: blocks that a multiprocessor holds at a time; sectors that DRAM gives or takes; seconds. */
double sim_wait(const sim_model *m, const sim_moves *moves);    /* clocks of a batch of loads */
double sim_resident(const sim_model *m, const sim_exec *x);
double sim_traffic(const sim_model *m, const sim_launch_facts *f);
void   sim_time_launch(const sim_model *m, const sim_launch_facts *facts, cawb_report *report);
void   sim_time_fill(const sim_model *m, size_t size, cawb_report *report);
/* `passes` over memory, before the arithmetic where there are several: other layouts are made. */
void   sim_time_library(const sim_model *m, double flops, double rate, double bytes, int passes, cawb_report *report);

#endif
