/*
** bulk.c - bulk copies: begun by one thread, carried out when someone looks at the barrier object
** that they tell. Those to global memory are carried out at once.
*/
#include "sim/access/async.h"
#include "sim/access/cluster.h"
#include "sim/access/global.h"
#include "sim/access/mbarrier.h"
#include "sim/access/shared.h"
#include "sim/exec/fault.h"
#include "sim/instructions/functions.h"
#include "sim/exec/isa.h"
#include "sim/watch/race.h"
#include "sim/watch/uninitialised.h"

static void finish_bulk(sim_warp *w, const sim_insn *in, const sim_bulk *b) {
  sim_exec *to = b->to;
  memcpy(to->shared + b->at, b->from, b->size);
  sim_copy_flight(to, b->at, b->size, 0);
  for (uint32_t i = b->at >> to->grain; i < (b->at + b->size) >> to->grain; i++) {
    to->writers[i] = to->epoch << 8 | SHADOW_MANY;
    to->lines[i] = b->line;
  }
  sim_mbarrier_bytes(b->teller->shared + b->barrier, -(int64_t)b->size);
  (void)w, (void)in;
}

void sim_bulk_finish(sim_warp *w, const sim_insn *in, const sim_exec *teller, uint32_t barrier) {
  sim_exec *first = w->exec->peers[0];
  uint32_t kept = 0;
  for (uint32_t i = 0; i < first->nbulks; i++) {
    sim_bulk b = first->bulks[i];
    if (b.teller == teller && b.barrier == barrier) finish_bulk(w, in, &b);
    else first->bulks[kept++] = b;
  }
  first->nbulks = kept;
}

static int add_bulk(sim_warp *w, sim_bulk b) {
  sim_exec *first = w->exec->peers[0];
  if (first->nbulks == first->bulks_room) {
    uint32_t room = first->bulks_room == 0 ? 16 : 2 * first->bulks_room;
    sim_bulk *grown = realloc(first->bulks, room * sizeof *grown);
    if (grown == NULL) return 0;
    first->bulks = grown;
    first->bulks_room = room;
  }
  first->bulks[first->nbulks++] = b;
  sim_copy_flight(b.to, b.at, b.size, 1);
  return 1;
}

/* Global memory at `addr`, counted. NULL: the fault has been noted. */
static unsigned char *bulk_global(sim_warp *w, const sim_insn *in, unsigned l, uint64_t addr, uint32_t size,
                                  int how) {
  sim_exec *x = w->exec;
  sim_region *r = sim_region_at(x->device, addr);
  if (r == NULL || addr - r->base >= r->size || r->size - (addr - r->base) < size) {
    sim_fault_memory(w, in, SIM_FAULT_ADDRESS, l, addr, size, SIM_GLOBAL, how);
    return NULL;
  }
  sim_uninitialised_range(w, in, r, l, addr, size, how);
  if (addr & 15) {
    sim_fault_memory(w, in, SIM_FAULT_ALIGN, l, addr, 16, SIM_GLOBAL, how);
    return NULL;
  }
  if (how != READ && !sim_global_may_store(w, r, addr - r->base, addr - r->base + size)) return NULL;
  sim_global_range(w, r, addr - r->base, addr - r->base + size, how);
  return r->host + (addr - r->base);
}

/* A copy to what a warpgroup product may still read. */
static void check_reading(sim_warp *w, const sim_insn *in, const sim_exec *to, uint32_t at, uint32_t size) {
  for (uint32_t unit = at >> to->grain; unit < (at + size) >> to->grain; unit++) {
    if (to->reading[unit] == 0) continue;
    if (sim_race_first(w, in, SIM_RACE_PRODUCT, WRITE)) w->exec->race.place = (uint64_t)unit << to->grain;
    return;
  }
}

/* Shared memory of a bulk copy, 16 bytes at a time. NULL: the fault has been noted. */
static unsigned char *bulk_shared(sim_warp *w, const sim_insn *in, unsigned l, uint32_t addr, uint32_t size,
                                  int how, sim_exec **owner) {
  sim_exec *to = *owner = sim_cluster_member(w->exec, addr);
  uint32_t at = sim_cluster_within(addr);
  if (to == NULL || at >= to->shared_size || to->shared_size - at < size)
    sim_fault_memory(w, in, SIM_FAULT_ADDRESS, l, addr, size, SIM_SHARED, how);
  else if (at & 15) sim_fault_memory(w, in, SIM_FAULT_ALIGN, l, addr, 16, SIM_SHARED, how);
  else if (to->ended) sim_cluster_ended(w, in, l);
  else {
    w->exec->counts.shared_requests++;
    w->exec->counts.shared_wavefronts += (size + 127) / 128;
    w->exec->counts.shared_least += (size + 127) / 128;
    if (to == w->exec && how == READ) shadow_range(w, in, at >> to->grain, size >> to->grain, READ);
    if (how == WRITE && to->flying > 0) check_reading(w, in, to, at, size);
    return to->shared + at;
  }
  return NULL;
}

static int bulk_size(sim_warp *w, const sim_insn *in, uint32_t size) {
  if (size != 0 && size % 16 == 0) return SIM_NEXT;
  return sim_fault_text(w, in, "a bulk copy's size must be a multiple of 16 bytes");
}

