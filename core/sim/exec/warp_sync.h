/*
** warp_sync.h - synchronisation of a warp's lanes: at __syncwarp(), at shuffles, votes and their kin, and at barriers.
** It is followed for kernels whose lanes may race (sim/watch/lanes.h), by vector clocks. An epoch is the number of a
** synchronisation. A lane's clock has an epoch for each lane of the warp, up to which that lane's accesses happen
** before its own. Where all lanes synchronise, `warp_epoch` stands in place of all clocks.
** It also notes masks that do not name the lanes that are there.
*/
#ifndef CAWB_SIM_EXEC_WARP_SYNC_H
#define CAWB_SIM_EXEC_WARP_SYNC_H

#include "sim/exec/exec.h"

/* All live lanes of the warp synchronise; or the lanes of each of these masks, which have come together. */
void sim_warp_sync_all(sim_warp *w);
void sim_warp_sync_masks(sim_warp *w, const uint32_t *named);

/* Accesses of lane b in epochs below this one happen before the next access of lane a. */
uint64_t sim_warp_sync_order(const sim_warp *w, unsigned a, unsigned b);

/* Note a finding: a lane executes an instruction whose mask does not name it. */
void sim_warp_sync_misnamed(sim_warp *w, unsigned lane, uint32_t named);

/* Note a finding: these lanes of the warp wait at the block's barrier in one place, others in another place. */
void sim_warp_sync_diverged(sim_warp *w, uint32_t pc, uint32_t lanes);

#endif
