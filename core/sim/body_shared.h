/*
** body_shared.h - shared memory: bank conflicts, and the race detector.
**
** For each unit of shared memory (4 bytes, or less where the kernel accesses
** less) the shadow keeps who wrote and who read it last: epoch << 8 | warp,
** with flags. The epoch grows at every barrier. Two accesses of one epoch by
** different warps are a race if one of them writes and one of them is plain.
** Only compare-and-swap may follow or precede plain reads: its loop begins with
** one, and a stale value there costs a turn of the loop and nothing else.
*/

/* Beside the epoch: of writers, all were atomic, all were compare-and-swaps; of
   readers, all were atomic; several warps. */
enum { SHADOW_ATOMIC = 0x20, SHADOW_MANY = 0x40, SHADOW_SWAP = 0x80, SHADOW_WARP = 0x1f };
enum { LOOK = ATOMIC + 1, SWAP };      /* further ways: an atomic load, a compare-and-swap */

static void note_race(sim_warp *w, const sim_insn *in, uint32_t unit, uint32_t other, int how,
                      int other_how) {
  sim_exec *x = w->exec;
  if (!first_race(w, in, SIM_RACE_WARPS, how == LOOK ? READ : how == SWAP ? ATOMIC : how)) return;
  x->race.place = (uint64_t)unit << x->grain;
  x->race.other_how = other_how;
  x->race.other_warp = other & SHADOW_MANY ? -1 : (int)(other & SHADOW_WARP);
  x->race.other = other_how != READ ? x->lines[unit] : 0;
}

static void shadow_read(sim_warp *w, const sim_insn *in, uint32_t i, int how) {
  sim_exec *x = w->exec;
  uint32_t key = x->epoch << 8 | w->index, wr = x->writers[i], rd = x->readers[i];
  int read = rd >> 8 == x->epoch;
  if (wr >> 8 < x->born) note_unset(w, in, SIM_SHARED, (unsigned)__builtin_ctz(w->mask), (uint64_t)i << x->grain);
  if (wr >> 8 == x->epoch && ((wr & SHADOW_MANY) || (wr & SHADOW_WARP) != w->index)) {
    if (!(wr & SHADOW_ATOMIC)) note_race(w, in, i, wr, how, WRITE);
    else if (how == READ && !(wr & SHADOW_SWAP)) note_race(w, in, i, wr, how, ATOMIC);
  }
  if (how == READ)
    x->readers[i] = read && !(rd & SHADOW_ATOMIC) && rd != key ? x->epoch << 8 | SHADOW_MANY : key;
  else if (!read) x->readers[i] = key | SHADOW_ATOMIC;
  else if ((rd & SHADOW_ATOMIC) && (rd & SHADOW_WARP) != w->index) x->readers[i] = rd | SHADOW_MANY;
}

static void shadow_atomic(sim_warp *w, const sim_insn *in, uint32_t i, int how) {
  sim_exec *x = w->exec;
  uint32_t key = x->epoch << 8 | w->index, wr = x->writers[i], rd = x->readers[i], flags = SHADOW_ATOMIC;
  int written = wr >> 8 == x->epoch;
  if (wr >> 8 < x->born && in->mode != A_EXCH)
    note_unset(w, in, SIM_SHARED, (unsigned)__builtin_ctz(w->mask), (uint64_t)i << x->grain);
  int by_other = written && ((wr & SHADOW_MANY) || (wr & SHADOW_WARP) != w->index);
  if (by_other && !(wr & SHADOW_ATOMIC)) note_race(w, in, i, wr, how, WRITE);
  else if (how == ATOMIC && rd >> 8 == x->epoch && !(rd & SHADOW_ATOMIC) && rd != key)
    note_race(w, in, i, rd, how, READ);
  if (written && !(wr & SHADOW_ATOMIC)) return;
  if (how == SWAP && (!written || (wr & SHADOW_SWAP))) flags |= SHADOW_SWAP;
  if (by_other) flags |= SHADOW_MANY;
  x->writers[i] = key | flags;
  x->lines[i] = in->line;
}

/*
** Warps that store one value to one place do no harm: the unit and what it holds go into a
** list, for the store to look at afterwards.
*/
static int collect(sim_exec *x, uint32_t unit, uint32_t other) {
  if (!x->collecting || (other & SHADOW_ATOMIC) || x->nwaw == SIM_WAW) return 0;
  struct sim_waw *n = &x->waw[x->nwaw++];
  *n = (struct sim_waw){ unit, other, 0 };
  memcpy(&n->was, x->shared + ((size_t)unit << x->grain), (size_t)1 << x->grain);
  return 1;
}

