/* cluster.c - shared memory of the other blocks of a cluster, and generic addresses. See cluster.h. */
#include "sim/access/cluster.h"

#include <stdio.h>

#include "sim/access/moves.h"
#include "sim/access/shared.h"
#include "sim/exec/fault.h"
#include "sim/instructions/functions.h"
#include "sim/exec/isa.h"
#include "sim/memory/device.h"
#include "sim/watch/uninitialised.h"

sim_exec *sim_cluster_member(const sim_exec *x, uint32_t addr) {
  uint32_t rank = addr >> SIM_RANK_SHIFT;
  return rank == 0 ? x->peers[x->rank] : rank <= x->npeers ? x->peers[rank - 1] : NULL;
}

int sim_cluster_ended(sim_warp *w, const sim_insn *in, unsigned lane) {
  w->mask = 1u << lane;
  return sim_fault_text(w, in, "access to the shared memory of a block of the cluster that has ended: "
                      "call cluster.sync() before a block ends whose memory others use");
}

/* Check the accesses of w->mask to `to`, all of whose lanes lie there. */
static int far_access(sim_warp *w, const sim_insn *in, sim_exec *to, const uint32_t *addr, unsigned size,
                      int how) {
  uint32_t units = size >> to->grain > 0 ? size >> to->grain : 1;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    if (to->ended) return sim_cluster_ended(w, in, l);
    if (addr[l] >= to->shared_size || to->shared_size - addr[l] < size)
      return sim_fault_memory(w, in, SIM_FAULT_ADDRESS, l, addr[l], size, SIM_SHARED, how);
    if (addr[l] & (size - 1)) return sim_fault_memory(w, in, SIM_FAULT_ALIGN, l, addr[l], size, SIM_SHARED, how);
    for (uint32_t i = 0; i < units; i++) sim_shadow_far(w, in, to, (addr[l] >> to->grain) + i, how);
  }
  w->exec->counts.shared_requests++;
  unsigned least, waves = sim_shape_wavefronts(addr, w->mask, size, &least);
  w->exec->counts.shared_wavefronts += waves;
  w->exec->counts.shared_least += least;
  return SIM_NEXT;
}

/* Addresses of shared::cluster, and the lanes whose memory is another block's. */
static int cluster_addresses(sim_warp *w, const sim_insn *in, sim_ref ref, int wide, int64_t offset,
                             unsigned size, int how, uint32_t *addr, uint32_t *far) {
  int event = shared_addresses(w, in, ref, wide, offset, size, how, addr);
  *far = 0;
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(w->mask >> l & 1) || addr[l] >> SIM_RANK_SHIFT == 0) continue;
    sim_exec *to = sim_cluster_member(w->exec, addr[l]);
    if (to == NULL) return sim_fault_memory(w, in, SIM_FAULT_ADDRESS, l, addr[l], size, SIM_SHARED, how);
    if (to != w->exec) *far |= 1u << l;
  }
  return event;
}

int sim_cluster_move(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size, int how) {
  uint32_t mask = w->mask, left = mask, at[SIM_LANES];
  int event = SIM_NEXT;
  for (unsigned l = 0; l < SIM_LANES; l++) at[l] = sim_cluster_within(addr[l]);
  while (left != 0 && event == SIM_NEXT) {
    unsigned first = (unsigned)__builtin_ctz(left);
    sim_exec *to = sim_cluster_member(w->exec, addr[first]);
    if (to == NULL) return sim_fault_memory(w, in, SIM_FAULT_ADDRESS, first, addr[first], size, SIM_SHARED, how);
    w->mask = 0;
    for (unsigned l = 0; l < SIM_LANES; l++)
      if ((left >> l & 1) && sim_cluster_member(w->exec, addr[l]) == to) w->mask |= 1u << l;
    left &= ~w->mask;
    event = far_access(w, in, to, at, size, how);
    if (event != SIM_NEXT) break;
    if (how == READ) fetch_near(w, in, to->shared, 0, at, MIXED);
    else if (how == WRITE) put_near(w, in, to->shared, 0, at, MIXED);
    else {
      uint64_t wide[SIM_LANES];
      widened(at, wide);
      w->exec->device->isa->atomic(w, in, to->shared, 0, wide);
    }
  }
  w->mask = mask;
  return event;
}

/* A load that is not followed reads what nothing has written. */
static void note_unset(sim_warp *w, const sim_insn *in, const uint32_t *addr) {
  unsigned lane = (unsigned)__builtin_ctz(w->mask);
  w->exec->unset = 0;
  sim_uninitialised_note(w, in, SIM_SHARED, lane, addr[lane]);
}

