/*
** meeting.h - synchronisation of the lanes of a warp, by a clock of meetings. Lanes meet at __syncwarp(), at shuffles, votes and the
** like, and at barriers. Accesses before a meeting are ordered with those behind it: sim/watch/lanes.h finds races by that. This file
** also notes wrong masks.
*/
#ifndef CAWB_SIM_EXEC_MEETING_H
#define CAWB_SIM_EXEC_MEETING_H

#include "sim/exec/exec.h"

/* A meeting of all live lanes of the warp. Meetings of the lanes that each lane's mask names. */
void sim_meeting_whole(sim_warp *w);
void sim_meeting_named(sim_warp *w, const uint32_t *named);

/* The last meeting by which lanes a and b are ordered: lane b's accesses before it come before lane a's next access. */
uint64_t sim_meeting_known(const sim_warp *w, unsigned a, unsigned b);

/* Notes that a lane executes an instruction whose mask does not name it. */
void sim_meeting_misnamed(sim_warp *w, unsigned lane, uint32_t named);

/* Notes that these lanes come to a barrier of the block at one place, and others of the warp at another. */
void sim_meeting_diverged(sim_warp *w, uint32_t pc, uint32_t lanes);

#endif
