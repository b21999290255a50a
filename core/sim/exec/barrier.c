/* barrier.c - barriers of a block and of a cluster. */
#include "sim/exec/barrier.h"

#include "sim/exec/block.h"
#include "sim/exec/fault.h"
#include "sim/exec/groups.h"
#include "sim/exec/lanes.h"
#include "sim/exec/warp_sync.h"
#include "sim/instructions/variants.h"

/* A group has come to a barrier: note it, and leave it there unless it only arrives. */
int sim_barrier_arrive(sim_warp *w, const sim_insn *in) {
  sim_exec *x = w->exec;
  unsigned lane = (unsigned)__builtin_ctz(w->mask);
  uint32_t id = SIM_PLACE(u32, w, in->r[1])[lane];
  if (id > 15) return sim_fault_text(w, in, "a barrier's number must be 0 to 15");
  sim_barrier *b = &x->barrier[id];
  int counted = in->r[2].base != SIM_UNUSED;
  uint32_t expected = counted ? SIM_PLACE(u32, w, in->r[2])[lane] : 0;
  if (counted && (expected == 0 || expected % SIM_LANES != 0))
    return sim_fault_text(w, in, "a barrier's number of threads must be a multiple of 32");
  if (b->arrived != 0 && b->expected != expected)
    return sim_fault_text(w, in, "threads expect different numbers of threads at one barrier");
  if (b->arrived == 0) *b = (sim_barrier){ expected, 0, 0, 1, 0 };
  b->arrived += (uint32_t)__builtin_popcount(w->mask);
  if (counted) b->arrived += (uint32_t)__builtin_popcount(~w->lanes);   /* a partial warp counts whole */
  if (in->mode >= BAR_POPC) {
    uint32_t p = (SIM_MASK_OF(w, in->r[3]) ^ (in->negate ? SIM_ALL : 0)) & w->mask;
    b->count += (uint32_t)__builtin_popcount(p);
    b->all &= p == w->mask;
    b->any |= p != 0;
  }
  uint32_t rest = w->active & ~w->mask;
  if (in->mode == BAR_ARRIVE) rest = w->active;
  else sim_group_park(w, w->pc, w->mask, SIM_AT_BLOCK, id);
  sim_group_park(w, w->pc + 1, rest, SIM_READY, 0);
  w->active = 0;
  x->counts.barriers++;
  return SIM_NEXT;
}

static void finish_group(sim_warp *w, sim_group *g, const sim_barrier *b) {
  const sim_insn *in = &w->exec->function->code[g->pc];
  w->mask = g->mask;
  if (in->mode == BAR_POPC) {
    u32 *d = SIM_PLACE(u32, w, in->r[0]);
    SIM_EACH(w, d[l] = b->count);
  } else if (in->mode != BAR_SYNC) {
    uint32_t holds = in->mode == BAR_AND ? b->all : b->any;
    set_mask(w, in->r[0], holds ? SIM_ALL : 0);
  }
  g->state = SIM_READY;
  g->pc++;
}

/* __syncthreads() is for whole warps, but for lanes that have exited. */
static void check_whole(sim_exec *x, unsigned id) {
  for (unsigned i = 0; i < x->nwarps; i++)
    for (unsigned k = 0; k < x->warps[i].ngroups; k++) {
      const sim_group *g = &x->warps[i].group[k];
      if (g->state != SIM_AT_BLOCK || g->barrier != id || g->mask == x->warps[i].live) continue;
      if (x->function->code[g->pc].flags & BAR_ALIGNED) sim_warp_sync_diverged(&x->warps[i], g->pc, g->mask);
    }
}

static int waits_at(const sim_warp *w, unsigned state, unsigned id) {
  for (unsigned k = 0; k < w->ngroups; k++)
    if (w->group[k].state == state && w->group[k].barrier == id) return 1;
  return 0;
}

/* Those that meet go on when the last one has come, in the modelled time too. */
static void meet(sim_exec *x, unsigned state, unsigned id, sim_spent *last) {
  uint64_t all = 0;
  for (unsigned i = 0; i < x->nwarps; i++) {
    if (!waits_at(&x->warps[i], state, id)) continue;
    sim_spent_meet(last, &x->warps[i].spent, x->wait);
    all += x->meeting;
  }
  last->clocks += all;
}

