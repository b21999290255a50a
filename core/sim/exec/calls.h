/* calls.h - the stacks of calls that are not expanded. */
#ifndef CAWB_SIM_EXEC_CALLS_H
#define CAWB_SIM_EXEC_CALLS_H

#include "sim/exec/exec.h"

void sim_calls_begin(sim_warp *w);      /* of a block: nothing is called yet */
void sim_calls_free(sim_warp *w);

#endif
