/* wgmma.h - which operands of an instruction may be accumulators that it reads. */
#ifndef CAWB_SIM_READ_WGMMA_H
#define CAWB_SIM_READ_WGMMA_H

#include "sim/read/insn.h"
#include "sim/exec/ops.h"

/* Copies are let be: compilers put some between products, for their own ends. */
static inline int wg_reads(const sim_insn *in, unsigned k) {
  if (in->r[k].base != SIM_REGS || sim_op_has(in->op, OP_COPIES)) return 0;
  if (sim_op_has(in->op, OP_DEFINES_VECTOR)) return k == 1;
  if (sim_op_has(in->op, OP_DEFINES)) return k > 0;
  return sim_op_has(in->op, OP_WRITES) && sim_op_has(in->op, OP_ELEMENTS) && k != 1;
}

#endif
