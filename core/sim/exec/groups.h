/*
** groups.h - a warp is a set of groups of lanes, each at its own instruction. The group with the
** lowest one runs, and groups that meet merge.
*/
#ifndef CAWB_SIM_EXEC_GROUPS_H
#define CAWB_SIM_EXEC_GROUPS_H

#include "sim/exec/exec.h"

/* Lanes that do not run any more: ready, or waiting for something, at an instruction. */
void sim_group_park(sim_warp *w, uint32_t pc, uint32_t mask, unsigned state, unsigned barrier);
int  sim_group_choose(sim_warp *w);            /* run the lowest ready group; 0: none is ready */
void sim_group_switch(sim_warp *w);            /* to the ready group behind the one that has run for so long */
void sim_group_split(sim_warp *w);             /* of the running lanes, w->mask jump to w->target */
void sim_group_scatter(sim_warp *w, uint32_t guarded);      /* the same of one target of a table */

/* The group of lanes of a warp that waits for the others of its warpgroup here, or NULL. */
sim_group *sim_group_waiting(sim_warp *w, uint32_t pc);

#endif
