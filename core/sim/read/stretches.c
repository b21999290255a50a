/*
** stretches.c - stretches of code that a warp executes as a whole: unguarded instructions, the
** last of which may go elsewhere. What is between two of them need not be looked at one by
** one. Executions are counted by differences: one more from where a stretch begins, one less
** behind its end.
*/
#include "sim/instructions/ops.h"
#include "sim/read/passes.h"

enum { LONGEST = UINT16_MAX };

static int leaves(const sim_insn *in) {
  return sim_op_has(in->op, OP_JUMPS | OP_JUMPS_BY_TABLE | OP_EXITS | OP_FAULTS | OP_BARRIER_WARP |
                            OP_BARRIER_BLOCK | OP_BARRIER_CLUSTER);
}

static int is_plain_fma(const sim_insn *in) {
  return in->op == SIM_OP_fma_f32 && in->inner == NULL && !in->ftz;
}

void sim_stretches(sim_function *f) {
  for (uint32_t i = f->count; i-- > 0;) {
    sim_insn *in = &f->code[i], *next = i + 1 < f->count ? in + 1 : NULL;
    if (in->guard != SIM_NOGUARD) continue;
    uint16_t run = next != NULL && !leaves(in) ? next->run : 0, chain = next != NULL ? next->chain : 0;
    in->run = run < LONGEST ? run + 1 : LONGEST;
    if (is_plain_fma(in)) in->chain = chain < LONGEST ? chain + 1 : LONGEST;
  }
}

void sim_stretches_settle(sim_exec *x) {
  uint64_t hits = 0;
  for (uint32_t i = 0; i < x->function->count; i++) x->hits[i] = hits += x->hits[i];
}
