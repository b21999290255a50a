/* body_global.h - global memory: 32-byte sectors touched, loads and stores. */

/* ----------------------------------------------------------------- sectors */

/* The 32-byte sectors that the lanes touch, each once; each lane lies within one. */
static unsigned mixed_sectors(uint64_t base, const uint64_t *addr, uint32_t mask, uint64_t *seen) {
  uint64_t last = UINT64_MAX;
  unsigned count = 0, rising = 1;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(mask >> l & 1)) continue;
    uint64_t s = (addr[l] - base) >> 5;
    if (s == last) continue;
    if (count > 0 && s < last) rising = 0;
    if (!rising) {
      unsigned k = 0;
      while (k < count && seen[k] != s) k++;
      if (k < count) { last = s; continue; }
    }
    seen[count++] = last = s;
  }
  return count;
}

static inline void touch_list(uint64_t *bits, const uint64_t *sector, unsigned n) {
  for (unsigned k = 0; k < n; k++) bits[sector[k] >> 6] |= UINT64_C(1) << (sector[k] & 63);
}

/* A request of `n` sectors in `lines` lines, of a load at `level`. */
static inline void count_request(sim_exec *x, int how, unsigned n, unsigned lines, unsigned level) {
  x->counts.global_requests++;
  x->counts.global_sectors += n;
  if (how == READ) {
    x->counts.load_requests++;
    x->counts.load_sectors += n;
    if (level != LATER) x->counts.level[level]++;
  } else x->counts.lines += lines;
  if (how == WRITE) x->counts.store_requests++, x->counts.store_sectors += n;
  if (how == ATOMIC) x->counts.atomic_requests++, x->counts.atomic_sectors += n;
}

/* What a store changes, line by line, for sim/cores/replay.c. */
static void log_range(sim_log *g, const sim_region *r, uint64_t from, uint64_t to) {
  for (uint64_t line = from >> 7; line <= (to - 1) >> 7; line++) {
    uint64_t start = line << 7;
    sim_log_bytes(g, r, line, from > start ? (unsigned)(from - start) : 0,
                  to - start < 128 ? (unsigned)(to - start) : 128);
  }
}

static void log_mixed(sim_warp *w, const sim_region *r, const uint64_t *addr, unsigned size) {
  uint64_t from = 0, to = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    uint64_t off = addr[l] - r->base;
    if (!(w->mask >> l & 1)) continue;
    if (off == to && to > from) { to += size; continue; }
    if (to > from) log_range(w->exec->log, r, from, to);
    from = off;
    to = off + size;
  }
  if (to > from) log_range(w->exec->log, r, from, to);
}

/* Of a block that runs beside others, before it stores: 0: it must not. */
static int may_store(sim_warp *w, sim_region *r, uint64_t from, uint64_t to) {
  sim_log *g = w->exec->log;
  if (g == NULL) return 1;
  if (r->constant || !sim_undo_note(w->exec->device, r, from, to)) g->failed = 1;
  return !g->failed;
}

static int may_scatter(sim_warp *w, sim_region *r, const uint64_t *addr, unsigned size) {
  int may = 1;
  for (unsigned l = 0; l < SIM_LANES && may; l++)
    if (w->mask >> l & 1) may = may_store(w, r, addr[l] - r->base, addr[l] - r->base + size);
  return may;
}

static void count_mixed(sim_warp *w, const sim_region *r, const uint64_t *addr, unsigned size, int how) {
  sim_log *g = w->exec->log;
  uint64_t seen[SIM_LANES], *reads = r->bits + SIM_READS_NOW * r->words;
  unsigned n = mixed_sectors(r->base, addr, w->mask, seen), level = 0;
  unsigned bytes = size * (unsigned)__builtin_popcount(w->mask);
  if (g != NULL) g->begins = 1;
  if (how == READ) level = load_list(w, r, seen, n);
  else store_list(w, r, seen, n, how == WRITE && bytes >= n * 32);
  if (g != NULL && how != READ) log_mixed(w, r, addr, size);
  if (g == NULL && how != WRITE) touch_list(reads, seen, n);
  if (g == NULL && how != READ) touch_list(r->bits + SIM_WRITES_NOW * r->words, seen, n);
  count_request(w->exec, how, n, how == READ ? 0 : lines_of(seen, n), level);
}

/* Bytes `from` up to `to` of a region. */
static inline void count_range(sim_warp *w, const sim_region *r, uint64_t from, uint64_t to, int how) {
  sim_log *g = w->exec->log;
  uint64_t first = from >> 5, last = (to - 1) >> 5;
  int exact = ((from | to) & 31) == 0;
  if (g != NULL) g->begins = 1;
  unsigned level = how == READ ? load_range(w, r, first, last) : 0;
  if (how != READ) store_range(w, r, first, last, first != last, exact);
  if (g != NULL && how != READ && !exact) log_range(g, r, from, to);
  if (g == NULL && how != WRITE) touch_range(r->bits + SIM_READS_NOW * r->words, first, last);
  if (g == NULL && how != READ) touch_range(r->bits + SIM_WRITES_NOW * r->words, first, last);
  count_request(w->exec, how, (unsigned)(last - first) + 1, (unsigned)((last >> 2) - (first >> 2)) + 1, level);
}

