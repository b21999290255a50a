/*
** body_run.h - the loop over the instructions of a warp. It runs until the warp waits at a barrier,
** ends, or has run for a while; then the block's other warps run (sim/exec/block.c). One that has run
** for a while goes on with its next group of lanes: lanes may wait for each other, too.
*/

static int run_warp(sim_warp *w) {
  sim_exec *x = w->exec;
  const sim_insn *code = x->function->code;
  const sim_price *prices = x->function->prices;
  uint64_t *hits = x->hits, threads = 0;
  uint32_t jumps = SIM_JUMPS_MOST;
  int result = SIM_WARP_WAITS;
  w->fails = w->polls = 0;
  if (w->active == 0 && !sim_group_choose(w)) return w->ngroups == 0 ? SIM_WARP_ENDS : SIM_WARP_WAITS;
  for (;;) {
    if (w->pc >= w->next) {                    /* another group is here, or behind */
      sim_group_park(w, w->pc, w->active, SIM_READY, 0);
      sim_group_choose(w);
    }
    const sim_insn *in = code + w->pc;
    uint32_t m = w->active;
    int event;
    if (in->run > 1 && w->undefined == NULL) {
      event = run_stretch(w, &threads);
      in = code + w->pc;
    } else {
      if (in->guard != SIM_NOGUARD) m &= *(u32 *)(void *)(w->base[SIM_REGS] + in->guard) ^ in->guard_not;
      hits[w->pc]++;
      hits[w->pc + 1]--;
      sim_spend(&w->spent, prices + w->pc, prices + w->pc + 1);
      threads += (uint64_t)__builtin_popcount(m);
      w->mask = m;
      if (__builtin_expect(w->undefined != NULL, 0)) event = sim_undefined_run(w, in);
      else event = m != 0 ? in->fn(w, in) : SIM_NEXT;
      w->pc += event == SIM_NEXT;
    }
    if (__builtin_expect(event == SIM_NEXT, 1)) continue;
    if (event == SIM_UNDEFINED) {
      w->pc++;
      continue;
    }
    if (event == SIM_JUMP) {
      uint32_t from = w->pc;
      if (sim_op_has(in->op, OP_JUMPS_BY_TABLE)) sim_group_scatter(w, m);
      else if (w->mask == w->active) w->pc = w->target;
      else sim_group_split(w);
      if (w->target <= from && !w->vain) w->calm = w->spent;
      if (w->target <= from && (--jumps == 0 || w->fails > SIM_FAILS_MOST || w->polls > SIM_POLLS_MOST)) {
        if (w->vain) w->spent = w->calm;           /* the time is that of whom it waits for */
        x->polling |= w->polls > SIM_POLLS_MOST;
        sim_group_switch(w);
        result = SIM_WARP_YIELDS;
        break;
      }
      w->vain = 0;
    } else if (event == SIM_EXIT) {
      w->live &= ~m;
      x->exited += (unsigned)__builtin_popcount(m);
      w->active &= ~m;
      w->pc++;
    } else if (event == SIM_WAIT_WARP || event == SIM_WAIT_GROUP) {
      sim_group_park(w, w->pc, w->mask, event == SIM_WAIT_WARP ? SIM_AT_WARP : SIM_AT_GROUP, 0);
      sim_group_park(w, w->pc + 1, w->active & ~w->mask, SIM_READY, 0);
      w->active = 0;
    } else if (event == SIM_WAIT_CLUSTER) sim_barrier_cluster(w, in);
    else if (event != SIM_WAIT_BLOCK || sim_barrier_arrive(w, in) == SIM_FAULT) { result = SIM_FAULT; break; }
    if (w->active != 0) continue;
    if (sim_group_choose(w)) continue;
    result = w->ngroups == 0 ? SIM_WARP_ENDS : SIM_WARP_WAITS;
    break;
  }
  x->counts.threads += threads;
  x->clock += SIM_JUMPS_MOST - jumps + 1;
  return result;
}
