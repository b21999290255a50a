/*
** body_run.h - the loop. A warp is a set of groups of lanes, each at its own
** instruction; the group with the lowest one runs, and groups that meet merge.
** The warps of a block take turns: each runs until it waits at a barrier, ends,
** or has run for a while (so that warps that wait for each other get on).
*/

enum { TURN = 1 << 20 };     /* backward jumps of a warp's turn */

/* Handlers may return these to the block's loop as well. */
enum { WARP_WAITS = 100, WARP_ENDS, WARP_YIELDS };

/* The lowest pc of the ready groups that do not run. */
static void find_next(sim_warp *w) {
  w->next = UINT32_MAX;
  for (unsigned i = 0; i < w->ngroups; i++)
    if (w->group[i].state == SIM_READY && w->group[i].pc < w->next) w->next = w->group[i].pc;
}

static void park(sim_warp *w, uint32_t pc, uint32_t mask, unsigned state, unsigned barrier) {
  if (mask == 0) return;
  for (unsigned i = 0; i < w->ngroups; i++) {
    sim_group *g = &w->group[i];
    if (g->pc == pc && g->state == state) { g->mask |= mask; return; }
  }
  w->group[w->ngroups++] = (sim_group){ pc, mask, (uint16_t)state, (uint16_t)barrier };
}

/* Groups that wait for lanes which have exited since may go on. */
static void retry_waiting(sim_warp *w) {
  if (w->live == w->waited) return;
  w->waited = w->live;
  for (unsigned i = 0; i < w->ngroups; i++)
    if (w->group[i].state == SIM_AT_WARP) w->group[i].state = SIM_READY;
}

/* Run the ready group with the lowest pc, and all that are there. 0: none is ready. */
static int choose(sim_warp *w) {
  find_next(w);
  if (w->next == UINT32_MAX) {
    retry_waiting(w);
    find_next(w);
  }
  w->active = 0;
  if (w->next == UINT32_MAX) return 0;
  w->pc = w->next;
  for (unsigned i = 0; i < w->ngroups;) {
    if (w->group[i].state == SIM_READY && w->group[i].pc == w->pc) {
      w->active |= w->group[i].mask;
      w->group[i] = w->group[--w->ngroups];
    } else i++;
  }
  find_next(w);
  return 1;
}

/* Lanes `w->mask` go to w->target, the rest of the group goes on. */
static void jump(sim_warp *w) {
  uint32_t stay = w->active & ~w->mask;
  if (stay == 0) {
    w->pc = w->target;
    return;
  }
  w->exec->counts.divergent++;
  park(w, w->target, w->mask, SIM_READY, 0);
  park(w, w->pc + 1, stay, SIM_READY, 0);
  w->active = 0;
}

/* brx leaves the lanes of other targets at the same instruction. */
static void scatter(sim_warp *w, uint32_t guarded) {
  park(w, w->target, w->mask, SIM_READY, 0);
  park(w, w->pc, guarded & ~w->mask, SIM_READY, 0);
  park(w, w->pc + 1, w->active & ~guarded, SIM_READY, 0);
  w->active = 0;
}

/* ---------------------------------------------------------------- barriers */

enum { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR };

static int barrier_fault(sim_warp *w, const sim_insn *in, const char *text) {
  sim_fault *f = &w->exec->fault;
  f->kind = SIM_FAULT_BARRIER;
  f->insn = in;
  f->warp = w->index;
  f->lane = (unsigned)__builtin_ctz(w->mask ? w->mask : 1);
  snprintf(f->text, sizeof f->text, "%s", text);
  return SIM_FAULT;
}