static void go_on(sim_exec *x, unsigned state, unsigned id, const sim_spent *last) {
  for (unsigned i = 0; i < x->nwarps; i++)
    if (waits_at(&x->warps[i], state, id)) sim_spent_meet(&x->warps[i].spent, last, x->wait);
}

void sim_barrier_release(sim_exec *x, unsigned id) {
  sim_spent last = { 0, 0, 0 };
  meet(x, SIM_AT_BLOCK, id, &last);
  go_on(x, SIM_AT_BLOCK, id, &last);
  if (x->checks) check_whole(x, id);
  for (unsigned i = 0; i < x->nwarps; i++)
    for (unsigned k = 0; k < x->warps[i].ngroups; k++) {
      sim_group *g = &x->warps[i].group[k];
      if (g->state == SIM_AT_BLOCK && g->barrier == id) finish_group(&x->warps[i], g, &x->barrier[id]);
    }
  x->barrier[id].arrived = 0;
  sim_epoch_next(x);
}

/* From sm_70 on a block's barrier waits for the threads that have not exited. */
uint32_t sim_barrier_expects(const sim_exec *x, const sim_barrier *b) {
  return b->expected ? b->expected : x->threads - x->exited;
}

/* Let go the barriers that are complete; how many were. */
int sim_barrier_complete(sim_exec *x) {
  int released = 0;
  for (unsigned id = 0; id < 16; id++) {
    const sim_barrier *b = &x->barrier[id];
    if (b->arrived == 0 || b->arrived < sim_barrier_expects(x, b)) continue;
    sim_barrier_release(x, id);
    released++;
  }
  return released;
}

/* ----------------------------------------------------------------- clusters */

/* The lanes of a warp that the cluster still waits for. */
static int cluster_waits(const sim_exec *x) {
  int arrived = 0;
  for (unsigned k = 0; k < x->npeers; k++)
    for (unsigned i = 0; i < x->nwarps; i++) {
      const sim_warp *w = &x->peers[k]->warps[i];
      if (w->live & ~w->arrived) return 1;
      arrived |= w->arrived != 0;
    }
  return !arrived;
}

/* All have arrived: those that wait go on. How many did. */
int sim_barrier_meet(sim_exec *x) {
  int released = 0;
  sim_spent last = { 0, 0, 0 };
  if (cluster_waits(x)) return 0;
  for (unsigned k = 0; k < x->npeers; k++) meet(x->peers[k], SIM_AT_CLUSTER, 0, &last);
  for (unsigned k = 0; k < x->npeers; k++) go_on(x->peers[k], SIM_AT_CLUSTER, 0, &last);
  for (unsigned k = 0; k < x->npeers; k++) {
    x->peers[k]->cluster_phase++;
    sim_epoch_next(x->peers[k]);
    for (unsigned i = 0; i < x->nwarps; i++) {
      sim_warp *w = &x->peers[k]->warps[i];
      w->arrived = 0;
      for (unsigned g = 0; g < w->ngroups; g++) {
        if (w->group[g].state != SIM_AT_CLUSTER) continue;
        w->group[g].state = SIM_READY;
        w->group[g].pc++;
        released++;
      }
    }
  }
  return released;
}

/* barrier.cluster: mode 0 arrives, 1 waits. */
void sim_barrier_cluster(sim_warp *w, const sim_insn *in) {
  sim_exec *x = w->exec;
  if (in->mode == 0) {
    w->arrived |= w->mask;
    w->arrived_phase = x->cluster_phase;
    sim_group_park(w, w->pc + 1, w->active, SIM_READY, 0);
  } else if (w->arrived_phase != x->cluster_phase) sim_group_park(w, w->pc + 1, w->active, SIM_READY, 0);
  else {
    sim_group_park(w, w->pc, w->mask, SIM_AT_CLUSTER, 0);
    sim_group_park(w, w->pc + 1, w->active & ~w->mask, SIM_READY, 0);
  }
  w->active = 0;
}
