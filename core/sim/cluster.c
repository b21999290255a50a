/*
** cluster.c - blocks that run together. Each has all that a block has; the first one
** of a cluster owns the others, and its accounts are those of all.
*/
#include "sim.h"

#include <stdlib.h>
#include <string.h>

enum { CLUSTER_MOST = 16 };

/* What the source says (__cluster_dims__), else what the launch says. */
void sim_cluster_shape(const sim_function *f, const cawb_step *s, unsigned out[3]) {
  for (int i = 0; i < 3; i++) out[i] = f->cluster[0] != 0 ? f->cluster[i] : s->cluster[i] > 0 ? s->cluster[i] : 1;
}

cawb_status sim_cluster_check(const sim_function *f, const cawb_step *s, cawb_err *err) {
  unsigned c[3];
  sim_cluster_shape(f, s, c);
  int told = (s->cluster[0] > 1) | (s->cluster[1] > 1) | (s->cluster[2] > 1);
  for (int i = 0; i < 3; i++) {
    if (told && s->cluster[i] != c[i])
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: a cluster of (%u,%u,%u) blocks, its __cluster_dims__ "
                       "say (%u,%u,%u)", f->plain, s->cluster[0], s->cluster[1], s->cluster[2], c[0], c[1], c[2]);
    if (c[i] == 0 || s->grid[i] % c[i] != 0)
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: a grid of (%u,%u,%u) blocks is not divided by a cluster of "
                       "(%u,%u,%u)", f->plain, s->grid[0], s->grid[1], s->grid[2], c[0], c[1], c[2]);
  }
  if ((uint64_t)c[0] * c[1] * c[2] > CLUSTER_MOST)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: a cluster of (%u,%u,%u) blocks: at most 8 are portable, %d "
                     "possible", f->plain, c[0], c[1], c[2], CLUSTER_MOST);
  return CAWB_OK;
}

static void join(sim_exec *x, unsigned rank) {
  sim_exec *p = x->peers[rank];
  p->peers = x->peers;
  p->npeers = x->npeers;
  p->rank = rank;
  memcpy(p->cluster, x->cluster, sizeof p->cluster);
}

/* The other blocks of a cluster; `x` has been made. */
cawb_status sim_cluster_make(sim_exec *x, cawb_err *err) {
  sim_cluster_shape(x->function, x->step, x->cluster);
  unsigned n = x->cluster[0] * x->cluster[1] * x->cluster[2];
  x->alone = x;
  x->peers = &x->alone;
  x->npeers = 1;
  if (n == 1) return CAWB_OK;
  sim_exec **peers = calloc(n, sizeof *peers);
  if (peers == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a cluster");
  peers[0] = x;
  x->peers = peers;
  for (unsigned i = 1; i < n; i++) {
    peers[i] = calloc(1, sizeof *peers[i]);
    if (peers[i] == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a cluster");
    cawb_status status = sim_exec_make(peers[i], x->device, x->function, x->step, err);
    if (status != CAWB_OK) {
      free(peers[i]);
      return status;
    }
    x->npeers = i + 1;
    free(peers[i]->hits);
    peers[i]->hits = x->hits;
  }
  for (unsigned i = 0; i < n; i++) join(x, i);
  return CAWB_OK;
}

void sim_cluster_free(sim_exec *x) {
  if (x->peers == &x->alone || x->peers == NULL) return;
  for (unsigned i = 1; i < x->npeers; i++) {
    x->peers[i]->hits = NULL;
    x->peers[i]->peers = NULL;
    sim_exec_free(x->peers[i]);
    free(x->peers[i]);
  }
  free(x->peers);
  x->peers = NULL;
}

/* Where the block of this rank is, given its cluster's first. */
static void place(sim_exec *p, const unsigned first[3]) {
  const unsigned *c = p->cluster, *g = p->step->grid;
  unsigned at[3] = { p->rank % c[0], p->rank / c[0] % c[1], p->rank / c[0] / c[1] };
  for (int i = 0; i < 3; i++) p->block[i] = first[i] + at[i];
  p->serial = (p->block[2] * g[1] + p->block[1]) * g[0] + p->block[0];
}

/* The others' accounts into the first one's. */
static void gather(sim_exec *x, sim_exec *p) {
  uint64_t *sum = (uint64_t *)&x->counts, *add = (uint64_t *)&p->counts;
  if (x->counts.races == 0 && p->counts.races > 0) x->race = p->race;
  for (size_t i = 0; i < sizeof x->counts / sizeof *sum; i++) sum[i] += add[i];
  memset(&p->counts, 0, sizeof p->counts);
}

static void take_fault(sim_exec *x, const sim_exec *p) {
  if (p->fault.kind == SIM_FAULT_NONE || x->fault.kind != SIM_FAULT_NONE) return;
  x->fault = p->fault;
  memcpy(x->block, p->block, sizeof x->block);
}

int sim_cluster_run(sim_exec *x) {
  unsigned first[3];
  if (x->npeers == 1) return x->device->isa->block(x);
  for (int i = 0; i < 3; i++) {
    if (x->block[i] % x->cluster[i] != 0) return SIM_NEXT;
    first[i] = x->block[i];
  }
  for (unsigned i = 0; i < x->npeers; i++) {
    x->peers[i]->first_block = x->first_block;
    x->peers[i]->follows = x->follows;
    place(x->peers[i], first);
    if (i > 0) sim_sample_join(x->peers[i], x);
  }
  int event = x->device->isa->block(x);
  for (unsigned i = 1; i < x->npeers; i++) {
    gather(x, x->peers[i]);
    if (event == SIM_FAULT) take_fault(x, x->peers[i]);
  }
  return event;
}