static int global_culprit(sim_warp *w, const sim_insn *in, const uint64_t *addr, unsigned size, int how) {
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    const sim_region *r = sim_region_at(w->exec->device, addr[l]);
    if (r == NULL || addr[l] - r->base >= r->size || r->size - (addr[l] - r->base) < size)
      return memory_fault(w, in, SIM_FAULT_ADDRESS, l, addr[l], size, SIM_GLOBAL, how);
    if (addr[l] & (size - 1))
      return memory_fault(w, in, SIM_FAULT_ALIGN, l, addr[l], size, SIM_GLOBAL, how);
  }
  return SIM_SPLIT;          /* every lane is right, but they lie in several regions */
}

/* Check a global access and count it. SIM_SPLIT: take the lanes one by one. */
static inline int global_access(sim_warp *w, const sim_insn *in, const uint64_t *addr, unsigned size,
                                int how, int counted, sim_where *where) {
  uint64_t lo = addr[0], hi = addr[0], any = addr[0];
  sim_exec *x = w->exec;
  *where = (sim_where){ NULL, 0, NULL, NULL, pattern_of(addr, w->mask, size) };
  if (where->pattern == DENSE) hi = lo + (uint64_t)(SIM_LANES - 1) * size;
  else if (where->pattern == MIXED) extent(addr, w->mask, &lo, &hi, &any);
  uint64_t slot = lo >> SIM_SLOT_BITS;
  sim_region *r = slot < SIM_SLOTS ? x->device->slots[slot] : NULL;
  if (r == NULL || lo - r->base >= r->size || hi - r->base >= r->size ||
      r->size - (hi - r->base) < size || (any & (size - 1)))
    return global_culprit(w, in, addr, size, how);
  where->host = r->host;
  where->base = r->base;
  where->written = x->checks ? r->written : NULL;
  where->blocks = x->follows && r->notes.words != NULL ? &r->notes : NULL;
  if (!counted) return SIM_NEXT;
  if (x->log != NULL && how != READ &&
      !(where->pattern == MIXED ? may_scatter(w, r, addr, size)
                                : may_store(w, r, lo - r->base, hi - r->base + size))) return SIM_FAULT;
  if (where->pattern == MIXED) count_mixed(w, r, addr, size, how);
  else count_range(w, r, lo - r->base, hi - r->base + size, how);
  if (how == ATOMIC) note_hot(x, addr, w->mask);
  return SIM_NEXT;
}

/* ----------------------------------------------------------------- accesses */

static int op_ld_global(sim_warp *w, const sim_insn *in) {
  uint64_t addr[SIM_LANES];
  sim_where at;
  addresses(w, in, in->r[1], in->wide & 2, in->offset, addr);
  int event = global_access(w, in, addr, (unsigned)in->width * in->vec, READ, 1, &at);
  if (event == SIM_SPLIT) return one_by_one(w, in, op_ld_global);
  if (event != SIM_NEXT) return event;
  w->polls += in->strong;
  if (at.written != NULL) check_set(w, in, &at, addr);
  if (at.blocks != NULL && at.blocks->last >= w->exec->first_block && !in->strong) check_read(w, in, &at, addr);
  fetch_far(w, in, at.host, at.base, addr, at.pattern);
  return SIM_NEXT;
}

static int op_ld_const(sim_warp *w, const sim_insn *in) {
  uint64_t addr[SIM_LANES];
  sim_where at;
  addresses(w, in, in->r[1], in->wide & 2, in->offset, addr);
  int event = global_access(w, in, addr, (unsigned)in->width * in->vec, READ, 0, &at);
  if (event == SIM_SPLIT) return one_by_one(w, in, op_ld_const);
  if (event == SIM_NEXT) fetch_far(w, in, at.host, at.base, addr, at.pattern);
  return event;
}

static int op_st_global(sim_warp *w, const sim_insn *in) {
  uint64_t addr[SIM_LANES];
  sim_where at;
  addresses(w, in, in->r[1], in->wide & 2, in->offset, addr);
  int event = global_access(w, in, addr, (unsigned)in->width * in->vec, WRITE, 1, &at);
  if (event == SIM_SPLIT) return one_by_one(w, in, op_st_global);
  if (event != SIM_NEXT) return event;
  if (at.blocks != NULL && in->width >= 4 && !in->strong) mark_blocks(w, in, &at, addr);
  if (at.written != NULL) mark_set(w, in, &at, addr);
  put_far(w, in, at.host, at.base, addr, at.pattern);
  if (at.pattern != DENSE && w->exec->checks) {
    uint32_t lost = lost_far(w, in, at.host, at.base, addr);
    if (lost != 0) note_lanes(w, in, lost, SIM_GLOBAL, addr[__builtin_ctz(lost)]);
  }
  return SIM_NEXT;
}