/* The lanes that stay go the usual way, by their own addresses without a rank. */
static int cluster_access(sim_warp *w, const sim_insn *in, int how) {
  uint32_t addr[SIM_LANES], mask = w->mask, far, ranked = 0;
  unsigned size = (unsigned)in->width * in->vec;
  int pattern, event = cluster_addresses(w, in, in->r[1], in->wide & 2, in->offset, size, how, addr, &far);
  if (event != SIM_NEXT) return event;
  for (unsigned l = 0; l < SIM_LANES; l++) ranked |= (uint32_t)(addr[l] >> SIM_RANK_SHIFT != 0) << l;
  if (far == 0 && (ranked & mask) == 0)
    return w->exec->device->isa->table[how == READ ? SIM_OP_ld_shared : how == WRITE ? SIM_OP_st_shared
                                                                      : SIM_OP_atom_shared](w, in);
  w->mask = far;
  if (far != 0) event = sim_cluster_move(w, in, addr, size, how);
  w->mask = mask & ~far;
  if (w->mask != 0 && event == SIM_NEXT) {
    for (unsigned l = 0; l < SIM_LANES; l++) addr[l] = sim_cluster_within(addr[l]);
    event = shared_access(w, in, addr, size, how, &pattern);
    if (w->exec->unset) note_unset(w, in, addr);
    if (event == SIM_NEXT) {
      uint64_t wide[SIM_LANES];
      widened(addr, wide);
      if (how == READ) fetch_near(w, in, w->exec->shared, 0, addr, MIXED);
      else if (how == WRITE) put_near(w, in, w->exec->shared, 0, addr, MIXED);
      else w->exec->device->isa->atomic(w, in, w->exec->shared, 0, wide);
    }
  }
  w->mask = mask;
  return event;
}

int op_ld_cluster(sim_warp *w, const sim_insn *in) { return cluster_access(w, in, READ); }
int op_st_cluster(sim_warp *w, const sim_insn *in) { return cluster_access(w, in, WRITE); }
int op_atom_cluster(sim_warp *w, const sim_insn *in) { return cluster_access(w, in, ATOMIC); }

static int no_such_rank(sim_warp *w, const sim_insn *in, unsigned lane, unsigned rank) {
  char text[128];
  w->mask = 1u << lane;
  snprintf(text, sizeof text, "there is no block %u in a cluster of %u: ranks begin at 0, and a launch says `cluster`", rank,
           w->exec->npeers);
  return sim_fault_text(w, in, text);
}

/* mapa d, a, rank: `width` bytes; generic addresses keep their window. */
int op_mapa(sim_warp *w, const sim_insn *in) {
  const u32 *rank = SIM_PLACE(u32, w, in->r[2]);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    uint64_t a = lane_of(w, in->r[1], in->width, l);
    if (rank[l] >= w->exec->npeers) return no_such_rank(w, in, l, rank[l]);
    uint64_t window = a >> SIM_SLOT_BITS << SIM_SLOT_BITS;
    put_lane(w, in->r[0], in->width, l,
             window | (uint64_t)(rank[l] + 1) << SIM_RANK_SHIFT | sim_cluster_within((uint32_t)a));
  }
  return SIM_NEXT;
}

int op_rank_of(sim_warp *w, const sim_insn *in) {
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    const sim_exec *to = sim_cluster_member(w->exec, (uint32_t)lane_of(w, in->r[1], in->width, l));
    d[l] = to != NULL ? to->rank : 0;
  }
  return SIM_NEXT;
}

/* ----------------------------------------------------------------- generic */

/* The windows of the lanes' addresses decide; several: one after the other. */
static int by_space(sim_warp *w, const sim_insn *in, unsigned global, unsigned shared, unsigned local,
                    unsigned param) {
  uint64_t addr[SIM_LANES];
  uint32_t mask = w->mask, in_space[5] = { 0, 0, 0, 0, 0 };
  addresses(w, in, in->r[1], in->wide & 2, in->offset, addr);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(mask >> l & 1)) continue;
    uint64_t slot = addr[l] >> SIM_SLOT_BITS;
    in_space[slot == SIM_SHARED ? 1 : slot == SIM_LOCAL ? 2 : slot == SIM_PARAM ? 3 : 0] |= 1u << l;
  }
  const unsigned ops[] = { global, shared, local, param };
  const sim_fn *table = w->exec->device->isa->table;
  int event = SIM_NEXT;
  for (unsigned i = 0; i < 4 && (event == SIM_NEXT || event == SIM_UNDEFINED); i++) {
    w->mask = in_space[i];
    if (w->mask == 0) continue;
    int one = ops[i] != SIM_OP_unknown ? table[ops[i]](w, in)
            : sim_fault_memory(w, in, SIM_FAULT_READONLY, (unsigned)__builtin_ctz(w->mask), 0, in->width,
                           SIM_PARAM, WRITE);
    if (one != SIM_NEXT) event = one;
  }
  w->mask = mask;
  return event;
}

int op_ld_generic(sim_warp *w, const sim_insn *in) {
  return by_space(w, in, SIM_OP_ld_global, SIM_OP_ld_cluster, SIM_OP_ld_local, SIM_OP_ld_param);
}
int op_st_generic(sim_warp *w, const sim_insn *in) {
  return by_space(w, in, SIM_OP_st_global, SIM_OP_st_cluster, SIM_OP_st_local, SIM_OP_unknown);
}
int op_atom_generic(sim_warp *w, const sim_insn *in) {
  return by_space(w, in, SIM_OP_atom_global, SIM_OP_atom_cluster, SIM_OP_unknown, SIM_OP_unknown);
}
