/* mbarrier.c - barrier objects. See mbarrier.h. */
#include "sim/access/mbarrier.h"

#include "sim/access/async.h"
#include "sim/access/cluster.h"
#include "sim/access/shared.h"
#include "sim/exec/block.h"
#include "sim/exec/fault.h"
#include "sim/instructions/functions.h"

enum { PENDING_BITS = 20, TX_AT = 40, TX_BITS = 22, PARITY_AT = 62, VALID_AT = 63, COUNT_MOST = (1 << 20) - 1 };

static uint64_t pending_of(uint64_t b) { return b & COUNT_MOST; }
static uint64_t expected_of(uint64_t b) { return b >> PENDING_BITS & COUNT_MOST; }
static int64_t tx_of(uint64_t b) { return (int64_t)(b << (64 - TX_AT - TX_BITS)) >> (64 - TX_BITS); }
static unsigned parity_of(uint64_t b) { return b >> PARITY_AT & 1; }

static uint64_t barrier_of(uint64_t pending, uint64_t expected, int64_t tx, unsigned parity) {
  return pending | expected << PENDING_BITS | ((uint64_t)tx & ((UINT64_C(1) << TX_BITS) - 1)) << TX_AT |
         (uint64_t)parity << PARITY_AT | UINT64_C(1) << VALID_AT;
}

/* After a change: the phase is over when nothing is due any more. */
static uint64_t settled(uint64_t pending, uint64_t expected, int64_t tx, unsigned parity) {
  if (pending > 0 || tx != 0) return barrier_of(pending, expected, tx, parity);
  return barrier_of(expected, expected, 0, !parity);
}

unsigned char *sim_mbarrier_at(sim_warp *w, const sim_insn *in, unsigned l, uint32_t addr, sim_exec **owner,
                                 int how) {
  sim_exec *to = sim_cluster_member(w->exec, addr);
  uint32_t at = sim_cluster_within(addr);
  *owner = to;
  if (to == NULL || at >= to->shared_size || to->shared_size - at < 8)
    sim_fault_memory(w, in, SIM_FAULT_ADDRESS, l, addr, 8, SIM_SHARED, how);
  else if (at & 7) sim_fault_memory(w, in, SIM_FAULT_ALIGN, l, addr, 8, SIM_SHARED, how);
  else if (to->ended) sim_cluster_ended(w, in, l);
  else {
    for (uint32_t i = at >> to->grain; i < (at + 8) >> to->grain; i++) {
      if (to == w->exec) sim_shadow_unit(w, in, i, how);
      else sim_shadow_far(w, in, to, i, how);
    }
    return to->shared + at;
  }
  return NULL;
}

static int barrier_addresses(sim_warp *w, const sim_insn *in, uint32_t *addr) {
  w->exec->counts.shared_requests++;
  w->exec->counts.shared_wavefronts++;
  w->exec->counts.shared_least++;
  return shared_addresses(w, in, in->r[1], in->wide & 2, in->offset, 8, ATOMIC, addr);
}

int sim_mbarrier_read(sim_warp *w, const sim_insn *in, unsigned l, uint32_t addr, unsigned char **place,
                        uint64_t *value) {
  sim_exec *owner;
  *place = sim_mbarrier_at(w, in, l, addr, &owner, ATOMIC);
  if (*place == NULL) return SIM_FAULT;
  memcpy(value, *place, 8);
  if (*value >> VALID_AT & 1 && *value != UINT64_MAX) return SIM_NEXT;
  return sim_fault_text(w, in, "a barrier object is used that mbarrier.init has not made (or not yet: let "
                      "__syncthreads() follow it)");
}

/* mbarrier.init [a], count. */
int op_mbarrier_init(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  const u32 *count = SIM_PLACE(u32, w, in->r[2]);
  sim_exec *owner;
  int event = barrier_addresses(w, in, addr);
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(w->mask >> l & 1)) continue;
    unsigned char *place = sim_mbarrier_at(w, in, l, addr[l], &owner, WRITE);
    if (place == NULL) return SIM_FAULT;
    if (count[l] == 0 || count[l] >= COUNT_MOST)
      return sim_fault_text(w, in, "a barrier object needs 1 to 1048575 arrivals");
    uint64_t value = barrier_of(count[l], count[l], 0, 0);
    memcpy(place, &value, 8);
  }
  return event;
}

int op_mbarrier_inval(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  uint64_t value;
  unsigned char *place;
  int event = barrier_addresses(w, in, addr);
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(w->mask >> l & 1)) continue;
    event = sim_mbarrier_read(w, in, l, addr[l], &place, &value);
    value = 0;
    if (event == SIM_NEXT) memcpy(place, &value, 8);
  }
  return event;
}

