/* async.h - copies and products that are under way; see body_async.h. */
#ifndef CAWB_SIM_MEMORY_ASYNC_H
#define CAWB_SIM_MEMORY_ASYNC_H

#include <stdint.h>

typedef struct sim_exec sim_exec;

/* A thread's copy that is under way (cp.async), and which of its groups it belongs to. */
typedef struct sim_copy {
  const unsigned char *from;
  uint32_t to, group, line;
  uint8_t lane, size, take;     /* bytes; of these, bytes that are copied: the rest is zero */
} sim_copy;

/* A bulk copy that is under way, and the barrier object that it tells. */
typedef struct sim_bulk {
  const unsigned char *from;
  sim_exec *to, *teller;        /* blocks whose shared memory is meant */
  uint32_t at, size, barrier, line;
} sim_bulk;

/* A warpgroup product under way (wgmma.mma_async); see sim/exec/body_warpgroup.h. */
typedef struct sim_lend {
  const struct sim_insn *in;
  uint64_t a, b;                /* descriptors */
  uint32_t group;
  uint8_t first, left, lent;    /* its first warp; those that have not waited for it; memory is lent */
} sim_lend;

#endif
