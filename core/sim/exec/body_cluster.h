/*
** body_cluster.h - shared memory of the other blocks of a cluster, and generic
** addresses. An address that mapa made has the block's rank + 1 in its top byte; one
** without is the block's own. What comes from elsewhere counts, for the race detector,
** as several warps.
*/

enum { RANK_SHIFT = 24, FAILS = 4 };

/* ------------------------------------------------------ what barriers share */

static int barrier_text(sim_warp *w, const sim_insn *in, const char *text) {
  sim_fault *f = &w->exec->fault;
  f->kind = SIM_FAULT_BARRIER;
  f->insn = in;
  f->warp = w->index;
  f->lane = (unsigned)__builtin_ctz(w->mask ? w->mask : 1);
  snprintf(f->text, sizeof f->text, "%s", text);
  return SIM_FAULT;
}

/* What was accessed before is over: at a barrier, and between blocks. */
static void next_epoch(sim_exec *x) {
  if (++x->epoch < 1u << 24) return;           /* it must fit beside the flags */
  memset(x->writers, 0, x->shadow_size * sizeof *x->writers);
  memset(x->readers, 0, x->shadow_size * sizeof *x->readers);
  x->born = 0;
  x->epoch = 1;
}

/* ------------------------------------------------- the blocks of a cluster */

/* The block that an address of shared::cluster lies in, or NULL. */
static sim_exec *member(const sim_exec *x, uint32_t addr) {
  uint32_t rank = addr >> RANK_SHIFT;
  return rank == 0 ? x->peers[x->rank] : rank <= x->npeers ? x->peers[rank - 1] : NULL;
}
static uint32_t within(uint32_t addr) { return addr & ((1u << RANK_SHIFT) - 1); }

static int ended_fault(sim_warp *w, const sim_insn *in, unsigned lane) {
  w->mask = 1u << lane;
  return barrier_text(w, in, "access to the shared memory of a block of the cluster that has ended: "
                      "call cluster.sync() before a block ends whose memory others use");
}

/* Another block's unit: as if several of its warps had come. */
static void shadow_far(sim_warp *w, const sim_insn *in, sim_exec *to, uint32_t unit, int how) {
  uint32_t wr = to->writers[unit], rd = to->readers[unit], now = to->epoch << 8 | SHADOW_MANY;
  if (how == ATOMIC) now |= SHADOW_ATOMIC;
  int written = wr >> 8 == to->epoch, plain = written && !(wr & SHADOW_ATOMIC);
  if ((written && how != ATOMIC) || plain || (rd >> 8 == to->epoch && how == WRITE && !(rd & SHADOW_ATOMIC))) {
    if (first_race(w, in, SIM_RACE_WARPS, how)) {
      w->exec->race.place = (uint64_t)unit << to->grain;
      w->exec->race.other_how = written ? plain ? WRITE : ATOMIC : READ;
      w->exec->race.other_warp = -1;
      w->exec->race.other = written ? to->lines[unit] : 0;
    }
  }
  if (how == READ) to->readers[unit] = now;
  else {
    to->writers[unit] = now;
    to->lines[unit] = in->line;
  }
}

/* Check the accesses of w->mask to `to`, all of whose lanes lie there. */
static int far_access(sim_warp *w, const sim_insn *in, sim_exec *to, const uint32_t *addr, unsigned size,
                      int how) {
  uint32_t units = size >> to->grain > 0 ? size >> to->grain : 1;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    if (to->ended) return ended_fault(w, in, l);
    if (addr[l] >= to->shared_size || to->shared_size - addr[l] < size)
      return memory_fault(w, in, SIM_FAULT_ADDRESS, l, addr[l], size, SIM_SHARED, how);
    if (addr[l] & (size - 1)) return memory_fault(w, in, SIM_FAULT_ALIGN, l, addr[l], size, SIM_SHARED, how);
    for (uint32_t i = 0; i < units; i++) shadow_far(w, in, to, (addr[l] >> to->grain) + i, how);
  }
  w->exec->counts.shared_requests++;
  unsigned least, waves = wavefronts(addr, w->mask, size, &least);
  w->exec->counts.shared_wavefronts += waves;
  w->exec->counts.shared_least += least;
  return SIM_NEXT;
}

/* Addresses of shared::cluster, and the lanes whose memory is another block's. */
static int cluster_addresses(sim_warp *w, const sim_insn *in, sim_ref ref, int wide, int64_t offset,
                             unsigned size, int how, uint32_t *addr, uint32_t *far) {
  int event = shared_addresses(w, in, ref, wide, offset, size, how, addr);
  *far = 0;
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(w->mask >> l & 1) || addr[l] >> RANK_SHIFT == 0) continue;
    sim_exec *to = member(w->exec, addr[l]);
    if (to == NULL) return memory_fault(w, in, SIM_FAULT_ADDRESS, l, addr[l], size, SIM_SHARED, how);
    if (to != w->exec) *far |= 1u << l;
  }
  return event;
}

