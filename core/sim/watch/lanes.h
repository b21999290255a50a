/*
** lanes.h - races between the lanes of a warp in shared memory: one stores and another loads the same
** place, and no __syncwarp() or other instruction of the whole warp lies between. Of each unit of shared memory
** it is noted who stored and who read it last: the lane, and when. Time is counted from one meeting of lanes to the next;
** of each pair of lanes it is known until when the one's accesses come before the other's (a meeting of all
** lanes is the rule, of some the exception). Only accesses are noted behind which, and looked at before which,
** another may lie with no meeting between: sim/read/lanes.c finds them when a kernel is decoded.
*/
#ifndef CAWB_SIM_WATCH_LANES_H
#define CAWB_SIM_WATCH_LANES_H

#include "sim/exec/request.h"

/* An access to shared memory, before it. READ or WRITE. */
void sim_lanes_access(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size, int how);

#endif