/* A group has come to a barrier: note it, and leave it there unless it only arrives. */
static int arrive(sim_warp *w, const sim_insn *in) {
  sim_exec *x = w->exec;
  unsigned lane = (unsigned)__builtin_ctz(w->mask);
  uint32_t id = SIM_PLACE(u32, w, in->r[1])[lane];
  if (id > 15) return barrier_fault(w, in, "a barrier's number must be 0 to 15");
  sim_barrier *b = &x->barrier[id];
  uint32_t expected = in->vec ? SIM_PLACE(u32, w, in->r[2])[lane] : 0;
  if (in->vec && (expected == 0 || expected % SIM_LANES != 0))
    return barrier_fault(w, in, "a barrier's number of threads must be a multiple of 32");
  if (b->arrived != 0 && b->expected != expected)
    return barrier_fault(w, in, "threads expect different numbers of threads at one barrier");
  if (b->arrived == 0) *b = (sim_barrier){ expected, 0, 0, 1, 0 };
  b->arrived += (uint32_t)__builtin_popcount(w->mask);
  if (in->vec) b->arrived += (uint32_t)__builtin_popcount(~w->born);   /* a partial warp counts whole */
  if (in->mode >= BAR_POPC) {
    uint32_t p = (SIM_MASK_OF(w, in->r[3]) ^ (in->cmp ? SIM_ALL : 0)) & w->mask;
    b->count += (uint32_t)__builtin_popcount(p);
    b->all &= p == w->mask;
    b->any |= p != 0;
  }
  uint32_t rest = w->active & ~w->mask;
  if (in->mode == BAR_ARRIVE) rest = w->active;
  else park(w, w->pc, w->mask, SIM_AT_BLOCK, id);
  park(w, w->pc + 1, rest, SIM_READY, 0);
  w->active = 0;
  x->counts.barriers++;
  return SIM_NEXT;
}

static void finish_group(sim_warp *w, sim_group *g, const sim_barrier *b) {
  const sim_insn *in = &w->exec->function->code[g->pc];
  w->mask = g->mask;
  if (in->mode == BAR_POPC) {
    u32 *d = SIM_PLACE(u32, w, in->r[0]);
    SIM_EACH(w, d[l] = b->count);
  } else if (in->mode != BAR_SYNC) {
    uint32_t holds = in->mode == BAR_AND ? b->all : b->any;
    set_mask(w, in->r[0], holds ? SIM_ALL : 0);
  }
  g->state = SIM_READY;
  g->pc++;
}

/* What was accessed before is over: at a barrier, and between blocks. */
static void next_epoch(sim_exec *x) {
  if (++x->epoch < 1u << 24) return;           /* it must fit beside the flags */
  memset(x->writers, 0, x->shadow_size * sizeof *x->writers);
  memset(x->readers, 0, x->shadow_size * sizeof *x->readers);
  x->epoch = 1;
}

static void release(sim_exec *x, unsigned id) {
  for (unsigned i = 0; i < x->nwarps; i++)
    for (unsigned k = 0; k < x->warps[i].ngroups; k++) {
      sim_group *g = &x->warps[i].group[k];
      if (g->state == SIM_AT_BLOCK && g->barrier == id) finish_group(&x->warps[i], g, &x->barrier[id]);
    }
  x->barrier[id].arrived = 0;
  next_epoch(x);
}

/* From sm_70 on a block's barrier waits for the threads that have not exited. */
static uint32_t waits_for(const sim_exec *x, const sim_barrier *b) {
  return b->expected ? b->expected : x->threads - x->exited;
}

/* Let go the barriers that are complete; how many were. */
static int release_complete(sim_exec *x) {
  int released = 0;
  for (unsigned id = 0; id < 16; id++) {
    const sim_barrier *b = &x->barrier[id];
    if (b->arrived == 0 || b->arrived < waits_for(x, b)) continue;
    release(x, id);
    released++;
  }
  return released;
}

/* Nobody can go on: say who waits where. */
static int stuck(sim_exec *x) {
  char text[200];
  for (unsigned id = 0; id < 16; id++) {
    const sim_barrier *b = &x->barrier[id];
    if (b->arrived == 0) continue;
    snprintf(text, sizeof text, "barrier %u was reached by %u of %u threads of the block; the others wait "
             "elsewhere: every thread must reach every __syncthreads()", id, b->arrived, waits_for(x, b));
    for (unsigned i = 0; i < x->nwarps; i++)
      for (unsigned k = 0; k < x->warps[i].ngroups; k++) {
        const sim_group *g = &x->warps[i].group[k];
        if (g->state != SIM_AT_BLOCK || g->barrier != id) continue;
        x->warps[i].mask = g->mask;
        return barrier_fault(&x->warps[i], &x->function->code[g->pc], text);
      }
  }
  for (unsigned i = 0; i < x->nwarps; i++)
    if (x->warps[i].ngroups > 0) {
      const sim_group *g = &x->warps[i].group[0];
      x->warps[i].mask = g->mask;
      snprintf(text, sizeof text, "a warp-wide instruction waits for lanes that never come to it "
               "(lanes 0x%08x are there): its mask must name exactly the lanes that execute it", g->mask);
      return barrier_fault(&x->warps[i], &x->function->code[g->pc], text);
    }
  return SIM_FAULT;
}

