/*
** ahead.h - dependent launches: a race with the launch before.
**
** A dependent launch may begin while the one before it is under way. What it does ahead of griddepcontrol.wait
** has no order with that one, nor with those before, as far as they are dependent themselves. So launches leave
** marks at the sectors (32 bytes) that they read and write. An access ahead of the wait to one of these, where
** one of both writes, is a race. A launch that is not dependent begins when all before it has ended.
**
** Once a warp has waited it may access memory, and so may all of its block behind the next barrier.
*/
#ifndef CAWB_SIM_WATCH_AHEAD_H
#define CAWB_SIM_WATCH_AHEAD_H

#include "sim/exec/request.h"
#include "sim/memory/device.h"

/* A step begins. Where it is not dependent, the marks are gone. */
void sim_ahead_begin(sim_device *d, const cawb_step *s);

void sim_ahead_waited(sim_warp *w);

/* Of a warp that has not waited (w->ahead), at sectors `first` to `last` of a region. */
void sim_ahead_access(sim_warp *w, const sim_region *r, uint64_t first, uint64_t last, int how);

#endif
