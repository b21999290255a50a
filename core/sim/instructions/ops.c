/* ops.c - the table of instructions, as rows that can be looked up. See ops.h. */
#include "sim/instructions/ops.h"

const sim_op sim_ops[SIM_OP_COUNT] = {
#define X(name, pipe, traits) { #name, OP_##traits, SIM_PIPE_##pipe },
  SIM_OPS(X)
#undef X
};
