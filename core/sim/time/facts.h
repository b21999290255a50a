/*
** facts.h - what is counted while a launch is executed, and what of it the time model sees.
*/
#ifndef CAWB_SIM_TIME_FACTS_H
#define CAWB_SIM_TIME_FACTS_H

#include <stdint.h>

#define SIM_LANES 32u

enum { SIM_PIPE_NONE, SIM_PIPE_FP32, SIM_PIPE_INT, SIM_PIPE_FP64, SIM_PIPE_SPECIAL,
       SIM_PIPE_MEMORY, SIM_PIPE_CONTROL, SIM_PIPE_TENSOR, SIM_PIPE_PRODUCT, SIM_PIPES };

/* Sectors of 32 bytes: touched by this launch first, by it and an earlier one, by earlier ones. */
typedef struct sim_sectors { double fresh, again, earlier; } sim_sectors;

/* A line of global memory that the block has touched; see sim/memory/body_cache.h. */
enum { SIM_LINES = 1 << 15 };
typedef struct sim_line {
  uint64_t line;                /* its number, and in the low 4 bits the sectors that are there */
  uint32_t block;               /* 0: none */
  uint32_t touch;               /* the warp's count when it was last touched */
} sim_line;

typedef struct sim_l1 {
  sim_line line[SIM_LINES];
  uint32_t block;               /* the highest number given to a block */
} sim_l1;

/* Lines of atomics, by hash: how often. */
enum { SIM_HOT = 1 << 10 };

typedef struct sim_counts {
  uint64_t threads;             /* thread instructions */
  uint64_t global_requests, global_sectors, shared_requests, shared_wavefronts;
  uint64_t divergent, barriers, races;
  /* see sim/memory/body_cache.h */
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
  uint64_t hottest;             /* atomics on one line */
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
  double hottest;               /* atomics on one line of global memory */
  double pipe[SIM_PIPES], issued;
  double waits_global, waits_shared;     /* batches of loads that warps waited for */
  int first;                    /* the first kernel of the run */
} sim_launch_facts;

/* How the lanes of a shared access lie to each other, and what that costs. */
enum { SIM_SPAN = 128 };        /* units, a multiple of 16 */
typedef struct sim_shape {
  uint32_t apart[SIM_LANES];    /* bytes from the first active lane */
  uint32_t mask, size, low;     /* low: of the first address, where banks depend on it */
  uint32_t waves, least;
  int pattern;
  int32_t from, to;             /* the least and the greatest of `apart` */
  uint32_t odd;                 /* bits that any of `apart` has */
  int pair;                     /* there are two places */
  uint32_t words;               /* 4-byte words from the least to the last, where they are few */
  uint32_t word[SIM_LANES];     /* each lane's */
  int32_t ranges;
  struct sim_range { int32_t first, count; } range[SIM_LANES];   /* units touched */
  uint32_t units;               /* units to look at side by side; 0: go by range */
  uint32_t touched[SIM_SPAN];   /* UINT32_MAX: that unit is */
} sim_shape;

#endif
