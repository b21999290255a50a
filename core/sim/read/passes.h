/* passes.h - passes over the code of a kernel once it has been read. */
#ifndef CAWB_SIM_READ_PASSES_H
#define CAWB_SIM_READ_PASSES_H

#include "sim/exec/exec.h"
#include "sim/exec/isa.h"

void sim_stretches(sim_function *f);          /* stretches.c: code that is executed as a whole */
void sim_stretches_settle(sim_exec *x);       /* and what was counted of it */

int sim_lanes(sim_function *f);               /* lanes.c: accesses that lanes may race with; 0 when out of memory */
int sim_uninitialised(sim_function *f);       /* uninitialised.c; 0 when out of memory */
int sim_wgmma(sim_function *f, const sim_isa *isa);   /* wgmma.c: who reads accumulators; 0 when out of memory */

#endif
