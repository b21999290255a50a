/* shadow.c - the race detector of shared memory, unit by unit. See shadow.h. */
#include "sim/watch/shadow.h"

#include "sim/instructions/variants.h"
#include "sim/watch/race.h"
#include "sim/watch/undefined.h"
#include "sim/watch/uninitialised.h"

static void note_race(sim_warp *w, const sim_insn *in, uint32_t unit, uint32_t other, int how,
                      int other_how) {
  sim_exec *x = w->exec;
  if (!sim_race_first(w, in, SIM_RACE_WARPS, how == LOOK ? READ : how == SWAP ? ATOMIC : how)) return;
  x->race.place = (uint64_t)unit << x->grain;
  x->race.other_how = other_how;
  x->race.other_warp = other & SHADOW_MANY ? -1 : (int)(other & SHADOW_WARP);
  x->race.other = other_how != READ ? x->lines[unit] : 0;
}

static void shadow_read(sim_warp *w, const sim_insn *in, uint32_t i, int how) {
  sim_exec *x = w->exec;
  uint32_t key = x->epoch << 8 | w->index, wr = x->writers[i], rd = x->readers[i];
  int read = rd >> 8 == x->epoch;
  if (wr >> 8 < x->first_epoch) {
    if (sim_undefined_may(in)) x->unset = 1;
    else sim_uninitialised_note(w, in, SIM_SHARED, (unsigned)__builtin_ctz(w->mask), (uint64_t)i << x->grain);
  }
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
  if (wr >> 8 < x->first_epoch && sim_op_has(in->op, OP_READS | OP_ATOMIC) && in->mode != A_EXCH)
    sim_uninitialised_note(w, in, SIM_SHARED, (unsigned)__builtin_ctz(w->mask), (uint64_t)i << x->grain);
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

void sim_shadow_settle(sim_warp *w, const sim_insn *in) {
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

void sim_shadow_unit(sim_warp *w, const sim_insn *in, uint32_t i, int how) {
  if (how == READ || how == LOOK) shadow_read(w, in, i, how);
  else if (how == WRITE) shadow_write(w, in, i);
  else shadow_atomic(w, in, i, how);
}

void sim_shadow_far(sim_warp *w, const sim_insn *in, sim_exec *to, uint32_t unit, int how) {
  uint32_t wr = to->writers[unit], rd = to->readers[unit], now = to->epoch << 8 | SHADOW_MANY;
  if (how == ATOMIC) now |= SHADOW_ATOMIC;
  int written = wr >> 8 == to->epoch, plain = written && !(wr & SHADOW_ATOMIC);
  if ((written && how != ATOMIC) || plain || (rd >> 8 == to->epoch && how == WRITE && !(rd & SHADOW_ATOMIC))) {
    if (sim_race_first(w, in, SIM_RACE_WARPS, how)) {
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
