/*
** cost.c - how many machine instructions become of one of PTX, where it is not one. Divisions
** and exact roots are short programs; integers are multiplied by the units of float32, at half
** their rate. Of a small loop ptxas puts some turns side by side, and steps, tests and jumps
** once for all of them. Counted in what it makes of these for sm_90.
*/
#include "sim/exec/ops.h"
#include "sim/sim.h"

static int is_product(unsigned op) {
  return (op >= SIM_OP_mul_lo_b32 && op <= SIM_OP_mad24_lo_u32);
}

static int is_division(unsigned op) { return op >= SIM_OP_div_s16 && op <= SIM_OP_rem_u64; }

static int is_wide(unsigned op) {
  return op == SIM_OP_div_s64 || op == SIM_OP_div_u64 || op == SIM_OP_rem_s64 || op == SIM_OP_rem_u64;
}

/* What comes on top of the one instruction of the unit. */
static unsigned extra_of(const sim_insn *in) {
  if (is_wide(in->op)) return 60;
  if (is_division(in->op)) return 18;
  switch (in->op) {
    case SIM_OP_div_f32: return in->approx ? 1 : 9;
    case SIM_OP_rcp_f32: case SIM_OP_sqrt_f32: return in->approx ? (in->ftz ? 0 : 2) : 7;
    case SIM_OP_ex2_f32: case SIM_OP_lg2_f32: case SIM_OP_rsqrt_f32: return in->ftz ? 0 : 2;
    case SIM_OP_div_f64: return 14;
    case SIM_OP_rcp_f64: case SIM_OP_sqrt_f64: case SIM_OP_rsqrt_f64: return 10;
    default: return 0;
  }
}

enum { LOOP_MOST = 24 };         /* instructions of a loop that is unrolled */

static int same(sim_ref a, sim_ref b) { return a.base == b.base && a.off == b.off; }

/* i += constant */
static int is_step(const sim_insn *in) {
  return (in->op == SIM_OP_add_b32 || in->op == SIM_OP_add_b64) && in->r[0].base == SIM_REGS &&
         ((same(in->r[0], in->r[1]) && in->r[2].base == SIM_CONSTS) ||
          (same(in->r[0], in->r[2]) && in->r[1].base == SIM_CONSTS));
}

static int is_straight(const sim_function *f, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last; i++) {
    unsigned op = f->code[i].op;
    if (op == SIM_OP_bra || op == SIM_OP_brx || op == SIM_OP_exit || op == SIM_OP_bar) return 0;
  }
  return 1;
}

/* The steps, the test and the jump of a small loop. */
static void share_loops(sim_function *f) {
  for (uint32_t i = 0; i < f->count; i++) {
    sim_insn *jump = &f->code[i];
    if (jump->op != SIM_OP_bra || jump->guard == SIM_NOGUARD || jump->imm < 0 || jump->imm >= i) continue;
    uint32_t first = (uint32_t)jump->imm;
    if (i - first >= LOOP_MOST || !is_straight(f, first, i)) continue;
    jump->shared = 1;
    for (uint32_t k = first; k < i; k++) {
      sim_insn *in = &f->code[k];
      int tests = in->r[0].base == SIM_REGS && in->r[0].off == jump->guard;
      if (tests || is_step(in)) in->shared = 1;
    }
  }
}

void sim_costs(sim_function *f) {
  share_loops(f);
  for (uint32_t i = 0; i < f->count; i++) {
    sim_insn *in = &f->code[i];
    in->more = (uint8_t)extra_of(in);
    if (is_product(in->op)) in->pipe = SIM_PIPE_PRODUCT;
  }
}
