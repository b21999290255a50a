/* race.c - races that a store shows by itself. See race.h. */
#include "sim/watch/race.h"

int sim_race_first(sim_warp *w, const sim_insn *in, int kind, int how) {
  sim_exec *x = w->exec;
  if (!x->checks) return 0;
  int better = x->race.kind == SIM_RACE_UNINITIALISED && kind != SIM_RACE_UNINITIALISED;
  if (x->counts.races++ != 0 && !better) return 0;
  x->race.kind = kind;
  x->race.space = SIM_GENERIC;                  /* shared memory, unless told otherwise */
  x->race.line = in->line;
  x->race.warp = w->index;
  x->race.how = how;
  memcpy(x->race.block, x->block, sizeof x->race.block);
  return 1;
}

void sim_race_lanes(sim_warp *w, const sim_insn *in, uint32_t lost, int space, uint64_t place) {
  sim_exec *x = w->exec;
  if (lost == 0 || in->strong || !sim_race_first(w, in, SIM_RACE_LANES, WRITE)) return;
  x->race.space = space;
  x->race.place = place;
}

static void note_blocks(sim_warp *w, const sim_insn *in, int how, uint64_t place, uint32_t other) {
  sim_exec *x = w->exec;
  if (!sim_race_first(w, in, SIM_RACE_BLOCKS, how)) return;
  x->race.space = SIM_GLOBAL;
  x->race.place = place;
  x->race.other = other - x->first_block;
}

/* Another block of this launch stored here before. */
static inline int foreign(const sim_exec *x, uint32_t block) {
  return block >= x->first_block && block != x->first_block + x->serial;
}

/* The notes of a sector's words, which are looked at one by one from now on. */
static uint32_t *part_sector(const sim_exec *x, const sim_where *at, uint64_t sector) {
  uint32_t *note = at->blocks->sectors + sector, *words = at->blocks->words + 8 * sector;
  if (!(*note & SIM_PARTED) && *note >= x->first_block)
    for (int i = 0; i < 8; i++) words[i] = *note;
  *note = (x->first_block + x->serial) | SIM_PARTED;
  return words;
}

/* A lane's element about to be stored, word by word. */
static void mark_element(sim_warp *w, const sim_insn *in, const sim_where *at, unsigned l, unsigned k,
                         uint64_t addr) {
  sim_exec *x = w->exec;
  uint64_t v = lane_of(w, element(in, k), in->lane, l), off = addr - at->base;
  for (unsigned i = 0; i < in->width / 4u; i++, v >>= 32, off += 4) {
    uint32_t now = (uint32_t)v, old, *note = part_sector(x, at, off / 32) + off / 4 % 8;
    memcpy(&old, at->host + off, 4);
    if (foreign(x, *note) && old != now) note_blocks(w, in, WRITE, at->base + off, *note);
    *note = x->first_block + x->serial;
  }
}

/* Whole sectors that nobody else stored to. */
static inline int mark_whole(const sim_exec *x, uint32_t *note, uint32_t n) {
  uint32_t odd = 0, first = x->first_block, own = first + x->serial;
  for (uint32_t i = 0; i < n; i++) odd |= ((note[i] & ~SIM_PARTED) >= first) & (note[i] != own);
  if (odd) return 0;
  for (uint32_t i = 0; i < n; i++) note[i] = own;
  return 1;
}

/* Before a store: whose words are these? */
void sim_race_store(sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr) {
  uint64_t start = addr[0] - at->base;
  at->blocks->last = w->exec->first_block + w->exec->serial;
  if (at->pattern == DENSE && start % 32 == 0 &&
      mark_whole(w->exec, at->blocks->sectors + start / 32, in->vec * (uint32_t)in->width)) return;
  for (unsigned l = 0; l < SIM_LANES; l++)
    for (unsigned k = 0; k < in->vec && (w->mask >> l & 1); k++)
      mark_element(w, in, at, l, k, addr[l] + (uint64_t)k * in->width);
}

/* An atomic access to what another block stored plainly. */
void sim_race_atomic(sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr) {
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    uint64_t off = addr[l] - at->base;
    uint32_t note = at->blocks->sectors[off / 32];
    if (note & SIM_PARTED) note = at->blocks->words[off / 4];
    if (foreign(w->exec, note)) note_blocks(w, in, ATOMIC, addr[l], note);
  }
}

/* A load of what another block stored plainly. */
void sim_race_load(sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr) {
  const sim_exec *x = w->exec;
  uint64_t size = (uint64_t)in->width * in->vec;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    uint64_t off = addr[l] - at->base;
    for (uint64_t i = off >> 2; i <= (off + size - 1) >> 2; i++) {
      uint32_t note = at->blocks->sectors[i / 8];
      if (note & SIM_PARTED) note = at->blocks->words[i];
      if (foreign(x, note)) { note_blocks(w, in, READ, at->base + 4 * i, note); return; }
    }
  }
}
