/* grid.c - the blocks of a launch: on several cores where that is worth it and they allow it, else in order. */
#include "sim/cores/cores.h"
#include "sim/memory/device.h"
#include "sim/time/time.h"

#include <string.h>

/* Blocks that ran beside each other must run in order after all. */
static void start_over(sim_exec *x) {
  for (unsigned i = SIM_SLOT_FIRST; i < x->device->nslots; i++) {
    sim_region *r = x->device->slots[i];
    if (r != NULL) memset(r->bits, 0, 2 * r->words * sizeof *r->bits);
  }
  memset(&x->counts, 0, sizeof x->counts);
  memset(&x->chains, 0, sizeof x->chains);
  memset(x->device->sms, 0, 2 * (size_t)x->device->model->sms * sizeof *x->device->sms);
  x->longest = x->squares = x->block_sectors = 0;
  x->met = 1;
  x->first_stretch = x->device->last_stretch + 1;
  sim_sample_stamps(x);
}

/* Blocks in a drawn order, where what they do may hang on it: a GPU starts them one after the other, but of those that
   it holds at once any may be ahead. */
enum { AHEAD_MOST = 16 };

static uint64_t common(uint64_t a, uint64_t b) { return b == 0 ? a : common(b, a % b); }

static uint64_t turn_of(const sim_exec *x, uint64_t k, uint64_t n) {
  uint64_t most = sim_cluster_most(x) + UINT64_C(1), room = most < AHEAD_MOST ? most : AHEAD_MOST, from = k / room * room;
  if (x->turn == 0) return k;
  uint64_t here = n - from < room ? n - from : room, step = 1 + (x->turn + from) % here;
  while (common(step, here) != 1) step++;
  return from + (step * (k - from) + (x->turn >> 8)) % here;
}

int sim_grid_run(sim_exec *x) {
  uint64_t all = sim_sample_blocks(x->step) / x->npeers, most = x->device->sample / x->npeers, n = all;
  if (x->device->sample > 0 && most < all) n = most > 0 ? most : 1;
  unsigned threads = sim_workers_count(x, n);
  x->executed = n * x->npeers;
  sim_sample_room(x);
  sim_sample_stamps(x);
  if (threads > 1 && sim_workers_run(x, n, threads)) return SIM_NEXT;
  if (threads > 1) start_over(x);
  for (uint64_t k = 0; k < n; k++) {
    uint64_t before = x->counts.threads;
    sim_sample_begin(x, turn_of(x, k, n), n);
    if (sim_cluster_run(x) == SIM_FAULT) return SIM_FAULT;
    sim_sample_ran(x, k, (double)(x->counts.threads - before) / x->npeers);
  }
  return SIM_NEXT;
}
