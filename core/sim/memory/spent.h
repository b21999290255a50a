/*
** spent.h - the time that a warp takes for itself, beside all others: clocks from instruction to instruction, batches of loads from
** global memory that it waits for, slots of issue. What each instruction costs is known before a launch (sim/time/chain.c); only what
** depends on values, as a sleep does, is added as it happens.
*/
#ifndef CAWB_SIM_MEMORY_SPENT_H
#define CAWB_SIM_MEMORY_SPENT_H

#include <stdint.h>

enum { SIM_CLOCK = 4 };         /* all three are in quarters: loops that are unrolled share what they wait for */

typedef struct sim_spent { uint64_t clocks, waits, slots; } sim_spent;

/* The same of all instructions before one, for each instruction of a function and the end. */
typedef struct sim_price { uint32_t clocks, waits, slots, unused; } sim_price;

/* From instruction `from` up to `to`. */
static inline void sim_spend(sim_spent *s, const sim_price *from, const sim_price *to) {
  s->clocks += to->clocks - from->clocks;
  s->waits += to->waits - from->waits;
  s->slots += to->slots - from->slots;
}

/* A warp waits for something that is not an instruction's latency; in control.c. */
struct sim_warp;
void sim_spend_seconds(struct sim_warp *w, double seconds);

/* One of two that meet waits for the other; `wait`: clocks that a batch of loads is taken to last. */
static inline void sim_spent_meet(sim_spent *s, const sim_spent *other, uint64_t wait) {
  if (other->clocks + other->waits * wait <= s->clocks + s->waits * wait) return;
  s->clocks = other->clocks;
  s->waits = other->waits;
}

/* What a block asked of memory: lines of L1, wavefronts of shared memory; loads by the level that had them, and their lines that L1 had not. */
typedef struct sim_moves { uint64_t lines, waves, level[3], missed; } sim_moves;

/* What the blocks of a launch that are over took, each for itself: clocks. */
typedef struct sim_chains {
  double sum, longest, blocks;
  double work, busiest;         /* of the units of all multiprocessors; of those of the one with the most */
  double crowd;                 /* of the blocks of the most crowded multiprocessor, one after the other */
} sim_chains;

#endif