/* After the store: where it changed what another warp had written, that is a race. */
static void look_at_collected(sim_warp *w, const sim_insn *in) {
  sim_exec *x = w->exec;
  for (uint32_t i = 0; i < x->nwaw; i++) {
    const struct sim_waw *n = &x->waw[i];
    if (memcmp(&n->was, x->shared + ((size_t)n->unit << x->grain), (size_t)1 << x->grain) != 0)
      note_race(w, in, n->unit, n->other, WRITE, WRITE);
  }
  x->nwaw = 0;
}

static void shadow_write(sim_warp *w, const sim_insn *in, uint32_t i) {
  sim_exec *x = w->exec;
  uint32_t key = x->epoch << 8 | w->index, wr = x->writers[i], rd = x->readers[i];
  if (wr >> 8 == x->epoch && ((wr & SHADOW_MANY) || (wr & SHADOW_WARP) != w->index)) {
    if (collect(x, i, wr)) key |= SHADOW_MANY;
    else note_race(w, in, i, wr, WRITE, wr & SHADOW_ATOMIC ? ATOMIC : WRITE);
  } else if (rd >> 8 == x->epoch && ((rd & SHADOW_MANY) || (rd & SHADOW_WARP) != w->index))
    note_race(w, in, i, rd, WRITE, READ);
  x->writers[i] = key;
  x->lines[i] = in->line;
}

/* One unit, with everything said about it. */
static void shadow_unit(sim_warp *w, const sim_insn *in, uint32_t i, int how) {
  if (how == READ || how == LOOK) shadow_read(w, in, i, how);
  else if (how == WRITE) shadow_write(w, in, i);
  else shadow_atomic(w, in, i, how);
}

/* Many units side by side: a fast look whether any of them needs the slow one. */
static void shadow_range(sim_warp *w, const sim_insn *in, uint32_t first, uint32_t n, int how) {
  sim_exec *x = w->exec;
  if (n <= 2) {
    for (uint32_t i = 0; i < n; i++) shadow_unit(w, in, first + i, how);
    return;
  }
  uint32_t key = x->epoch << 8 | w->index, many = x->epoch << 8 | SHADOW_MANY, odd = 0, born = x->born << 8;
  u32 *wr = x->writers + first, *rd = x->readers + first, *lines = x->lines + first;
  if (how == READ) {
    SIM_VECTOR for (uint32_t i = 0; i < n; i++) {
      uint32_t r = rd[i], same = (r >> 8) == (key >> 8);
      odd |= ((wr[i] ^ key) - 1u < 255u) | (wr[i] < born);
      rd[i] = same && !(r & SHADOW_ATOMIC) && r != key ? many : key;
    }
    if (!odd) return;
  } else if (how == WRITE) {
    SIM_VECTOR for (uint32_t i = 0; i < n; i++)
      odd |= ((wr[i] ^ key) - 1u < 255u) | ((rd[i] ^ key) - 1u < 255u);
    if (!odd) {
      uint32_t line = in->line;
      SIM_VECTOR for (uint32_t i = 0; i < n; i++) wr[i] = key, lines[i] = line;
      return;
    }
  }
  for (uint32_t i = 0; i < n; i++) shadow_unit(w, in, first + i, how);
}

/* ---------------------------------------------------- shapes of an access */

/*
** 32 banks of 4 bytes, one word each a pass. 8-byte accesses go by half warps
** and 16-byte accesses by quarter warps, as if to 16 and 8 wider banks.
*/
static unsigned group_waves(const uint32_t *addr, uint32_t mask, unsigned size, unsigned *least) {
  unsigned shift = size == 16 ? 4 : size == 8 ? 3 : 2, group = SIM_LANES >> (shift - 2), total = 0;
  uint32_t words[32][32];
  for (unsigned first = 0; first < SIM_LANES; first += group) {
    uint8_t count[32] = { 0 };
    unsigned worst = 0;
    for (unsigned l = first; l < first + group; l++) {
      if (!(mask >> l & 1)) continue;
      uint32_t word = addr[l] >> shift, bank = word & (group - 1), k = 0;
      while (k < count[bank] && words[bank][k] != word) k++;
      if (k < count[bank]) continue;
      words[bank][count[bank]++] = word;
      if (count[bank] > worst) worst = count[bank];
    }
    total += worst;
    *least += worst > 0;
  }
  return total;
}

