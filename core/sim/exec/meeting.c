/* meeting.c - see meeting.h. */
#include "sim/exec/meeting.h"

#include "sim/instructions/ops.h"

#include <stdlib.h>
#include <string.h>

void sim_meeting_whole(sim_warp *w) {
  sim_exec *x = w->exec;
  if (x->lane_writes == NULL) return;
  w->met_at = ++x->meeting;
  for (unsigned l = 0; l < SIM_LANES; l++) w->lane_met[l] = w->met_at;
}

uint64_t sim_meeting_known(const sim_warp *w, unsigned a, unsigned b) {
  return w->lane_seen != NULL && w->lane_seen[a][b] > w->met_at ? w->lane_seen[a][b] : w->met_at;
}

/* A meeting of some lanes: each is now ordered with all that any of them was ordered with, and with all that they did before. */
static void meet(sim_warp *w, uint32_t lanes) {
  uint64_t all[SIM_LANES] = { 0 }, now = ++w->exec->meeting;
  for (unsigned l = 0; l < SIM_LANES; l++)
    for (unsigned k = 0; (lanes >> l & 1) && k < SIM_LANES; k++)
      if (w->lane_seen[l][k] > all[k]) all[k] = w->lane_seen[l][k];
  for (unsigned l = 0; l < SIM_LANES; l++) if (lanes >> l & 1) all[l] = now;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(lanes >> l & 1)) continue;
    memcpy(w->lane_seen[l], all, sizeof all);
    w->lane_met[l] = now;
  }
}

void sim_meeting_named(sim_warp *w, const uint32_t *named) {
  uint32_t left = w->mask;
  if (w->exec->lane_writes == NULL) return;
  if (w->lane_seen == NULL) w->lane_seen = calloc(SIM_LANES, sizeof *w->lane_seen);
  if (w->lane_seen == NULL) { sim_meeting_whole(w); return; }
  while (left != 0) {
    unsigned first = (unsigned)__builtin_ctz(left);
    uint32_t tile = named[first] & w->mask;
    if (!(tile >> first & 1)) tile |= 1u << first;
    if (tile == w->live) sim_meeting_whole(w);
    else meet(w, tile);
    left &= ~tile;
  }
}

/* Counts a finding; true if it is the first, which is kept. */
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

void sim_meeting_misnamed(sim_warp *w, unsigned lane, uint32_t named) {
  if (!first(w, SIM_RACE_MASK, w->pc)) return;
  w->exec->race.lane = lane;
  w->exec->race.place = named;
}

void sim_meeting_diverged(sim_warp *w, uint32_t pc, uint32_t lanes) {
  if (!first(w, SIM_RACE_DIVERGED, pc)) return;
  w->exec->race.place = lanes;
  w->exec->race.lane = (unsigned)__builtin_ctz(lanes);
}
