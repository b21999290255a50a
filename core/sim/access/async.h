/*
** async.h - copies and products that are under way. A copy is carried out when it is waited for, no
** earlier: until then its place holds what it held, and an access to it is reported.
*/
#ifndef CAWB_SIM_ACCESS_ASYNC_H
#define CAWB_SIM_ACCESS_ASYNC_H

#include "sim/exec/exec.h"

/* A thread's copy that is under way (cp.async), and which of its groups it belongs to. */
struct sim_copy {
  const unsigned char *from;
  uint32_t to, group, line;
  uint8_t lane, size, take;     /* bytes; of these, bytes that are copied: the rest is zero */
};

/* A bulk copy that is under way, and the barrier object that it tells. */
struct sim_bulk {
  const unsigned char *from;
  sim_exec *to, *teller;        /* blocks whose shared memory is meant */
  uint32_t at, size, barrier, line;
};

/* A warpgroup product under way (wgmma.mma_async); see sim/access/warpgroup.c. */
struct sim_product {
  const struct sim_insn *in;
  uint64_t a, b;                /* descriptors */
  uint32_t group;
  uint8_t first, left, reads;   /* its first warp; those that have not waited for it; it may still read memory */
};

/* copies.c: units of shared memory that a copy is under way to, or no longer. */
void sim_copy_flight(sim_exec *x, uint32_t at, uint32_t size, int begins);

/* Of the lanes of w->mask: all copies but those of the last `keep` closed groups and the open one;
   keep UINT32_MAX: all there are. */
void sim_copy_deliver(sim_warp *w, const sim_insn *in, uint32_t keep);

/* bulk.c: the copies that tell this barrier object are done now. */
void sim_bulk_finish(sim_warp *w, const sim_insn *in, const sim_exec *teller, uint32_t barrier);

#endif
