/* operands.h - what an instruction does with its operands, as its row says. */
#ifndef CAWB_SIM_EXEC_OPERANDS_H
#define CAWB_SIM_EXEC_OPERANDS_H

#include "sim/instructions/insn.h"
#include "sim/instructions/ops.h"

/* Whether operand k is a register that it writes and does not read. */
static inline int sim_defines(const sim_insn *in, unsigned k) {
  if (k == 0) return sim_op_has(in->op, OP_DEFINES | OP_DEFINES_VECTOR);
  return sim_op_has(in->op, OP_DEFINES_VECTOR) && k >= 2 && k <= in->vec;
}

/* Whether it reads the value of register operand k: no address. Copies are let be: compilers put
   some between warpgroup products, for their own ends. */
static inline int sim_reads(const sim_insn *in, unsigned k) {
  if (in->r[k].base != SIM_REGS || sim_op_has(in->op, OP_COPIES)) return 0;
  if (sim_op_has(in->op, OP_DEFINES_VECTOR)) return k == 1;
  if (sim_op_has(in->op, OP_DEFINES)) return k > 0;
  return sim_op_has(in->op, OP_WRITES) && sim_op_has(in->op, OP_ELEMENTS) && k != 1;
}

/* Registers of a lane with the sums of a warpgroup product; they are the first of its extras. */
static inline unsigned sim_accumulators(const sim_insn *in) {
  return in->type[0] == 'h' ? in->shape.n / 4u : in->shape.n / 2u;
}

#endif
