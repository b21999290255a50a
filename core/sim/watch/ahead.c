/* ahead.c - see ahead.h. */
#include "sim/watch/ahead.h"

#include <string.h>

#include "sim/instructions/variants.h"
#include "sim/watch/race.h"

void sim_ahead_begin(sim_device *d, const cawb_step *s) {
  if (!s->dependent)
    for (unsigned i = SIM_SLOT_FIRST; i < d->nslots && d->any_ahead; i++) {
      sim_region *r = d->slots[i];
      if (r != NULL) memset(r->bits + SIM_READS_AHEAD * r->words, 0, 2 * r->words * sizeof *r->bits);
    }
  d->any_ahead = d->follows_ahead;
}

void sim_ahead_waited(sim_warp *w) {
  w->ahead = 0;
  w->exec->waited = 1;
}

static int touched(const sim_region *r, int map, uint64_t sector) {
  return (int)(r->bits[(size_t)map * r->words + (sector >> 6)] >> (sector & 63) & 1);
}

void sim_ahead_access(sim_warp *w, const sim_region *r, uint64_t first, uint64_t last, int how) {
  sim_exec *x = w->exec;
  for (uint64_t k = first; k <= last; k++) {
    int wrote = touched(r, SIM_WRITES_AHEAD, k);
    if (!wrote && (how == READ || !touched(r, SIM_READS_AHEAD, k))) continue;
    if (!sim_race_first(w, x->function->code + w->pc, SIM_RACE_AHEAD, how)) return;
    x->race.space = SIM_GLOBAL;
    x->race.place = r->base + 32 * k;
    x->race.other_how = wrote ? WRITE : READ;
    return;
  }
}
