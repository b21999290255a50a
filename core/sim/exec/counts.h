/*
** counts.h - what is counted while a launch is executed, and what of it the time model sees.
*/
#ifndef CAWB_SIM_EXEC_COUNTS_H
#define CAWB_SIM_EXEC_COUNTS_H

#include <stdint.h>

#include "sim/instructions/ops.h"

typedef struct sim_counts {
  uint64_t threads;             /* thread instructions */
  uint64_t global_requests, global_sectors, shared_requests, shared_wavefronts;
  uint64_t divergent, barriers, races;
  /* see sim/access/cache.h */
  uint64_t load_requests, load_sectors, load_hits;      /* hits: sectors found in L1 */
  uint64_t store_requests, store_sectors, atomic_requests, atomic_sectors, local_requests;
  uint64_t load_lines;          /* that loads asked L2 for */
  uint64_t lines;               /* lines of 128 bytes that requests touched, one by one */
  uint64_t filled;              /* sectors' room that lines took in L2, new to it or to all blocks under way */
  uint64_t evicted, merged;     /* again; and those of which a part was stored, which cost more, */
  uint64_t merged_lines;        /* by line of 128 bytes */
  uint64_t partial;             /* sectors of which a store or atomic wrote a part */
  uint64_t shared_least;        /* wavefronts without conflicts */
  uint64_t operands;            /* wavefronts of what warpgroup products read */
  uint64_t level[3];            /* loads whose last data came from L1, L2, DRAM */
  uint64_t hottest;             /* clocks of the atomics on one line, in quarters */
  uint64_t calls;               /* of malloc and free */
} sim_counts;

/* What a launch did, as the time model sees it. */
typedef struct sim_launch_facts {
  double blocks, executed;      /* of the grid; of these, those that were executed */
  double warps;                 /* of a block */
  double resident;              /* blocks on a multiprocessor at a time */
  double skew;                  /* instructions of the longest block over those of the mean one */
  double fresh, again;          /* sectors first touched now; touched before by another launch */
  double earlier;               /* sectors that earlier launches touched */
  double partial;               /* sectors stored to in part */
  double merged_lines, evicted, merged;  /* touched again within the launch when L2 had lost them */
  double written;               /* of the fresh ones, those that were stored to */
  double sectors;               /* that L1 asked L2 for, atomics and stores included */
  double lines, shared;         /* lookups of L1; wavefronts of shared memory */
  double spread;                /* lines that a load must fetch, of those that fetch any */
  double level[3];              /* share of the loads that L1, L2, DRAM answered */
  double hottest;               /* clocks of the atomics on one line of global memory */
  double calls;                 /* of malloc and free */
  double pipe[SIM_PIPES], issued;
  double clocks, longest;       /* that a block takes for itself; the longest one */
  double busy;                  /* multiprocessors' worth of work going on at a time; */
  double crowd;                 /* blocks' worth on the one that has most of it */
  int first, dependent;         /* the first kernel of the run; it begins while the one before it ends */
} sim_launch_facts;

#endif
