/* body_shared.h - shared memory: loads and stores. See body_shape.h, sim/watch/body_shadow.h. */

/* Lane by lane: some are in the window of generic addresses, others not; or wrong, or inactive. */
static int mixed_addresses(sim_warp *w, const sim_insn *in, const u64 *a, int64_t offset, unsigned size, int how,
                           uint32_t *out) {
  for (unsigned l = 0; l < SIM_LANES; l++) {
    uint64_t v = a[l] + (uint64_t)offset;
    if (v >> SIM_SLOT_BITS == SIM_SHARED) v -= SIM_WINDOW(SIM_SHARED);
    if ((w->mask >> l & 1) && v > UINT32_MAX)
      return memory_fault(w, in, SIM_FAULT_ADDRESS, l, v, size, SIM_SHARED, how);
    out[l] = (uint32_t)v;
  }
  return SIM_NEXT;
}

static inline int shared_addresses(sim_warp *w, const sim_insn *in, sim_ref ref, int wide, int64_t offset,
                                   unsigned size, int how, uint32_t *out) {
  if (!wide) {
    const u32 *a = SIM_PLACE(u32, w, ref);
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) out[l] = a[l] + (uint32_t)offset;
    return SIM_NEXT;
  }
  const u64 *a = SIM_PLACE(u64, w, ref);
  uint64_t far[SIM_LANES], first = a[__builtin_ctz(w->mask)] + (uint64_t)offset;
  uint64_t delta = (uint64_t)offset - (first >> SIM_SLOT_BITS == SIM_SHARED ? SIM_WINDOW(SIM_SHARED) : 0);
  SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) {
    far[l] = a[l] + delta;
    out[l] = (uint32_t)far[l];
  }
  if (__builtin_expect(!all_short(far), 0)) return mixed_addresses(w, in, a, offset, size, how, out);
  return SIM_NEXT;
}

/* An access to where a copy is still under way, or a store to what a warpgroup product may still
   read. Whether nothing of the kind was found. */
static int check_units(sim_warp *w, const sim_insn *in, uint32_t first, uint32_t n, int how) {
  sim_exec *x = w->exec;
  for (uint32_t unit = first; unit < first + n; unit++) {
    int lent = how != READ && x->lent[unit] > 0;
    if (x->flight[unit] == 0 && !lent) continue;
    if (!first_race(w, in, lent ? SIM_RACE_LENT : SIM_RACE_COPY, how)) return 0;
    x->race.place = (uint64_t)unit << x->grain;
    x->race.other = x->lines[unit];
    return 0;
  }
  return 1;
}

static void check_flight(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size, int how) {
  unsigned grain = w->exec->grain;
  uint32_t units = size >> grain > 0 ? size >> grain : 1;
  for (unsigned l = 0; l < SIM_LANES; l++)
    if ((w->mask >> l & 1) && !check_units(w, in, addr[l] >> grain, units, how)) return;
}

/* Whether the whole access lies in shared memory, and aligned. */
static inline int shape_fits(const sim_shape *s, uint32_t start, uint32_t limit) {
  return (int64_t)start + s->from >= 0 && (int64_t)start + s->to + s->size <= (int64_t)limit &&
         ((start | s->odd) & (s->size - 1)) == 0;
}

/* Check and count an access; its shape is left in *shape, unless it faults. */
static inline int shared_shape(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size,
                               int how, const sim_shape **shape) {
  sim_exec *x = w->exec;
  const sim_shape *s = *shape = shape_of(w, in, addr, size, how);
  uint32_t start = addr[__builtin_ctz(w->mask)];
  if (s == NULL) return SIM_FAULT;
  if (!shape_fits(s, start, x->shared_size)) return shared_culprit(w, in, addr, size, how);
  x->counts.shared_requests++;
  x->counts.shared_wavefronts += s->waves;
  x->counts.shared_least += s->least;
  if (!x->checks) return SIM_NEXT;
  if (x->flying > 0) check_flight(w, in, addr, size, how);
  if (how == READ && in->strong) how = LOOK;         /* ld.relaxed, ld.acquire */
  else if (how == WRITE && in->strong) how = ATOMIC;
  else if (how == ATOMIC && in->mode == A_CAS) how = SWAP;
  shadow_shape(w, in, s, start, how);
  return SIM_NEXT;
}

static int shared_access(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size,
                         int how, int *pattern) {
  const sim_shape *s;
  int event = shared_shape(w, in, addr, size, how, &s);
  if (event == SIM_NEXT) *pattern = s->pattern;
  return event;
}

static inline void widened(const uint32_t *addr, uint64_t *out) {
  SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) out[l] = addr[l];
}

/* 4-byte elements of all lanes, from two places. */
static inline void fetch_pair(sim_warp *w, const sim_insn *in, const sim_shape *s, uint32_t start) {
  uint32_t other = s->to != 0 ? (uint32_t)s->to : (uint32_t)s->from;
  const u32 *here = (const u32 *)(const void *)(w->exec->shared + start);
  const u32 *there = (const u32 *)(const void *)(w->exec->shared + (start + other));
  for (unsigned k = 0; k < in->vec; k++) {
    u32 *d = SIM_PLACE(u32, w, element(in, k)), p = here[k], q = there[k];
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) d[l] = s->apart[l] != 0 ? q : p;
  }
}

static int op_ld_shared(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  unsigned size = (unsigned)in->width * in->vec;
  const sim_shape *s;
  int event = shared_addresses(w, in, in->r[1], in->wide & 2, in->offset, size, READ, addr);
  if (event == SIM_NEXT) event = shared_shape(w, in, addr, size, READ, &s);
  if (event != SIM_NEXT) return event;
  if (in->width == 4 && in->lane == 4 && w->mask == SIM_ALL && s->pattern != DENSE && s->pattern != SAME) {
    if (s->pair) { fetch_pair(w, in, s, addr[0]); return SIM_NEXT; }
    if (s->words > 0 && look_up(w, in, s, w->exec->shared + (int64_t)addr[0] + s->from)) return SIM_NEXT;
  }
  fetch_near(w, in, w->exec->shared, 0, addr, s->pattern);
  return SIM_NEXT;
}

static int op_st_shared(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  unsigned size = (unsigned)in->width * in->vec;
  sim_exec *x = w->exec;
  int pattern, event = shared_addresses(w, in, in->r[1], in->wide & 2, in->offset, size, WRITE, addr);
  x->collecting = 1;
  if (event == SIM_NEXT) event = shared_access(w, in, addr, size, WRITE, &pattern);
  x->collecting = 0;
  if (event != SIM_NEXT) return event;
  put_near(w, in, x->shared, 0, addr, pattern);
  if (x->nwaw > 0) look_at_collected(w, in);
  if (x->checks && (pattern == SAME || pattern == CROSSED)) {
    uint32_t lost = lost_near(w, in, x->shared, 0, addr);
    if (lost != 0) note_lanes(w, in, lost, SIM_SHARED, addr[__builtin_ctz(lost)]);
  }
  return SIM_NEXT;
}
