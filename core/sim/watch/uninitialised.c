/* uninitialised.c - reads of memory that nothing has written. See uninitialised.h. */
#include "sim/watch/uninitialised.h"

#include "sim/watch/race.h"

int sim_uninitialised_note(sim_warp *w, const sim_insn *in, int space, unsigned lane, uint64_t place) {
  sim_exec *x = w->exec;
  if (!sim_race_first(w, in, SIM_RACE_UNINITIALISED, READ)) return 0;
  x->race.space = space;
  x->race.place = place;
  x->race.other = lane;
  return 1;
}

/* Mark bits; blocks beside this one may mark others of the same word. */
static void mark_range(const sim_exec *x, uint64_t *bits, uint64_t first, uint64_t last) {
  if (x->log == NULL) { touch_range(bits, first, last); return; }
  for (uint64_t word = first >> 6; word <= last >> 6; word++) {
    uint64_t m = UINT64_MAX;
    if (word == first >> 6) m &= UINT64_MAX << (first & 63);
    if (word == last >> 6) m &= UINT64_MAX >> (63 - (last & 63));
    if ((__atomic_load_n(&bits[word], __ATOMIC_RELAXED) & m) != m) __atomic_fetch_or(&bits[word], m, __ATOMIC_RELAXED);
  }
}

/* Whether all of these bits are set. */
static inline int bits_set(const uint64_t *bits, uint64_t first, uint64_t last) {
  uint64_t missing = 0;
  for (uint64_t word = first >> 6; word <= last >> 6; word++) {
    uint64_t m = UINT64_MAX;
    if (word == first >> 6) m &= UINT64_MAX << (first & 63);
    if (word == last >> 6) m &= UINT64_MAX >> (63 - (last & 63));
    missing |= m & ~__atomic_load_n(&bits[word], __ATOMIC_RELAXED);
  }
  return missing == 0;
}

void sim_uninitialised_check(sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr) {
  uint64_t from = addr[0] - at->base, size = (uint64_t)in->width * in->vec;
  if (at->pattern == DENSE && bits_set(at->written, from, from + SIM_LANES * size - 1)) return;
  for (unsigned l = 0; l < SIM_LANES; l++)
    for (unsigned k = 0; k < in->vec && (w->mask >> l & 1); k++) {
      uint64_t off = addr[l] - at->base + (uint64_t)k * in->width, any = 0;
      for (uint64_t i = off; i < off + in->width; i++)
        any |= __atomic_load_n(&at->written[i >> 6], __ATOMIC_RELAXED) >> (i & 63) & 1;
      if (!any) { sim_uninitialised_note(w, in, SIM_GLOBAL, l, at->base + off); return; }
    }
}

void sim_uninitialised_mark(const sim_warp *w, const sim_insn *in, const sim_where *at, const uint64_t *addr) {
  uint64_t from = addr[0] - at->base, size = (uint64_t)in->width * in->vec;
  if (at->pattern == DENSE) {
    mark_range(w->exec, at->written, from, from + SIM_LANES * size - 1);
    return;
  }
  for (unsigned l = 0; l < SIM_LANES; l++) {
    uint64_t off = addr[l] - at->base;
    if (w->mask >> l & 1) mark_range(w->exec, at->written, off, off + size - 1);
  }
}

void sim_uninitialised_range(sim_warp *w, const sim_insn *in, sim_region *r, unsigned lane, uint64_t addr,
                             uint32_t size, int how) {
  if (r->written == NULL) return;
  uint64_t first = addr - r->base, last = first + size - 1;
  if (how != WRITE && !bits_set(r->written, first, last)) sim_uninitialised_note(w, in, SIM_GLOBAL, lane, addr);
  if (how != READ) mark_range(w->exec, r->written, first, last);
}

int sim_uninitialised_local(sim_warp *w, const sim_insn *in, const uint64_t *addr, int how) {
  int unset = 0;
  for (unsigned l = 0; l < SIM_LANES; l++)
    for (unsigned k = 0; k < in->vec && (w->mask >> l & 1); k++) {
      uint64_t off = addr[l] + (uint64_t)k * in->width, any = 0;
      for (uint64_t i = off; i < off + in->width; i++) {
        any |= w->local_set[i];
        if (how == WRITE) w->local_set[i] = 1;
      }
      unset |= how == READ && !any;
    }
  return unset;
}