/* Between a far block and registers, one block at a time. */
static int move_far(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size, int how) {
  uint32_t mask = w->mask, left = mask, at[SIM_LANES];
  int event = SIM_NEXT;
  for (unsigned l = 0; l < SIM_LANES; l++) at[l] = within(addr[l]);
  while (left != 0 && event == SIM_NEXT) {
    sim_exec *to = member(w->exec, addr[__builtin_ctz(left)]);
    w->mask = 0;
    for (unsigned l = 0; l < SIM_LANES; l++)
      if ((left >> l & 1) && member(w->exec, addr[l]) == to) w->mask |= 1u << l;
    left &= ~w->mask;
    event = far_access(w, in, to, at, size, how);
    if (event != SIM_NEXT) break;
    if (how == READ) fetch_near(w, in, to->shared, 0, at, MIXED);
    else if (how == WRITE) put_near(w, in, to->shared, 0, at, MIXED);
    else {
      uint64_t wide[SIM_LANES];
      widened(at, wide);
      atomic_lanes(w, in, to->shared, 0, wide);
    }
  }
  w->mask = mask;
  return event;
}

/* The lanes that stay go the usual way, by their own addresses without a rank. */
static int cluster_access(sim_warp *w, const sim_insn *in, int how) {
  uint32_t addr[SIM_LANES], mask = w->mask, far, ranked = 0;
  unsigned size = (unsigned)in->width * in->vec;
  int pattern, event = cluster_addresses(w, in, in->r[1], in->wide & 2, in->offset, size, how, addr, &far);
  if (event != SIM_NEXT) return event;
  for (unsigned l = 0; l < SIM_LANES; l++) ranked |= (addr[l] >> RANK_SHIFT) << l;
  if (far == 0 && (ranked & mask) == 0)
    return how == READ ? op_ld_shared(w, in) : how == WRITE ? op_st_shared(w, in) : op_atom_shared(w, in);
  w->mask = far;
  if (far != 0) event = move_far(w, in, addr, size, how);
  w->mask = mask & ~far;
  if (w->mask != 0 && event == SIM_NEXT) {
    for (unsigned l = 0; l < SIM_LANES; l++) addr[l] = within(addr[l]);
    event = shared_access(w, in, addr, size, how, &pattern);
    if (event == SIM_NEXT) {
      uint64_t wide[SIM_LANES];
      widened(addr, wide);
      if (how == READ) fetch_near(w, in, w->exec->shared, 0, addr, MIXED);
      else if (how == WRITE) put_near(w, in, w->exec->shared, 0, addr, MIXED);
      else atomic_lanes(w, in, w->exec->shared, 0, wide);
    }
  }
  w->mask = mask;
  return event;
}

static int op_ld_cluster(sim_warp *w, const sim_insn *in) { return cluster_access(w, in, READ); }
static int op_st_cluster(sim_warp *w, const sim_insn *in) { return cluster_access(w, in, WRITE); }
static int op_atom_cluster(sim_warp *w, const sim_insn *in) { return cluster_access(w, in, ATOMIC); }

/* mapa d, a, rank: `width` bytes; generic addresses keep their window. */
static int op_mapa(sim_warp *w, const sim_insn *in) {
  const u32 *rank = SIM_PLACE(u32, w, in->r[2]);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    uint64_t a = lane_of(w, in->r[1], in->width, l);
    if (rank[l] >= w->exec->npeers)
      return memory_fault(w, in, SIM_FAULT_ADDRESS, l, a, 0, SIM_SHARED, READ);
    uint64_t window = a >> SIM_SLOT_BITS << SIM_SLOT_BITS;
    put_lane(w, in->r[0], in->width, l, window | (uint64_t)(rank[l] + 1) << RANK_SHIFT | within((uint32_t)a));
  }
  return SIM_NEXT;
}

SIM_BEGIN(rank_of)
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    const sim_exec *to = member(w->exec, (uint32_t)lane_of(w, in->r[1], in->width, l));
    d[l] = to != NULL ? to->rank : 0;
  }
SIM_END

static int op_bar_cluster(sim_warp *w, const sim_insn *in) {
  (void)w, (void)in;
  return SIM_WAIT_CLUSTER;
}

/* ----------------------------------------------------------------- generic */

/* The windows of the lanes' addresses decide; several: each in its turn. */
static int by_space(sim_warp *w, const sim_insn *in, sim_fn global, sim_fn shared, sim_fn local,
                    sim_fn param) {
  uint64_t addr[SIM_LANES];
  uint32_t mask = w->mask, in_space[5] = { 0, 0, 0, 0, 0 };
  addresses(w, in, in->r[1], in->wide & 2, in->offset, addr);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(mask >> l & 1)) continue;
    uint64_t slot = addr[l] >> SIM_SLOT_BITS;
    in_space[slot == SIM_SHARED ? 1 : slot == SIM_LOCAL ? 2 : slot == SIM_PARAM ? 3 : 0] |= 1u << l;
  }
  sim_fn fns[] = { global, shared, local, param };
  int event = SIM_NEXT;
  for (unsigned i = 0; i < 4 && event == SIM_NEXT; i++) {
    w->mask = in_space[i];
    if (w->mask == 0) continue;
    event = fns[i] != NULL ? fns[i](w, in)
          : memory_fault(w, in, SIM_FAULT_READONLY, (unsigned)__builtin_ctz(w->mask), 0, in->width,
                         SIM_PARAM, WRITE);
  }
  w->mask = mask;
  return event;
}

static int op_ld_generic(sim_warp *w, const sim_insn *in) {
  return by_space(w, in, op_ld_global, op_ld_cluster, op_ld_local, op_ld_param);
}
static int op_st_generic(sim_warp *w, const sim_insn *in) {
  return by_space(w, in, op_st_global, op_st_cluster, op_st_local, NULL);
}
static int op_atom_generic(sim_warp *w, const sim_insn *in) {
  return by_space(w, in, op_atom_global, op_atom_cluster, NULL, NULL);
}
