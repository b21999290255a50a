/*
** cost.c - how many machine instructions become of one of PTX, where it is not one. Divisions
** and exact roots are short programs; integers are multiplied by the units of float32, at half
** their rate. Of a small loop ptxas puts some iterations side by side, and steps, tests and jumps
** once for all of them. Counted in what it makes of these for sm_90.
*/
#include "sim/instructions/ops.h"
#include "sim/time/time.h"

/* Instructions beside the one of the unit: of programs in full, approximate, and those with
   subnormals flushed. */
static const uint8_t programs[SIM_PROGRAMS][3] = {
  [SIM_DIVIDE] = { 18, 18, 18 }, [SIM_DIVIDE_WIDE] = { 60, 60, 60 }, [SIM_DIVIDE_FLOAT] = { 9, 1, 1 },
  [SIM_ROOT_FLOAT] = { 7, 2, 0 }, [SIM_SPECIAL_FLOAT] = { 2, 2, 0 }, [SIM_DIVIDE_DOUBLE] = { 14, 14, 14 },
  [SIM_ROOT_DOUBLE] = { 10, 10, 10 }
};

static unsigned extra_of(const sim_insn *in) {
  unsigned which = OP_PROGRAM_OF(sim_ops[in->op].traits);
  int approx = in->approx || which == SIM_SPECIAL_FLOAT;
  return programs[which][approx ? 1 + in->ftz : 0];
}

enum { LOOP_MOST = 24 };         /* instructions of a loop that is unrolled */

static int same(sim_ref a, sim_ref b) { return a.base == b.base && a.off == b.off; }

/* i += constant */
static int is_step(const sim_insn *in) {
  return (in->op == SIM_OP_add_b32 || in->op == SIM_OP_add_b64) && in->r[0].base == SIM_REGS &&
         ((same(in->r[0], in->r[1]) && in->r[2].base == SIM_CONSTS) ||
          (same(in->r[0], in->r[2]) && in->r[1].base == SIM_CONSTS));
}

static int is_plain(const sim_function *f, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last; i++) {
    if (sim_op_has(f->code[i].op, OP_JUMPS | OP_JUMPS_BY_TABLE | OP_EXITS | OP_BARRIER_BLOCK)) return 0;
  }
  return 1;
}

/* The steps, the test and the jump of a small loop. */
static void share_loops(sim_function *f) {
  for (uint32_t i = 0; i < f->count; i++) {
    sim_insn *jump = &f->code[i];
    if (!sim_op_has(jump->op, OP_JUMPS) || jump->guard == SIM_NOGUARD) continue;
    if (jump->target < 0 || jump->target >= i) continue;
    uint32_t first = (uint32_t)jump->target;
    if (i - first >= LOOP_MOST || !is_plain(f, first, i)) continue;
    jump->unrolled = 1;
    for (uint32_t k = first; k < i; k++) {
      sim_insn *in = &f->code[k];
      int tests = in->r[0].base == SIM_REGS && in->r[0].off == jump->guard;
      if (tests || is_step(in)) in->unrolled = 1;
    }
  }
}

void sim_costs(sim_function *f) {
  share_loops(f);
  for (uint32_t i = 0; i < f->count; i++) {
    sim_insn *in = &f->code[i];
    in->more = (uint8_t)extra_of(in);
    if (sim_op_has(in->op, OP_TWICE)) in->cost = 2;
  }
}
