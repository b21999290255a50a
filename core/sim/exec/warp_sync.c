/* warp_sync.c - see warp_sync.h. */
#include "sim/exec/warp_sync.h"

#include "sim/instructions/ops.h"

#include <stdlib.h>
#include <string.h>

void sim_warp_sync_all(sim_warp *w) {
  sim_exec *x = w->exec;
  if (x->lane_writes == NULL) return;
  w->warp_epoch = ++x->lane_epochs;
  for (unsigned l = 0; l < SIM_LANES; l++) w->lane_epoch[l] = w->warp_epoch;
}

uint64_t sim_warp_sync_order(const sim_warp *w, unsigned a, unsigned b) {
  return w->lane_clock != NULL && w->lane_clock[a][b] > w->warp_epoch ? w->lane_clock[a][b] : w->warp_epoch;
}

/* Join the clocks of these lanes; what each of them did before now happens before what all of them do from now on. */
static void join(sim_warp *w, uint32_t lanes) {
  uint64_t joined[SIM_LANES] = { 0 }, now = ++w->exec->lane_epochs;
  for (unsigned l = 0; l < SIM_LANES; l++)
    for (unsigned k = 0; (lanes >> l & 1) && k < SIM_LANES; k++)
      if (w->lane_clock[l][k] > joined[k]) joined[k] = w->lane_clock[l][k];
  for (unsigned l = 0; l < SIM_LANES; l++) if (lanes >> l & 1) joined[l] = now;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(lanes >> l & 1)) continue;
    memcpy(w->lane_clock[l], joined, sizeof joined);
    w->lane_epoch[l] = now;
  }
}

void sim_warp_sync_masks(sim_warp *w, const uint32_t *named) {
  uint32_t left = w->mask;
  if (w->exec->lane_writes == NULL) return;
  if (w->lane_clock == NULL) w->lane_clock = calloc(SIM_LANES, sizeof *w->lane_clock);
  if (w->lane_clock == NULL) { sim_warp_sync_all(w); return; }
  while (left != 0) {
    unsigned first = (unsigned)__builtin_ctz(left);
    uint32_t tile = named[first] & w->mask;
    if (!(tile >> first & 1)) tile |= 1u << first;
    if (tile == w->live) sim_warp_sync_all(w);
    else join(w, tile);
    left &= ~tile;
  }
}

/* Whether this is the launch's first finding, which is described then. */
static int first(sim_warp *w, int kind, uint32_t pc) {
  sim_exec *x = w->exec;
  if (!x->checks || x->counts.races++ != 0) return 0;
  x->race.kind = kind;
  x->race.line = x->function->code[pc].line;
  x->race.warp = w->index;
  x->race.space = x->function->code[pc].op;
  memcpy(x->race.block, x->block, sizeof x->race.block);
  return 1;
}

void sim_warp_sync_misnamed(sim_warp *w, unsigned lane, uint32_t named) {
  if (!first(w, SIM_RACE_MASK, w->pc)) return;
  w->exec->race.lane = lane;
  w->exec->race.place = named;
}

void sim_warp_sync_diverged(sim_warp *w, uint32_t pc, uint32_t lanes) {
  if (!first(w, SIM_RACE_DIVERGED, pc)) return;
  w->exec->race.place = lanes;
  w->exec->race.lane = (unsigned)__builtin_ctz(lanes);
}
