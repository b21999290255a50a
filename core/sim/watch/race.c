/* race.c - races that a store shows by itself. See race.h. */
#include "sim/watch/race.h"

#include "sim/memory/device.h"
#include "sim/instructions/variants.h"
#include "sim/memory/log.h"
#include "sim/watch/order.h"

#include <stdlib.h>

int sim_race_first(sim_warp *w, const sim_insn *in, int kind, int how) {
  sim_exec *x = w->exec;
  if (!x->checks) return 0;
  int better = (x->race.kind == SIM_RACE_UNINITIALISED && kind != SIM_RACE_UNINITIALISED) ||
               (x->race.kind == SIM_RACE_IN_WARP && kind == SIM_RACE_WARPS);
  if (x->counts.races++ != 0 && !better) return 0;
  x->race.kind = kind;
  x->race.user = NULL;
  x->race.space = SIM_GENERIC;                  /* shared memory, unless told otherwise */
  x->race.at = in;
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

/* ------------------------------------------------------------ global memory */

enum { ATOMICALLY = 0x20, SEVERAL = 0x40, WARP = 0x1f };

static uint32_t key_of(const sim_exec *x, const sim_warp *w) { return x->stretch << 8 | w->index; }

/* Whose stretch that is, of this launch. */
static uint32_t owner_of(const sim_exec *x, uint32_t note) { return x->device->owners[(note >> 8) - x->first_stretch]; }

int sim_stretches_room(sim_device *d, uint32_t n) {
  uint32_t room = d->owners_room == 0 ? 1024 : d->owners_room;
  while (room <= n) room *= 2;
  if (room == d->owners_room) return 1;
  uint32_t *grown = realloc(d->owners, room * sizeof *grown);
  if (grown == NULL) return 0;
  d->owners = grown;
  d->owners_room = room;
  return 1;
}

void sim_stretch_next(sim_exec *x, int begins) {
  sim_device *d = x->device;
  if (x->follows == SIM_FOLLOWS_NOT) return;
  if (begins) {
    sim_order_begin(x);
    return;
  }
  sim_order_meet(x);
  uint32_t next = __atomic_add_fetch(&d->last_stretch, 1, __ATOMIC_RELAXED), i = next - x->first_stretch;
  int known = next < SIM_STRETCH_MOST && (x->follows == SIM_FOLLOWS_ALONE || sim_stretches_room(d, i));
  x->stretch = next;
  if (!known) x->follows = SIM_FOLLOWS_NOT;
  else if (x->follows == SIM_FOLLOWS) d->owners[i] = x->serial;
}

/* Blocks beside each other leave these things to blocks in order. */
static int gives_way(const sim_exec *x) {
  if (x->follows != SIM_FOLLOWS_ALONE) return 0;
  if (x->log != NULL) x->log->failed = 1;
  return 1;
}

static void note_warps(sim_warp *w, const sim_insn *in, int how, uint64_t place, uint32_t note, int other_how) {
  sim_exec *x = w->exec;
  if (!sim_race_first(w, in, SIM_RACE_WARPS, how)) return;
  x->race.space = SIM_GLOBAL;
  x->race.place = place;
  x->race.other_how = other_how;
  x->race.other_warp = note & SEVERAL ? -1 : (int)(note & WARP);
  x->race.other = 0;
}

static void note_blocks(sim_warp *w, const sim_insn *in, int how, uint64_t place, uint32_t note, int other_how) {
  sim_exec *x = w->exec;
  if (!sim_race_first(w, in, SIM_RACE_BLOCKS, how)) return;
  x->race.space = SIM_GLOBAL;
  x->race.place = place;
  x->race.other_how = other_how;
  x->race.other = owner_of(x, note);
}

/* Whether an access now may come before or after the one that is noted; if so, that is said. */
static int meets(sim_warp *w, const sim_insn *in, int how, uint64_t place, uint32_t note, int other_how) {
  sim_exec *x = w->exec;
  if (note >> 8 < x->first_stretch) return 0;
  if (note >> 8 == x->stretch) {
    if (!(note & SEVERAL) && (note & WARP) == w->index) return 0;
    note_warps(w, in, how, place, note, other_how);
    return 1;
  }
  if (x->follows == SIM_FOLLOWS_ALONE || owner_of(x, note) == x->serial || (note & SEVERAL) ||
      sim_order_knows(w, owner_of(x, note), note >> 8, note & WARP)) return 0;
  note_blocks(w, in, how, place, note, other_how);
  return 1;
}

static int wrote(uint32_t note) { return note & ATOMICALLY ? ATOMIC : WRITE; }

/* Notes of neighbouring words; others may look at theirs, see sim/cores. */
static inline void put_note(uint32_t *note, uint32_t v) { __atomic_store_n(note, v, __ATOMIC_RELAXED); }
static inline uint32_t get_note(const uint32_t *note) { return __atomic_load_n(note, __ATOMIC_RELAXED); }

/* Whether words that are about to be stored were touched by nobody else in this launch; then they are noted. */
static int store_alone(const sim_exec *x, sim_notes *n, uint64_t first, uint32_t words, uint32_t key) {
  uint32_t *wr = n->writers + first, *rd = n->readers + first, odd = 0, oldest = x->first_stretch << 8;
  for (uint32_t i = 0; i < words; i++)
    odd |= ((wr[i] >= oldest) & (wr[i] != key)) | ((rd[i] >= oldest) & (rd[i] != key));
  if (odd) return 0;
  for (uint32_t i = 0; i < words; i++) wr[i] = key;
  return 1;
}

/* A word of a lane's element: a store that leaves it as it was does no harm. */
static void store_word(sim_warp *w, const sim_insn *in, const sim_where *at, uint64_t off, uint32_t now, uint32_t key) {
  uint32_t *wr = at->blocks->writers + off / 4, old, note = get_note(wr);
  memcpy(&old, at->host + off, 4);
  if (old != now && !meets(w, in, WRITE, at->base + off, note, wrote(note)))
    meets(w, in, WRITE, at->base + off, get_note(at->blocks->readers + off / 4), READ);
  put_note(wr, key);
}

static void mark_launch(uint32_t *mark, uint32_t launch) { if (get_note(mark) != launch) put_note(mark, launch); }

/* The same of a block beside others, which may be looking at their own words. */
static int store_beside(const sim_exec *x, sim_notes *n, uint64_t first, uint32_t words, uint32_t key) {
  uint32_t *wr = n->writers + first, odd = 0;
  for (uint32_t i = 0; i < words; i++) odd |= (get_note(&wr[i]) ^ key) - 1u < 255u;
  for (uint32_t i = 0; i < words && !odd; i++) put_note(&wr[i], key);
  (void)x;
  return !odd;
}

/* Before a store: whose words are these? */
void sim_race_store(sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr) {
  const sim_exec *x = w->exec;
  uint64_t start = addr[0] - at->base;
  uint32_t key = key_of(x, w);
  sim_notes *n = at->blocks;
  mark_launch(&n->stored, x->first_stretch);
  if (get_note(&n->read) == x->first_stretch) mark_launch(&n->mixed, 1);
  if (in->width < 4 || (get_note(&n->mixed) && gives_way(x))) return;
  uint32_t words = SIM_LANES * in->vec * in->width / 4u;
  if (at->pattern == DENSE && (x->follows == SIM_FOLLOWS ? store_alone(x, n, start / 4, words, key)
                                                         : store_beside(x, n, start / 4, words, key))) return;
  for (unsigned l = 0; l < SIM_LANES; l++)
    for (unsigned k = 0; k < in->vec && (w->mask >> l & 1); k++) {
      uint64_t v = lane_of(w, element(in, k), in->lane, l), off = addr[l] - at->base + (uint64_t)k * in->width;
      for (unsigned i = 0; i < in->width / 4u; i++, v >>= 32, off += 4) store_word(w, in, at, off, (uint32_t)v, key);
    }
}

/* An atomic access to what another stored plainly; it races with plain ones later. */
void sim_race_atomic(sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr) {
  const sim_exec *x = w->exec;
  uint32_t key = key_of(x, w) | ATOMICALLY;
  if (x->follows == SIM_FOLLOWS_ALONE) return;
  mark_launch(&at->blocks->stored, x->first_stretch);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    uint64_t off = addr[l] - at->base;
    uint32_t *wr = at->blocks->writers + off / 4, note = *wr;
    int plain = !(note & ATOMICALLY) && note >> 8 >= x->first_stretch;
    if (plain) meets(w, in, ATOMIC, addr[l], note, WRITE);
    if (in->mode == A_CAS || plain) continue;              /* others are to see that, too */
    *wr = (note & ATOMICALLY) && note >> 8 == x->stretch && note != key ? key | SEVERAL : key;
  }
}

static void load_word(sim_warp *w, const sim_insn *in, sim_notes *n, uint64_t i, uint64_t place, uint32_t key, int *met) {
  uint32_t note = n->writers[i], before = n->readers[i];
  if (!*met && !(in->strong && (note & ATOMICALLY))) *met = meets(w, in, READ, place, note, wrote(note));
  if (in->strong) return;
  n->readers[i] = before >> 8 == key >> 8 && before != key ? (key & ~255u) | SEVERAL : key;
}

/* A load of what another stored. */
void sim_race_load(sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr) {
  const sim_exec *x = w->exec;
  uint64_t size = (uint64_t)in->width * in->vec;
  uint32_t key = key_of(x, w);
  sim_notes *n = at->blocks;
  int met = 0;
  mark_launch(&n->read, x->first_stretch);
  if (get_note(&n->stored) != x->first_stretch && !get_note(&n->mixed)) return;
  mark_launch(&n->mixed, 1);
  if (gives_way(x)) return;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    uint64_t off = addr[l] - at->base;
    for (uint64_t i = off >> 2; i <= (off + size - 1) >> 2; i++) load_word(w, in, n, i, at->base + 4 * i, key, &met);
  }
}