/* Into the shared memory of one block, or of those that `mask` names (multicast). */
static int start_bulk(sim_warp *w, const sim_insn *in, unsigned l, const unsigned char *from, uint32_t to,
                      uint32_t barrier, uint32_t size, uint32_t mask) {
  sim_exec *x = w->exec, *owner, *teller;
  if (bulk_shared(w, in, l, to, size, WRITE, &owner) == NULL) return SIM_FAULT;
  for (unsigned k = 0; k < x->npeers; k++) {
    if (mask == 0 ? x->peers[k] != owner : !(mask >> k & 1)) continue;
    uint32_t bar = mask == 0 ? barrier : (k + 1) << SIM_RANK_SHIFT | sim_cluster_within(barrier);
    if (sim_mbarrier_at(w, in, l, bar, &teller, ATOMIC) == NULL) return SIM_FAULT;
    sim_bulk b = { from, x->peers[k], teller, sim_cluster_within(to), size, sim_cluster_within(barrier), in->line };
    if (!add_bulk(w, b)) return sim_fault_no_room(w, in);
  }
  return SIM_NEXT;
}

/* The operands of bulk copies: r[0] address to, r[1] address from, r[2] bytes, r[3] barrier
   object, r[4] blocks. */
static uint64_t bulk_operand(const sim_warp *w, sim_ref r, int wide, unsigned l) {
  uint64_t v = lane_of(w, r, wide ? 8 : 4, l);
  return v >> SIM_SLOT_BITS == SIM_SHARED ? v - SIM_WINDOW(SIM_SHARED) : v;
}

int op_bulk_load(sim_warp *w, const sim_insn *in) {
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    uint32_t size = (uint32_t)lane_of(w, in->r[2], 4, l), mask = 0;
    if (bulk_size(w, in, size) != SIM_NEXT) return SIM_FAULT;
    const unsigned char *from = bulk_global(w, in, l, lane_of(w, in->r[1], in->wide & 2 ? 8 : 4, l), size, READ);
    if (from == NULL) return SIM_FAULT;
    if (in->mode) mask = (uint32_t)lane_of(w, in->r[4], 4, l) & 0xffff;
    int event = start_bulk(w, in, l, from, (uint32_t)bulk_operand(w, in->r[0], in->wide & 1, l),
                           (uint32_t)bulk_operand(w, in->r[3], in->wide & 8, l), size, mask);
    if (event != SIM_NEXT) return event;
  }
  return SIM_NEXT;
}

/* From the block's shared memory to another block's. */
int op_bulk_send(sim_warp *w, const sim_insn *in) {
  sim_exec *owner;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    uint32_t size = (uint32_t)lane_of(w, in->r[2], 4, l);
    if (bulk_size(w, in, size) != SIM_NEXT) return SIM_FAULT;
    const unsigned char *from = bulk_shared(w, in, l, (uint32_t)bulk_operand(w, in->r[1], in->wide & 2, l), size,
                                            READ, &owner);
    if (from == NULL) return SIM_FAULT;
    int event = start_bulk(w, in, l, from, (uint32_t)bulk_operand(w, in->r[0], in->wide & 1, l),
                           (uint32_t)bulk_operand(w, in->r[3], in->wide & 8, l), size, 0);
    if (event != SIM_NEXT) return event;
  }
  return SIM_NEXT;
}

/* To global memory; `width` bytes an element where they are combined (bulk_reduce). */
static int bulk_out(sim_warp *w, const sim_insn *in, unsigned l, int combine) {
  sim_exec *owner;
  uint32_t size = (uint32_t)lane_of(w, in->r[2], 4, l);
  if (bulk_size(w, in, size) != SIM_NEXT) return SIM_FAULT;
  unsigned char *to = bulk_global(w, in, l, lane_of(w, in->r[0], in->wide & 1 ? 8 : 4, l), size,
                                  combine ? ATOMIC : WRITE);
  if (to == NULL) return SIM_FAULT;
  const unsigned char *from = bulk_shared(w, in, l, (uint32_t)bulk_operand(w, in->r[1], in->wide & 2, l), size,
                                          READ, &owner);
  if (from == NULL) return SIM_FAULT;
  if (!combine) memcpy(to, from, size);
  for (uint32_t i = 0; combine && i < size; i += in->width) {
    uint64_t old = 0, v = 0;
    memcpy(&old, to + i, in->width);
    memcpy(&v, from + i, in->width);
    v = w->exec->device->isa->combine(in, old, v);
    memcpy(to + i, &v, in->width);
  }
  return SIM_NEXT;
}

int op_bulk_store(sim_warp *w, const sim_insn *in) {
  int event = SIM_NEXT;
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++)
    if (w->mask >> l & 1) event = bulk_out(w, in, l, 0);
  return event;
}

int op_bulk_reduce(sim_warp *w, const sim_insn *in) {
  int event = SIM_NEXT;
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++)
    if (w->mask >> l & 1) event = bulk_out(w, in, l, 1);
  return event;
}

/* st.async [a], b, [barrier]: extras hold the barrier's address. */
int op_st_async(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  unsigned size = (unsigned)in->width * in->vec;
  const sim_ref bar = w->exec->function->extras[in->extra];
  uint64_t v;
  unsigned char *place;
  int event = shared_addresses(w, in, in->r[1], in->wide & 2, in->offset, size, WRITE, addr);
  if (event == SIM_NEXT) event = sim_cluster_move(w, in, addr, size, WRITE);
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(w->mask >> l & 1)) continue;
    event = sim_mbarrier_read(w, in, l, (uint32_t)bulk_operand(w, bar, in->wide & 32, l), &place, &v);
    if (event == SIM_NEXT) sim_mbarrier_bytes(place, -(int64_t)size);
  }
  return event;
}
