/* control.c - jumps, ends, barriers, clocks. */
#include "sim/exec/block.h"
#include "sim/exec/fault.h"
#include "sim/instructions/functions.h"
#include "sim/exec/request.h"
#include "sim/exec/warp.h"
#include "sim/memory/device.h"

int op_nop(sim_warp *w, const sim_insn *in) {
  (void)w, (void)in;
  return SIM_NEXT;
}

int op_target(sim_warp *w, const sim_insn *in) { return op_nop(w, in); }

int op_bra(sim_warp *w, const sim_insn *in) {
  w->target = (uint32_t)in->target;
  return SIM_JUMP;
}

/* The table is a row of targets. One target at a time. */
int op_brx(sim_warp *w, const sim_insn *in) {
  const u32 *a = SIM_PLACE(u32, w, in->r[1]);
  const sim_function *f = w->exec->function;
  uint32_t which = a[__builtin_ctz(w->mask)], same = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) if (a[l] == which) same |= 1u << l;
  uint64_t entry = (uint64_t)in->target + which;
  if (entry >= f->count || f->code[entry].op != SIM_OP_target)
    return sim_fault_memory(w, in, SIM_FAULT_TRAP, (unsigned)__builtin_ctz(w->mask), which, 0, 0, READ);
  w->target = (uint32_t)f->code[entry].target;
  w->mask &= same;
  return SIM_JUMP;
}

int op_exit(sim_warp *w, const sim_insn *in) {
  (void)w, (void)in;
  return SIM_EXIT;
}

int op_trap(sim_warp *w, const sim_insn *in) {
  return sim_fault_memory(w, in, SIM_FAULT_TRAP, (unsigned)__builtin_ctz(w->mask), 0, 0, 0, READ);
}

int op_assertion(sim_warp *w, const sim_insn *in) {
  return sim_fault_memory(w, in, SIM_FAULT_ASSERT, (unsigned)__builtin_ctz(w->mask), 0, 0, 0, READ);
}

int op_unknown(sim_warp *w, const sim_insn *in) {
  return sim_fault_memory(w, in, SIM_FAULT_TRAP, (unsigned)__builtin_ctz(w->mask), 0, 0, 0, READ);
}

/* Barriers are the affair of the loop: barrier.c. */
int op_bar(sim_warp *w, const sim_insn *in) {
  (void)w, (void)in;
  return SIM_WAIT_BLOCK;
}

int op_bar_cluster(sim_warp *w, const sim_insn *in) {
  (void)w, (void)in;
  return SIM_WAIT_CLUSTER;
}

/* Lanes may come to one __syncwarp() at several places of the code: those that wait at others. */
static uint32_t elsewhere(const sim_warp *w) {
  uint32_t lanes = 0;
  for (unsigned i = 0; i < w->ngroups; i++)
    if (w->group[i].state == SIM_AT_WARP && w->exec->function->code[w->group[i].pc].op == SIM_OP_bar_warp) lanes |= w->group[i].mask;
  return lanes;
}

int op_bar_warp(sim_warp *w, const sim_insn *in) {
  const u32 *m = SIM_PLACE(u32, w, in->r[1]);
  if (gathered(w, in->r[1])) return SIM_NEXT;
  uint32_t named = m[__builtin_ctz(w->mask)], others = named & w->live & ~w->mask;
  if ((others & ~elsewhere(w)) != 0) return SIM_WAIT_WARP;
  for (unsigned i = 0; i < w->ngroups; i++) {
    sim_group *g = &w->group[i];
    if (g->state != SIM_AT_WARP || !(g->mask & others)) continue;
    g->state = SIM_READY;
    if (++g->pc < w->next) w->next = g->pc;
  }
  uint32_t here = w->mask;
  w->mask |= others;
  if (w->mask == w->live) sim_warp_sync_all(w);
  else sim_warp_sync_masks(w, m);
  w->mask = here;
  return SIM_NEXT;
}

void sim_spend_seconds(sim_warp *w, double seconds) {
  w->spent.clocks += (uint64_t)(seconds * w->exec->device->model->clock * SIM_CLOCK);
}

/* Whoever sleeps lets others go on, and takes as long as the lane that sleeps longest. */
int op_nanosleep(sim_warp *w, const sim_insn *in) {
  const u32 *ns = SIM_PLACE(u32, w, in->r[1]);
  uint32_t most = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) most = w->mask >> l & 1 && ns[l] > most ? ns[l] : most;
  sim_spend_seconds(w, most * 1e-9);
  w->fails += SIM_FAILS_MOST + 1;
  return SIM_NEXT;
}

/* Time is the number of instructions executed: it grows, and nothing more is promised. */
int op_clock_u32(sim_warp *w, const sim_insn *in) {
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  uint64_t t = w->exec->clock;
  SIM_EACH(w, d[l] = (uint32_t)(t >> (in->mode ? 32 : 0)));
  return SIM_NEXT;
}

int op_clock_u64(sim_warp *w, const sim_insn *in) {
  u64 *d = SIM_PLACE(u64, w, in->r[0]);
  uint64_t t = w->exec->clock;
  SIM_EACH(w, d[l] = t);
  return SIM_NEXT;
}

int op_smid(sim_warp *w, const sim_insn *in) {
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  uint32_t sm = w->exec->serial % (uint32_t)w->exec->device->model->sms;
  SIM_EACH(w, d[l] = sm);
  return SIM_NEXT;
}
