/*
** body_shadow.h - the race detector of shared memory.
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

/* Whether what is known of a unit needs the slow look: another warp, or an atomic access, of
   this epoch; and of a read, that nothing has been written. */
static inline uint32_t conflicts(uint32_t note, uint32_t key) { return (note ^ key) - 1u < 255u; }

/* The note of a plain read. */
static inline uint32_t read_note(uint32_t r, uint32_t key) {
  uint32_t same = (r >> 8) == (key >> 8);
  return same && !(r & SHADOW_ATOMIC) && r != key ? (key & ~255u) | SHADOW_MANY : key;
}

/* Many units side by side: a fast look whether any of them needs the slow one. */
static void shadow_range(sim_warp *w, const sim_insn *in, uint32_t first, uint32_t n, int how) {
  sim_exec *x = w->exec;
  if (!x->checks) return;
  uint32_t key = x->epoch << 8 | w->index, odd = 0, born = x->born << 8;
  u32 *wr = x->writers + first, *rd = x->readers + first, *lines = x->lines + first;
  if (how == READ && n <= 4) {
    for (uint32_t i = 0; i < n; i++) {
      odd |= conflicts(wr[i], key) | (wr[i] < born);
      rd[i] = read_note(rd[i], key);
    }
    if (!odd) return;
  } else if (how == READ) {
    SIM_VECTOR for (uint32_t i = 0; i < n; i++) {
      odd |= conflicts(wr[i], key) | (wr[i] < born);
      rd[i] = read_note(rd[i], key);
    }
    if (!odd) return;
  } else if (how == WRITE) {
    SIM_VECTOR for (uint32_t i = 0; i < n; i++) odd |= conflicts(wr[i], key) | conflicts(rd[i], key);
    if (!odd) {
      uint32_t line = in->line;
      SIM_VECTOR for (uint32_t i = 0; i < n; i++) wr[i] = key, lines[i] = line;
      return;
    }
  }
  for (uint32_t i = 0; i < n; i++) shadow_unit(w, in, first + i, how);
}

/* The same of units that lie apart, with others between them. */
static void shadow_touched(sim_warp *w, const sim_insn *in, const sim_shape *s, uint32_t first, int how) {
  sim_exec *x = w->exec;
  uint32_t key = x->epoch << 8 | w->index, odd = 0, born = x->born << 8, n = s->units;
  u32 *wr = x->writers + first, *rd = x->readers + first, *lines = x->lines + first;
  const uint32_t *touched = s->touched;
  if (how == READ) {
    SIM_VECTOR for (uint32_t i = 0; i < n; i++) {
      odd |= (conflicts(wr[i], key) | (wr[i] < born)) & touched[i];
      rd[i] = touched[i] ? read_note(rd[i], key) : rd[i];
    }
    if (!odd) return;
  } else if (how == WRITE) {
    SIM_VECTOR for (uint32_t i = 0; i < n; i++) odd |= (conflicts(wr[i], key) | conflicts(rd[i], key)) & touched[i];
    if (!odd) {
      uint32_t line = in->line;
      SIM_VECTOR for (uint32_t i = 0; i < n; i++) {
        wr[i] = touched[i] ? key : wr[i];
        lines[i] = touched[i] ? line : lines[i];
      }
      return;
    }
  }
  for (uint32_t i = 0; i < n; i++) if (touched[i]) shadow_unit(w, in, first + i, how);
}

static void shadow_shape(sim_warp *w, const sim_insn *in, const sim_shape *s, uint32_t start, int how) {
  unsigned grain = w->exec->grain;
  int32_t first = (int32_t)(start >> grain);
  if (s->units > 0) {
    shadow_touched(w, in, s, (uint32_t)(first + (s->from >> grain)), how);
    return;
  }
  for (int32_t k = 0; k < s->ranges; k++)
    shadow_range(w, in, (uint32_t)(first + s->range[k].first), (uint32_t)s->range[k].count, how);
}
