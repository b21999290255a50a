/*
** order.h - what blocks know of each other's accesses to global memory: happens-before, by fences wider than a
** block and by what is stored and read behind and before them.
**
** Each warp has a clock: of each block, up to which stretch (race.h) its accesses are known to come before. A
** fence says that what the block did before, and the warp itself until now, may be made known: a store, an
** atomic access or a release by the warp behind it leaves that at its place. Who reads the place atomically or
** volatile, or acquires, knows it from then on; barriers pass it on within the block. Whether a fence follows
** such a read is not asked for: what hangs on it runs later on every GPU.
*/
#ifndef CAWB_SIM_WATCH_ORDER_H
#define CAWB_SIM_WATCH_ORDER_H

#include "sim/exec/request.h"

/* Of a launch with so many blocks; NULL: out of memory. */
typedef struct sim_order sim_order;
sim_order *sim_order_new(uint64_t blocks);
void       sim_order_free(sim_order *o);

void sim_order_begin(sim_exec *x);                     /* a block knows nothing */
void sim_order_leave(sim_exec *x);                     /* and it is over, its memory is freed */
void sim_order_fence(sim_warp *w);
void sim_order_meet(sim_exec *x);                      /* at a barrier of the block */

/* Lanes of w->mask access these places: a store, an atomic access, a load; before it. */
enum { SIM_ORDER_ACQUIRES = 2, SIM_ORDER_RELEASES = 4, SIM_ORDER_BLOCK = 8 };   /* flags of ld, st, atom */
void sim_order_access(sim_warp *w, const sim_insn *in, const uint64_t *addr, int how);

/* Whether a warp's access in that stretch of a block comes before what this warp does now. */
int sim_order_knows(const sim_warp *w, uint32_t block, uint32_t stretch, unsigned warp);

#endif