/* --------------------------------------------------------------------- warp */

static int run_warp(sim_warp *w) {
  sim_exec *x = w->exec;
  const sim_insn *code = x->function->code;
  uint64_t *hits = x->hits, threads = 0;
  uint32_t turn = TURN;
  int result = WARP_WAITS;
  if (w->active == 0 && !choose(w)) return w->ngroups == 0 ? WARP_ENDS : WARP_WAITS;
  for (;;) {
    if (w->pc >= w->next) {                    /* another group is here, or behind */
      park(w, w->pc, w->active, SIM_READY, 0);
      choose(w);
    }
    const sim_insn *in = code + w->pc;
    uint32_t m = w->active;
    if (in->guard != SIM_NOGUARD) m &= *(u32 *)(void *)(w->base[SIM_REGS] + in->guard) ^ in->guard_not;
    hits[w->pc]++;
    threads += (uint64_t)__builtin_popcount(m);
    w->mask = m;
    int event = m != 0 ? in->fn(w, in) : SIM_NEXT;
    if (__builtin_expect(event == SIM_NEXT, 1)) {
      w->pc++;
      continue;
    }
    if (event == SIM_JUMP) {
      uint32_t from = w->pc;
      if (in->op == SIM_OP_brx) scatter(w, m);
      else jump(w);
      if (w->target <= from && --turn == 0) { result = WARP_YIELDS; break; }
    } else if (event == SIM_EXIT) {
      w->live &= ~m;
      x->exited += (unsigned)__builtin_popcount(m);
      w->active &= ~m;
      w->pc++;
    } else if (event == SIM_WAIT_WARP) {
      park(w, w->pc, w->mask, SIM_AT_WARP, 0);
      park(w, w->pc + 1, w->active & ~w->mask, SIM_READY, 0);
      w->active = 0;
    } else if (event != SIM_WAIT_BLOCK || arrive(w, in) == SIM_FAULT) { result = SIM_FAULT; break; }
    if (w->active != 0) continue;
    if (choose(w)) continue;
    result = w->ngroups == 0 ? WARP_ENDS : WARP_WAITS;
    break;
  }
  x->counts.threads += threads;
  x->clock += TURN - turn + 1;
  return result;
}

/* -------------------------------------------------------------------- block */

static void begin_block(sim_exec *x) {
  static const unsigned at[] = { SIM_CTAID_X, SIM_CTAID_Y, SIM_CTAID_Z };
  for (unsigned k = 0; k < 3; k++)
    for (unsigned l = 0; l < SIM_LANES; l++) memcpy(x->blockvals + at[k] + 4 * l, &x->block[k], 4);
  for (unsigned i = 0; i < x->nwarps; i++) {
    sim_warp *w = &x->warps[i];
    w->live = w->active = w->waited = w->born;
    w->pc = 0;
    w->next = UINT32_MAX;
    w->ngroups = 0;
  }
  memset(x->barrier, 0, sizeof x->barrier);
  x->exited = 0;
  next_epoch(x);
}

static int run_block(sim_exec *x) {
  begin_block(x);
  for (;;) {
    unsigned ended = 0, yielded = 0;
    for (unsigned i = 0; i < x->nwarps; i++) {
      int r = run_warp(&x->warps[i]);
      if (r == SIM_FAULT) return SIM_FAULT;
      ended += r == WARP_ENDS;
      yielded += r == WARP_YIELDS;
    }
    if (ended == x->nwarps) return SIM_NEXT;
    if (!release_complete(x) && yielded == 0) return stuck(x);
  }
}
