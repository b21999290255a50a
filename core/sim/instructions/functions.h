/* functions.h - the instructions that are no different from one instruction set to the other: op_NAME. */
#ifndef CAWB_SIM_EXEC_FUNCTIONS_H
#define CAWB_SIM_EXEC_FUNCTIONS_H

#include "sim/instructions/insn.h"
#include "sim/instructions/ops.h"

#define X(name, pipe, traits) int op_##name(sim_warp *w, const sim_insn *in);
SIM_OPS_PLAIN(X)
#undef X

#endif
