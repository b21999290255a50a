/*
** order.c - whether the blocks of a kernel may run beside each other, on several cores. Those
** that may affect each other run one after the other, each for a while where one waits (cluster.c):
** what they see depends on the order. They are the kernels with
**
**   atomics and reductions on global memory, or on generic addresses, which may be global
**   volatile, relaxed, acquiring or releasing accesses to either
**   fences wider than the block
**   the clock, which counts what the blocks before have executed
**   clusters, decided at the launch
**
** Plain accesses say nothing of the kind; blocks that exchange data by them are found out by
** what they touch, see replay.c.
*/
#include "sim/cores/cores.h"
#include "sim/instructions/ops.h"

static int speaks(const sim_insn *in) {
  if (sim_op_has(in->op, OP_CLOCK | OP_BARRIER_CLUSTER)) return 1;
  if (!sim_op_has(in->op, OP_GLOBAL | OP_GENERIC)) return 0;
  return sim_op_has(in->op, OP_ATOMIC) || (sim_op_has(in->op, OP_ELEMENTS) && in->strong);
}

void sim_in_order(sim_function *f) {
  f->in_order = f->fences;
  for (uint32_t i = 0; i < f->count; i++) f->in_order |= speaks(&f->code[i]);
  f->speaks = f->in_order;
}
