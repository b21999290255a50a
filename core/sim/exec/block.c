/*
** block.c - a block begins: its places in the grid, its warps at the first instruction, memory and
** registers as every other block finds them. Then its warps, and those of the blocks of its
** cluster, run one after the other: each until it waits at a barrier, ends, or has run for a
** while, so that warps that wait for each other get on.
*/
#include "sim/exec/block.h"

#include "sim/exec/barrier.h"
#include "sim/exec/calls.h"
#include "sim/exec/isa.h"
#include "sim/exec/lanes.h"
#include "sim/exec/warp_sync.h"
#include "sim/memory/device.h"
#include "sim/memory/log.h"

/* Rounds of a block in which nothing happens but looks at global memory: other blocks must go on. */
enum { ROUNDS = 32 };

/* What was accessed before is over: at a barrier, and between blocks. */
void sim_epoch_next(sim_exec *x) {
  if (x->stretches != NULL) x->stretches(x, 0);
  for (unsigned i = 0; x->waited && i < x->nwarps; i++) x->warps[i].ahead = 0;
  for (unsigned i = 0; x->lane_writes != NULL && i < x->nwarps; i++) sim_warp_sync_all(&x->warps[i]);
  if (++x->epoch < 1u << 24) return;           /* it must fit beside the flags */
  memset(x->writers, 0, x->shadow_size * sizeof *x->writers);
  memset(x->readers, 0, x->shadow_size * sizeof *x->readers);
  x->first_epoch = 0;
  x->epoch = 1;
}

static void fill_places(sim_exec *x) {
  const unsigned *b = x->block, *c = x->cluster;
  const uint32_t v[] = { b[0], b[1], b[2], b[0] / c[0], b[1] / c[1], b[2] / c[2],
                         b[0] % c[0], b[1] % c[1], b[2] % c[2], x->rank };
  for (unsigned k = 0; k < sizeof v / sizeof *v; k++) {
    u32 *at = (u32 *)(void *)(x->blockvals + (size_t)128 * k);
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) at[l] = v[k];
  }
}

/* What a block may see before it has written it is the same for every block, whichever was here
   before; and no zero, which a sum that nobody began would go well with. */
static void clear_block(sim_exec *x) {
  const sim_function *f = x->function;
  for (unsigned i = 0; i < x->nwarps; i++) {
    for (uint32_t k = 0; k < f->nuninitialised; k++)
      memset(x->warps[i].base[SIM_REGS] + f->uninitialised[k].off, 0xff, f->uninitialised[k].size);
    x->warps[i].carry = 0;
  }
  if (x->shared_size > 0) memset(x->shared, 0xff, x->shared_size);
  if (f->local_size > 0) memset(x->local, 0, (size_t)x->local_stride * SIM_LANES * x->nwarps);
}

void sim_block_begin(sim_exec *x) {
  if (x->stretches != NULL) x->stretches(x, 1);
  clear_block(x);
  fill_places(x);
  for (unsigned i = 0; i < x->nwarps; i++) {
    sim_warp *w = &x->warps[i];
    w->live = w->active = w->waited = w->lanes;
    w->pc = 0;
    w->next = UINT32_MAX;
    w->ngroups = 0;
    w->arrived = w->ncopies = 0;
    w->undefined = NULL;
    memset(w->commits, 0, sizeof w->commits);
    w->closed = w->fenced = 0;
    w->ahead = x->ahead;
    w->ordered = 0;
    w->spent = w->calm = (sim_spent){ 0, 0, 0 };
    w->vain = 0;
    w->look = 0;
    sim_calls_begin(w);
  }
  memset(x->barrier, 0, sizeof x->barrier);
  x->exited = x->unset = x->waited = 0;
  x->ended = 0;
  x->cluster_phase = 0;
  x->nbulks = 0;
  if (x->flying > 0) {
    memset(x->flight, 0, x->shadow_size);
    memset(x->reading, 0, x->shadow_size);
  }
  x->flying = x->nproducts = 0;
  if (x->checks && x->function->local_size > 0)
    memset(x->local_set, 0, (size_t)x->local_stride * SIM_LANES * x->nwarps);
  sim_epoch_next(x);
  x->first_epoch = x->epoch;
}

/* A block beside others goes no further: one of them is in its way, or it does what no other does. */
static int gives_up(const sim_exec *x) {
  const sim_log *g = x->log;
  return g != NULL && (g->failed || __atomic_load_n(g->halt, __ATOMIC_RELAXED) || x->counts.threads > g->patience);
}

/* Every warp of the block runs for a while: SIM_FAULT, or whether that was of use. */
static int run_warps(sim_exec *x) {
  unsigned ended = 0, yielded = 0;
  for (unsigned i = 0; i < x->nwarps; i++) {
    int r = x->device->isa->warp(&x->warps[i]);
    if (r == SIM_FAULT || gives_up(x)) return SIM_FAULT;
    ended += r == SIM_WARP_ENDS;
    yielded += r == SIM_WARP_YIELDS;
  }
  x->ended = ended == x->nwarps;
  int released = sim_barrier_complete(x) + x->regrouped;
  x->regrouped = 0;
  if (released) x->polling = 0;
  return released || yielded > 0 ? SIM_WARP_YIELDS : SIM_WARP_WAITS;
}

sim_spent sim_block_spent(const sim_exec *x) {
  sim_spent s = { 0, 0, 0 };
  for (unsigned k = 0; k < x->npeers; k++)
    for (unsigned i = 0; i < x->nwarps; i++) {
      const sim_spent *w = &x->peers[k]->warps[i].spent;
      sim_spent_meet(&s, w, x->wait);
      s.slots += w->slots;
    }
  return s;
}

void sim_moves_add(sim_moves *m, const sim_counts *from, const sim_counts *to) {
  m->lines += to->lines - from->lines;
  m->waves += to->shared_wavefronts - from->shared_wavefronts;
  m->missed += to->load_lines - from->load_lines;
  for (int i = 0; i < 3; i++) m->level[i] += to->level[i] - from->level[i];
}

int sim_block_run(sim_exec *x) {
  unsigned rounds = 0;
  for (unsigned k = 0; k < x->npeers && !x->suspended; k++) sim_block_begin(x->peers[k]);
  x->suspended = 0;
  for (;;) {
    unsigned ended = 0, useful = 0;
    int polling = 0;
    for (unsigned k = 0; k < x->npeers; k++) {
      x->peers[k]->polling = 0;
      int r = x->peers[k]->ended ? SIM_WARP_WAITS : run_warps(x->peers[k]);
      if (r == SIM_FAULT) return SIM_FAULT;
      if (x->peers[k]->ended) ended++;
      useful += r == SIM_WARP_YIELDS;
      polling |= x->peers[k]->polling;
    }
    if (ended == x->npeers) return SIM_NEXT;
    if (sim_barrier_meet(x)) continue;
    if (polling && ++rounds > ROUNDS) {
      x->suspended = 1;
      return SIM_PARK;
    }
    if (useful > 0) continue;
    for (unsigned k = 0; k < x->npeers; k++)
      if (!x->peers[k]->ended) return sim_stuck(x->peers[k]);
  }
}
