/* functions.h - the instructions that are no different from one instruction set to the other: op_NAME. */
#ifndef CAWB_SIM_EXEC_FUNCTIONS_H
#define CAWB_SIM_EXEC_FUNCTIONS_H

#include "sim/exec/insn.h"
#include "sim/exec/ops.h"

#define X(name, pipe, traits) int op_##name(sim_warp *w, const sim_insn *in);
SIM_OPS_PLAIN(X)
#undef X

#endif