/* Whether the lanes from `first` on touch no bank twice, each word being fetched once. */
static int fits_one_wave(const uint32_t *addr, uint32_t mask, unsigned size, unsigned first, unsigned lanes) {
  uint32_t word[SIM_LANES] = { 0 }, used = 0;
  for (unsigned l = first; l < first + lanes; l++) {
    if (!(mask >> l & 1)) continue;
    for (uint32_t at = addr[l] >> 2; at < (addr[l] + size) >> 2; at++) {
      if ((used >> (at & 31) & 1) && word[at & 31] != at) return 0;
      used |= 1u << (at & 31);
      word[at & 31] = at;
    }
  }
  return used != 0;
}

/* Two neighbouring groups go in one pass where their banks allow it. */
static unsigned wavefronts(const uint32_t *addr, uint32_t mask, unsigned size, unsigned *least) {
  unsigned lanes = size == 16 ? 16 : 32, total = 0;
  *least = 0;
  if (size < 8) return group_waves(addr, mask, size, least);
  for (unsigned first = 0; first < SIM_LANES; first += lanes) {
    uint32_t part = mask & (uint32_t)(((UINT64_C(1) << lanes) - 1) << first);
    if (fits_one_wave(addr, part, size, first, lanes)) total++, (*least)++;
    else total += group_waves(addr, part, size, least);
  }
  return total;
}

/* The units that the lanes touch, as ranges from the first lane's: merged, but
   a range may appear twice, which does no harm. */
static void make_ranges(sim_shape *s, const uint32_t *apart, uint32_t mask, unsigned size, unsigned grain) {
  s->ranges = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(mask >> l & 1)) continue;
    int32_t first = (int32_t)apart[l] >> grain, n = (int32_t)(size >> grain), k = 0;
    if (n == 0) n = 1;
    for (; k < s->ranges; k++) {
      int32_t from = s->range[k].first, to = from + s->range[k].count;
      if (first >= from && first + n <= to) break;
      if (first == to) { s->range[k].count += n; break; }
    }
    if (k == s->ranges) s->range[s->ranges++] = (struct sim_range){ first, n };
  }
}

/* Lanes that share a place; accesses are aligned, so they share all of it. */
static int crossed(const uint32_t *apart, uint32_t mask) {
  for (unsigned l = 1; l < SIM_LANES; l++)
    for (unsigned k = 0; k < l; k++)
      if ((mask >> l & mask >> k & 1) && apart[k] == apart[l]) return 1;
  return 0;
}

/*
** The cost and the units of a mixed access depend on the lanes' distances only,
** and those are mostly as they were when the instruction ran last.
*/
static sim_shape *shape_of(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size,
                           uint32_t *start) {
  sim_exec *x = w->exec;
  sim_shape *s = &x->shapes[(size_t)(in - x->function->code) % SIM_SHAPES];
  uint32_t apart[SIM_LANES], mask = w->mask, first = addr[__builtin_ctz(mask)], differ = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) apart[l] = mask & lane_bit[l] ? addr[l] - first : 0;
  for (unsigned l = 0; l < SIM_LANES; l++) differ |= apart[l] ^ s->apart[l];
  *start = first;
  if (differ == 0 && s->mask == mask && s->size == size) return s;
  memcpy(s->apart, apart, sizeof apart);
  s->mask = mask;
  s->size = size;
  s->waves = wavefronts(addr, mask, size, &s->least);
  s->crossed = crossed(apart, mask);
  make_ranges(s, apart, mask, size, x->grain);
  return s;
}

/* -------------------------------------------------------------- the access */

static inline int shared_addresses(sim_warp *w, const sim_insn *in, sim_ref ref, int wide, int64_t offset,
                                   unsigned size, int how, uint32_t *out) {
  if (!wide) {
    const u32 *a = SIM_PLACE(u32, w, ref);
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) out[l] = a[l] + (uint32_t)offset;
    return SIM_NEXT;
  }
  const u64 *a = SIM_PLACE(u64, w, ref);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    uint64_t v = a[l] + (uint64_t)offset;
    if (v >> SIM_SLOT_BITS == SIM_SHARED) v -= SIM_WINDOW(SIM_SHARED);
    if ((w->mask >> l & 1) && v > UINT32_MAX)
      return memory_fault(w, in, SIM_FAULT_ADDRESS, l, v, size, SIM_SHARED, how);
    out[l] = (uint32_t)v;
  }
  return SIM_NEXT;
}

static int shared_culprit(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size, int how) {
  uint32_t limit = w->exec->shared_size;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    if (addr[l] >= limit || limit - addr[l] < size)
      return memory_fault(w, in, SIM_FAULT_ADDRESS, l, addr[l], size, SIM_SHARED, how);
    if (addr[l] & (size - 1))
      return memory_fault(w, in, SIM_FAULT_ALIGN, l, addr[l], size, SIM_SHARED, how);
  }
  return SIM_NEXT;
}

