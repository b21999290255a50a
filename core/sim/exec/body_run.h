/*
** body_run.h - the loop. A warp is a set of groups of lanes, each at its own
** instruction; the group with the lowest one runs, and groups that meet merge.
** The warps of a block and of its cluster take turns: each runs until it waits
** at a barrier, ends, or has run for a while (so that warps that wait for each
** other get on). A turn that ended so goes on with the warp's next group: lanes
** may wait for each other, too.
*/

/* Backward jumps of a warp's turn, which FAILS waits in vain and POLLS looks end, too; rounds
   of a block in which nothing happens but looks at global memory: other blocks must go on. */
enum { TURN = 1 << 16, POLLS = 64, ROUNDS = 32 };

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

/* The ready group behind the one that has run for so long, else the first one. */
static void turn_over(sim_warp *w) {
  sim_group *found = NULL;
  if (w->active == 0) return;
  for (unsigned i = 0; i < w->ngroups; i++) {
    sim_group *g = &w->group[i];
    if (g->state == SIM_READY && g->pc > w->pc && (found == NULL || g->pc < found->pc)) found = g;
  }
  for (unsigned i = 0; found == NULL && i < w->ngroups; i++)
    if (w->group[i].state == SIM_READY && w->group[i].pc == w->next) found = &w->group[i];
  if (found == NULL) return;
  sim_group next = *found;
  *found = w->group[--w->ngroups];
  park(w, w->pc, w->active, SIM_READY, 0);
  w->pc = next.pc;
  w->active = next.mask;
  w->next = UINT32_MAX;                        /* it does not wait for those behind it */
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

/* A group has come to a barrier: note it, and leave it there unless it only arrives. */
static int arrive(sim_warp *w, const sim_insn *in) {
  sim_exec *x = w->exec;
  unsigned lane = (unsigned)__builtin_ctz(w->mask);
  uint32_t id = SIM_PLACE(u32, w, in->r[1])[lane];
  if (id > 15) return barrier_text(w, in, "a barrier's number must be 0 to 15");
  sim_barrier *b = &x->barrier[id];
  int counted = in->r[2].base != SIM_UNUSED;
  uint32_t expected = counted ? SIM_PLACE(u32, w, in->r[2])[lane] : 0;
  if (counted && (expected == 0 || expected % SIM_LANES != 0))
    return barrier_text(w, in, "a barrier's number of threads must be a multiple of 32");
  if (b->arrived != 0 && b->expected != expected)
    return barrier_text(w, in, "threads expect different numbers of threads at one barrier");
  if (b->arrived == 0) *b = (sim_barrier){ expected, 0, 0, 1, 0 };
  b->arrived += (uint32_t)__builtin_popcount(w->mask);
  if (counted) b->arrived += (uint32_t)__builtin_popcount(~w->born);   /* a partial warp counts whole */
  if (in->mode >= BAR_POPC) {
    uint32_t p = (SIM_MASK_OF(w, in->r[3]) ^ (in->negate ? SIM_ALL : 0)) & w->mask;
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

/* ----------------------------------------------------------------- clusters */

/* The lanes of a warp that the cluster still waits for. */
static int cluster_waits(const sim_exec *x) {
  int arrived = 0;
  for (unsigned k = 0; k < x->npeers; k++)
    for (unsigned i = 0; i < x->nwarps; i++) {
      const sim_warp *w = &x->peers[k]->warps[i];
      if (w->live & ~w->met) return 1;
      arrived |= w->met != 0;
    }
  return !arrived;
}

/* All have arrived: those that wait go on. How many did. */
static int meet(sim_exec *x) {
  int released = 0;
  if (cluster_waits(x)) return 0;
  for (unsigned k = 0; k < x->npeers; k++) {
    x->peers[k]->meetings++;
    next_epoch(x->peers[k]);
    for (unsigned i = 0; i < x->nwarps; i++) {
      sim_warp *w = &x->peers[k]->warps[i];
      w->met = 0;
      for (unsigned g = 0; g < w->ngroups; g++) {
        if (w->group[g].state != SIM_AT_CLUSTER) continue;
        w->group[g].state = SIM_READY;
        w->group[g].pc++;
        released++;
      }
    }
  }
  return released;
}

/* barrier.cluster: mode 0 arrives, 1 waits. */
static void meet_cluster(sim_warp *w, const sim_insn *in) {
  sim_exec *x = w->exec;
  if (in->mode == 0) {
    w->met |= w->mask;
    w->meeting = x->meetings;
    park(w, w->pc + 1, w->active, SIM_READY, 0);
  } else if (w->meeting != x->meetings) park(w, w->pc + 1, w->active, SIM_READY, 0);
  else {
    park(w, w->pc, w->mask, SIM_AT_CLUSTER, 0);
    park(w, w->pc + 1, w->active & ~w->mask, SIM_READY, 0);
  }
  w->active = 0;
}

/* Warps of a warpgroup that wait at wgmma.mma_async for those that never come. */
static int stuck_group(sim_exec *x) {
  for (unsigned i = 0; i < x->nwarps; i++)
    for (unsigned k = 0; k < x->warps[i].ngroups; k++) {
      sim_warp *w = &x->warps[i];
      if (w->group[k].state != SIM_AT_GROUP) continue;
      char text[200];
      unsigned first = i & ~3u, here = 0;
      for (unsigned q = first; q < first + 4; q++) here += wg_waiting(&x->warps[q], w->group[k].pc) != NULL;
      snprintf(text, sizeof text, "wgmma.mma_async was reached by %u of the warps %u to %u, the others wait elsewhere or "
               "have ended: all four warps of a warpgroup must execute it, whole", here, first, first + 3);
      w->mask = w->group[k].mask;
      return barrier_text(w, &x->function->code[w->group[k].pc], text);
    }
  return SIM_NEXT;
}

/* Nobody can go on: say who waits where. */
static int stuck(sim_exec *x) {
  char text[200];
  if (stuck_group(x) != SIM_NEXT) return SIM_FAULT;
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
        return barrier_text(&x->warps[i], &x->function->code[g->pc], text);
      }
  }
  for (unsigned i = 0; i < x->nwarps; i++)
    if (x->warps[i].ngroups > 0) {
      const sim_group *g = &x->warps[i].group[0];
      x->warps[i].mask = g->mask;
      if (g->state == SIM_AT_CLUSTER)
        return barrier_text(&x->warps[i], &x->function->code[g->pc], "not all threads of the cluster come to "
                             "its barrier: every thread of every block must reach every cluster.sync()");
      snprintf(text, sizeof text, "a warp-wide instruction waits for lanes that never come to it "
               "(lanes 0x%08x are there): its mask must name exactly the lanes that execute it", g->mask);
      return barrier_text(&x->warps[i], &x->function->code[g->pc], text);
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
  w->fails = w->polls = 0;
  if (w->active == 0 && !choose(w)) return w->ngroups == 0 ? WARP_ENDS : WARP_WAITS;
  for (;;) {
    if (w->pc >= w->next) {                    /* another group is here, or behind */
      park(w, w->pc, w->active, SIM_READY, 0);
      choose(w);
    }
    const sim_insn *in = code + w->pc;
    uint32_t m = w->active;
    int event;
    if (in->run > 1) {
      event = run_straight(w, &threads);
      in = code + w->pc;
    } else {
      if (in->guard != SIM_NOGUARD) m &= *(u32 *)(void *)(w->base[SIM_REGS] + in->guard) ^ in->guard_not;
      hits[w->pc]++;
      hits[w->pc + 1]--;
      threads += (uint64_t)__builtin_popcount(m);
      w->mask = m;
      event = m != 0 ? in->fn(w, in) : SIM_NEXT;
      w->pc += event == SIM_NEXT;
    }
    if (__builtin_expect(event == SIM_NEXT, 1)) continue;
    if (event == SIM_JUMP) {
      uint32_t from = w->pc;
      if (in->op == SIM_OP_brx) scatter(w, m);
      else jump(w);
      if (w->target <= from && (--turn == 0 || w->fails > FAILS || w->polls > POLLS)) {
        x->polling |= w->polls > POLLS;
        turn_over(w);
        result = WARP_YIELDS;
        break;
      }
    } else if (event == SIM_EXIT) {
      w->live &= ~m;
      x->exited += (unsigned)__builtin_popcount(m);
      w->active &= ~m;
      w->pc++;
    } else if (event == SIM_WAIT_WARP || event == SIM_WAIT_GROUP) {
      park(w, w->pc, w->mask, event == SIM_WAIT_WARP ? SIM_AT_WARP : SIM_AT_GROUP, 0);
      park(w, w->pc + 1, w->active & ~w->mask, SIM_READY, 0);
      w->active = 0;
    } else if (event == SIM_WAIT_CLUSTER) meet_cluster(w, in);
    else if (event != SIM_WAIT_BLOCK || arrive(w, in) == SIM_FAULT) { result = SIM_FAULT; break; }
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

/* A block beside others goes no further: one of them is in its way, or it does what no other does. */
static int gives_up(const sim_exec *x) {
  const sim_log *g = x->log;
  return g != NULL && (g->failed || __atomic_load_n(g->halt, __ATOMIC_RELAXED) || x->counts.threads > g->patience);
}

/* Every warp of the block has a turn: SIM_FAULT, or whether that was of use. */
static int run_turns(sim_exec *x) {
  unsigned ended = 0, yielded = 0;
  for (unsigned i = 0; i < x->nwarps; i++) {
    int r = run_warp(&x->warps[i]);
    if (r == SIM_FAULT || gives_up(x)) return SIM_FAULT;
    ended += r == WARP_ENDS;
    yielded += r == WARP_YIELDS;
  }
  x->ended = ended == x->nwarps;
  int released = release_complete(x) + x->rallied;
  x->rallied = 0;
  if (released) x->polling = 0;
  return released || yielded > 0 ? WARP_YIELDS : WARP_WAITS;
}

/* The blocks of a cluster, each of them in its turn: to the end, or until others must go on. */
static int run_block(sim_exec *x) {
  unsigned rounds = 0;
  for (unsigned k = 0; k < x->npeers && !x->suspended; k++) begin_block(x->peers[k]);
  x->suspended = 0;
  for (;;) {
    unsigned ended = 0, useful = 0;
    int polling = 0;
    for (unsigned k = 0; k < x->npeers; k++) {
      x->peers[k]->polling = 0;
      int r = x->peers[k]->ended ? WARP_WAITS : run_turns(x->peers[k]);
      if (r == SIM_FAULT) return SIM_FAULT;
      if (x->peers[k]->ended) ended++;
      useful += r == WARP_YIELDS;
      polling |= x->peers[k]->polling;
    }
    if (ended == x->npeers) return SIM_NEXT;
    if (meet(x)) continue;
    if (polling && ++rounds > ROUNDS) {
      x->suspended = 1;
      return SIM_PARK;
    }
    if (useful > 0) continue;
    for (unsigned k = 0; k < x->npeers; k++)
      if (!x->peers[k]->ended) return stuck(x->peers[k]);
  }
}
