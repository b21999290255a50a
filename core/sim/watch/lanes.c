/* lanes.c - see lanes.h. */
#include "sim/watch/lanes.h"

#include "sim/exec/warp_sync.h"
#include "sim/watch/race.h"

/* A note: the epoch, the warp, the lane; SEVERAL where several lanes accessed the unit. */
static uint64_t note_of(uint64_t epoch, const sim_warp *w, unsigned lane) { return epoch << 16 | w->index << 8 | lane; }
enum { SEVERAL = 0x20 };

/* Whether a note is of another lane of this warp, whose access does not happen before this lane's. */
static int unordered(const sim_warp *w, uint64_t note, unsigned lane) {
  unsigned other = note & 31;
  if ((note >> 8 & 255) != w->index || note >> 16 < w->warp_epoch || (other == lane && !(note & SEVERAL))) return 0;
  return note >> 16 >= sim_warp_sync_order(w, lane, other);
}

static void say(sim_warp *w, const sim_insn *in, uint32_t unit, unsigned lane, uint64_t note, int how, int other_how) {
  sim_exec *x = w->exec;
  if (!sim_race_first(w, in, SIM_RACE_IN_WARP, how)) return;
  x->race.place = (uint64_t)unit << x->grain;
  x->race.lane = lane;
  x->race.other_how = other_how;
  x->race.other_warp = note & SEVERAL ? -1 : (int)(note & 31);
  x->race.other = other_how == WRITE ? x->lines[unit] : 0;
}

/* Whether a lane's store leaves this unit as it is. */
static int unchanged(const sim_warp *w, const sim_insn *in, uint32_t addr, unsigned lane, uint32_t unit) {
  const sim_exec *x = w->exec;
  uint32_t at = unit << x->grain, size = 1u << x->grain;
  for (uint32_t b = at; b < at + size; b++) {
    uint32_t i = b - addr;
    if (b < addr || i >= (uint32_t)in->width * in->vec) continue;
    uint64_t v = lane_of(w, element(in, i / in->width), in->lane, lane);
    if (x->shared[b] != (unsigned char)(v >> 8 * (i % in->width))) return 0;
  }
  return 1;
}

static void look(sim_warp *w, const sim_insn *in, uint32_t addr, uint32_t unit, unsigned l, int how) {
  sim_exec *x = w->exec;
  uint64_t wrote = x->lane_writes[unit], read = x->lane_reads[unit];
  if (how == READ) {
    if (!(wrote & SEVERAL) && unordered(w, wrote, l)) say(w, in, unit, l, wrote, READ, WRITE);
  } else if (unordered(w, read, l) && !unchanged(w, in, addr, l, unit)) say(w, in, unit, l, read, WRITE, READ);
}

static void keep(sim_warp *w, uint64_t *note, unsigned l) {
  uint64_t now = note_of(w->lane_epoch[l], w, l), before = *note;
  int others = before >> 8 == now >> 8 && (before & 255) != l;
  *note = others ? now | SEVERAL : now;
}

void sim_lanes_access(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size, int how) {
  sim_exec *x = w->exec;
  if (x->lane_writes == NULL || in->strong) return;
  for (int pass = in->looks ? 0 : 1; pass < (in->keeps ? 2 : 1); pass++)
    for (unsigned l = 0; l < SIM_LANES; l++) {
      if (!(w->mask >> l & 1)) continue;
      for (uint32_t u = addr[l] >> x->grain; u <= (addr[l] + size - 1) >> x->grain; u++)
        if (pass == 0) look(w, in, addr[l], u, l, how);
        else keep(w, how == READ ? &x->lane_reads[u] : &x->lane_writes[u], l);
    }
}
