/*
** meeting.h - when lanes of a warp have met: at __syncwarp(), at a shuffle, a vote and their kin, at barriers.
** And whether the masks that they name are right. For kernels whose lanes may race, see sim/watch/lanes.h.
*/
#ifndef CAWB_SIM_EXEC_MEETING_H
#define CAWB_SIM_EXEC_MEETING_H

#include "sim/exec/exec.h"

/* All lanes of the warp that live; those of a mask that each names, which have come together. */
void sim_meeting_whole(sim_warp *w);
void sim_meeting_named(sim_warp *w, const uint32_t *named);

/* Until when lane b's accesses come before what lane a does now. */
uint64_t sim_meeting_known(const sim_warp *w, unsigned a, unsigned b);

/* A lane executes an instruction whose mask does not name it: that is noted. */
void sim_meeting_misnamed(sim_warp *w, unsigned lane, uint32_t named);

/* So is it where these lanes come to a barrier of the block at one place, others of the warp at another. */
void sim_meeting_diverged(sim_warp *w, uint32_t pc, uint32_t lanes);

#endif
