/* wide.c - atomics of 128 bits, lane after lane; see sim/read/decode_wide.c. */
#include "sim/access/global.h"
#include "sim/access/shared.h"
#include "sim/instructions/functions.h"
#include "sim/watch/order.h"
#include "sim/watch/race.h"
#include "sim/watch/uninitialised.h"

enum { BYTES = 16 };

static sim_ref upper(sim_ref r) { return (sim_ref){ r.base, r.off + 8 * SIM_LANES }; }

/* Where the only lane of w->mask points, checked; NULL: it faults, *event says how. */
static unsigned char *place(sim_warp *w, const sim_insn *in, unsigned l, int *event) {
  uint64_t addr[SIM_LANES];
  uint32_t near[SIM_LANES];
  sim_where at;
  int pattern;
  addresses(w, in, in->r[1], in->wide & 2, in->offset, addr);
  if (in->space == SIM_SHARED || in->space == SIM_NEAR || addr[l] >> SIM_SLOT_BITS == SIM_SHARED) {
    *event = shared_addresses(w, in, in->r[1], in->wide & 2, in->offset, BYTES, ATOMIC, near);
    if (*event == SIM_NEXT) *event = shared_access(w, in, near, BYTES, ATOMIC, &pattern);
    return *event == SIM_NEXT ? w->exec->shared + near[l] : NULL;
  }
  *event = global_access(w, in, addr, BYTES, ATOMIC, 1, &at);
  if (*event != SIM_NEXT) return NULL;
  w->polls++;
  if (at.blocks != NULL) {
    sim_order_access(w, in, addr, ATOMIC);
    sim_race_atomic(w, in, &at, addr);
  }
  if (at.written != NULL && in->mode != A_EXCH) sim_uninitialised_check(w, in, &at, addr);
  if (at.written != NULL) sim_uninitialised_mark(w, in, &at, addr);
  return at.host + (addr[l] - at.base);
}

/* d = [a]; then [a] is b, or of a compare-and-swap c where it was b. */
static void exchange(sim_warp *w, const sim_insn *in, unsigned l, unsigned char *host) {
  uint64_t old[2], b[2], c[2];
  memcpy(old, host, sizeof old);
  for (int i = 0; i < 2; i++) {
    b[i] = lane_of(w, i ? upper(in->r[2]) : in->r[2], 8, l);
    c[i] = lane_of(w, i ? upper(in->r[3]) : in->r[3], 8, l);
    put_lane(w, i ? upper(in->r[0]) : in->r[0], 8, l, old[i]);
  }
  if (in->mode == A_EXCH) memcpy(host, b, sizeof b);
  else if (old[0] == b[0] && old[1] == b[1]) memcpy(host, c, sizeof c);
  else w->fails++;
}

int op_atom_wide(sim_warp *w, const sim_insn *in) {
  uint32_t mask = w->mask;
  int event = SIM_NEXT;
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(mask >> l & 1)) continue;
    w->mask = 1u << l;
    unsigned char *host = place(w, in, l, &event);
    if (host != NULL) exchange(w, in, l, host);
  }
  w->mask = mask;
  return event;
}