/* mbarrier.arrive: r[0] the state, r[2] the count or the bytes. */
int op_mbarrier_arrive(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  uint64_t v;
  unsigned char *place;
  int mode = in->flags, event = barrier_addresses(w, in, addr);
  const u32 *arg = mode & (ARRIVE_EXPECTS | ARRIVE_COUNTS) ? SIM_PLACE(u32, w, in->r[2]) : NULL;
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(w->mask >> l & 1)) continue;
    event = sim_mbarrier_read(w, in, l, addr[l], &place, &v);
    if (event != SIM_NEXT) return event;
    if (mode & ARRIVE_STATE) put_lane(w, in->r[0], 8, l, v);
    uint32_t given = arg != NULL ? arg[l] : 1;
    uint64_t count = mode & ARRIVE_COUNTS ? given : 1, pending = pending_of(v), expected = expected_of(v);
    if (count > pending)
      return sim_fault_text(w, in, "more threads arrive at a barrier object in one phase than it was made for");
    int64_t tx = tx_of(v) + (mode & ARRIVE_EXPECTS ? (int64_t)given : 0);
    if (mode & ARRIVE_DROPS) expected -= count;
    v = mode & ARRIVE_OPEN ? barrier_of(pending - count, expected, tx, parity_of(v))
                           : settled(pending - count, expected, tx, parity_of(v));
    memcpy(place, &v, 8);
  }
  return event;
}

void sim_mbarrier_bytes(unsigned char *place, int64_t bytes) {
  uint64_t v;
  memcpy(&v, place, 8);
  v = settled(pending_of(v), expected_of(v), tx_of(v) + bytes, parity_of(v));
  memcpy(place, &v, 8);
}

/* mbarrier.expect_tx, complete_tx (mode 1). */
int op_mbarrier_tx(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  uint64_t v;
  unsigned char *place;
  const u32 *bytes = SIM_PLACE(u32, w, in->r[2]);
  int event = barrier_addresses(w, in, addr);
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(w->mask >> l & 1)) continue;
    event = sim_mbarrier_read(w, in, l, addr[l], &place, &v);
    if (event == SIM_NEXT) sim_mbarrier_bytes(place, in->mode ? -(int64_t)bytes[l] : (int64_t)bytes[l]);
  }
  return event;
}

/* cp.async.mbarrier.arrive: the thread's copies so far are done, then it arrives, where
   `mode` says that this is one of the arrivals expected. */
int op_cp_arrive(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  uint64_t v;
  unsigned char *place;
  int event = barrier_addresses(w, in, addr);
  sim_copy_deliver(w, in, UINT32_MAX);
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(w->mask >> l & 1)) continue;
    event = sim_mbarrier_read(w, in, l, addr[l], &place, &v);
    if (event != SIM_NEXT || !in->mode) continue;
    if (pending_of(v) == 0)
      return sim_fault_text(w, in, "more threads arrive at a barrier object in one phase than it was made for");
    v = settled(pending_of(v) - 1, expected_of(v), tx_of(v), parity_of(v));
    memcpy(place, &v, 8);
  }
  return event;
}

/* test_wait, try_wait: r[0] the predicate, r[2] the state or (mode 1) the parity. A wait in vain
   lets other warps run soon; one that is not starts a new epoch. */
int op_mbarrier_wait(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES], yes = 0;
  uint64_t v;
  unsigned char *place;
  int event = barrier_addresses(w, in, addr);
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(w->mask >> l & 1)) continue;
    event = sim_mbarrier_read(w, in, l, addr[l], &place, &v);
    if (event != SIM_NEXT) return event;
    if (w->exec->peers[0]->nbulks > 0) {
      sim_bulk_finish(w, in, sim_cluster_member(w->exec, addr[l]), sim_cluster_within(addr[l]));
      memcpy(&v, place, 8);
    }
    uint64_t arg = lane_of(w, in->r[2], in->mode ? 4 : 8, l);
    unsigned phase = in->mode ? (unsigned)arg & 1 : parity_of(arg);
    if (parity_of(v) != phase) yes |= 1u << l;
  }
  if (event != SIM_NEXT) return event;
  set_mask(w, in->r[0], yes);
  if (yes != w->mask) w->fails++;
  w->vain |= yes != w->mask;
  if (yes != 0) for (unsigned k = 0; k < w->exec->npeers; k++) sim_epoch_next(w->exec->peers[k]);
  return SIM_NEXT;
}

int op_mbarrier_pending(sim_warp *w, const sim_insn *in) {
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  const u64 *a = SIM_PLACE(u64, w, in->r[1]);
  SIM_EACH(w, d[l] = (u32)pending_of(a[l]));
  return SIM_NEXT;
}
