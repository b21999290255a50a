/*
** cache.h - which sectors of a load L1 has, and which of those that it asks for L2 has. Blocks are
** executed one after the other and their warps too, where the machine has many under way at a time;
** so a hit is not looked up but judged by the lines that were fetched since the line was last
** touched. The warps of a block are taken to be equally far, and to fetch as many new lines a touch
** as the block has done so far:
**
**   age = touches of the warp since * warps * new lines of the block / its touches
**
** L1 holds what is younger than its share for a block, L2 what is younger than its share for the
** blocks under way. A line that another block touched last is as old as the lines that the blocks
** between the two touched, without those that others under way have too.
*/
#ifndef CAWB_SIM_ACCESS_CACHE_H
#define CAWB_SIM_ACCESS_CACHE_H

#include "sim/exec/exec.h"

/* A line of global memory that the block has touched. */
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

sim_l1 *sim_l1_of(sim_device *d, unsigned i);  /* the i-th thread's; NULL when out of memory */

/* Sectors of a region, side by side or as a list in the order of the lanes. Loads return the level that
   answered last: 0 L1, 1 L2, 2 DRAM, SIM_LATER where that is found out in the order of the blocks. To be
   called before the sectors are noted as touched. Of stores: sectors are written as a whole;
   all bytes of all of them. */
enum { SIM_LATER = 3 };
unsigned sim_cache_load_range(sim_warp *w, const sim_region *r, uint64_t first, uint64_t last);
unsigned sim_cache_load_list(sim_warp *w, const sim_region *r, const uint64_t *sector, unsigned n);
void     sim_cache_store_range(sim_warp *w, const sim_region *r, uint64_t first, uint64_t last, int whole, int exact);
void     sim_cache_store_list(sim_warp *w, const sim_region *r, const uint64_t *sector, unsigned n, int whole);

/* Atomics on one line go one after the other; of integers, neighbouring lanes on the same place go together. */
void sim_cache_hot(sim_exec *x, const sim_insn *in, const uint64_t *addr, uint32_t mask);

#endif
