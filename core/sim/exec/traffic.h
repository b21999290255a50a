/*
** traffic.h - requests to memory, instruction by instruction, where a profile asks for lines. They stand behind the `hits`.
*/
#ifndef CAWB_SIM_EXEC_TRAFFIC_H
#define CAWB_SIM_EXEC_TRAFFIC_H

#include "sim/exec/exec.h"

/* Counts for each instruction, in the order of cawb_line's `traffic`. */
enum { SIM_TRAFFIC = 5 };

/* How many counts there are in all, hits included. */
static inline size_t sim_traffic_room(const sim_exec *x) {
  return (size_t)x->function->count + 1 + (x->by_line ? (size_t)SIM_TRAFFIC * x->function->count : 0);
}

static inline uint64_t *sim_traffic_at(const sim_exec *x, size_t instruction) {
  return x->hits + x->function->count + 1 + SIM_TRAFFIC * instruction;
}

static inline void sim_traffic_global(const sim_exec *x, const sim_insn *in, uint64_t requests, uint64_t sectors) {
  uint64_t *at = sim_traffic_at(x, (size_t)(in - x->function->code));
  at[0] += requests;
  at[1] += sectors;
}

/* A request to shared memory that takes so many wavefronts, and would without conflicts. */
static inline void sim_traffic_shared(const sim_exec *x, const sim_insn *in, unsigned waves, unsigned least) {
  uint64_t *at = sim_traffic_at(x, (size_t)(in - x->function->code));
  at[2]++;
  at[3] += waves;
  at[4] += least;
}

#endif