static inline int shared_pattern(const uint32_t *addr, uint32_t mask, unsigned size) {
  if (mask != SIM_ALL) return MIXED;
  uint32_t first = addr[0], uneven = 0, differ = 0;
  SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) {
    uneven |= addr[l] ^ (first + l * size);
    differ |= addr[l] ^ first;
  }
  return uneven == 0 ? DENSE : differ == 0 ? SAME : MIXED;
}

/* An access to where a copy is still under way. */
static void check_flight(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size, int how) {
  sim_exec *x = w->exec;
  uint32_t units = size >> x->grain > 0 ? size >> x->grain : 1;
  for (unsigned l = 0; l < SIM_LANES; l++)
    for (uint32_t i = 0; (w->mask >> l & 1) && i < units; i++) {
      uint32_t unit = (addr[l] >> x->grain) + i;
      if (x->flight[unit] == 0) continue;
      if (!first_race(w, in, SIM_RACE_COPY, how)) return;
      x->race.place = (uint64_t)unit << x->grain;
      x->race.other = x->lines[unit];
      return;
    }
}

static inline int shared_access(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size,
                                int how, int *pattern) {
  sim_exec *x = w->exec;
  uint32_t bad = 0, limit = x->shared_size, units = size >> x->grain;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    uint32_t wrong = (addr[l] >= limit) | (limit - addr[l] < size) | ((addr[l] & (size - 1)) != 0);
    bad |= wrong ? lane_bit[l] : 0;
  }
  if (bad & w->mask) return shared_culprit(w, in, addr, size, how);
  if (x->flying > 0) check_flight(w, in, addr, size, how);
  *pattern = shared_pattern(addr, w->mask, size);
  x->counts.shared_requests++;
  if (how == READ && in->atomic) how = LOOK;         /* ld.relaxed, ld.acquire */
  else if (how == WRITE && in->atomic) how = ATOMIC;
  else if (how == ATOMIC && in->mode == A_CAS) how = SWAP;
  if (*pattern == DENSE) {
    x->counts.shared_wavefronts += size < 4 ? 1 : size / 4;
    x->counts.shared_least += size < 4 ? 1 : size / 4;
    shadow_range(w, in, addr[0] >> x->grain, units * SIM_LANES, how);
  } else if (*pattern == SAME) {
    x->counts.shared_wavefronts++;
    x->counts.shared_least++;
    shadow_range(w, in, addr[0] >> x->grain, units, how);
  } else {
    uint32_t start;
    const sim_shape *s = shape_of(w, in, addr, size, &start);
    x->counts.shared_wavefronts += s->waves;
    x->counts.shared_least += s->least;
    if (s->crossed) *pattern = CROSSED;
    for (int32_t k = 0; k < s->ranges; k++)
      shadow_range(w, in, (uint32_t)((int32_t)(start >> x->grain) + s->range[k].first),
                   (uint32_t)s->range[k].count, how);
  }
  return SIM_NEXT;
}

static inline void widened(const uint32_t *addr, uint64_t *out) {
  SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) out[l] = addr[l];
}

static int op_ld_shared(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  unsigned size = (unsigned)in->width * in->vec;
  int pattern, event = shared_addresses(w, in, in->r[1], in->wide, in->imm, size, READ, addr);
  if (event == SIM_NEXT) event = shared_access(w, in, addr, size, READ, &pattern);
  if (event != SIM_NEXT) return event;
  fetch_near(w, in, w->exec->shared, 0, addr, pattern);
  return SIM_NEXT;
}

static int op_st_shared(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  unsigned size = (unsigned)in->width * in->vec;
  int pattern, event = shared_addresses(w, in, in->r[1], in->wide, in->imm, size, WRITE, addr);
  w->exec->collecting = 1;
  if (event == SIM_NEXT) event = shared_access(w, in, addr, size, WRITE, &pattern);
  w->exec->collecting = 0;
  if (event != SIM_NEXT) return event;
  put_near(w, in, w->exec->shared, 0, addr, pattern);
  if (w->exec->nwaw > 0) look_at_collected(w, in);
  if (pattern == SAME || pattern == CROSSED) {
    uint32_t lost = lost_near(w, in, w->exec->shared, 0, addr);
    if (lost != 0) note_lanes(w, in, lost, SIM_SHARED, addr[__builtin_ctz(lost)]);
  }
  return SIM_NEXT;
}
