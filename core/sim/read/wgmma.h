/* wgmma.h - which operands of an instruction may be accumulators that it reads. */
#ifndef CAWB_SIM_READ_WGMMA_H
#define CAWB_SIM_READ_WGMMA_H

#include "sim/read/insn.h"
#include "sim/exec/ops.h"

/* Copies are let be: compilers put some between products, for their own ends. */
static inline int wg_reads(const sim_insn *in, unsigned k) {
  if (in->r[k].base != SIM_REGS || in->op == SIM_OP_mov_b32 || in->op == SIM_OP_mov_b64) return 0;
  if (in->op == SIM_OP_unpack || in->op == SIM_OP_shfl) return k == 1;
  if (in->op < SIM_OP_ld_global) return k > 0;
  return in->op >= SIM_OP_st_global && in->op <= SIM_OP_st_generic && k != 1;
}

#endif
