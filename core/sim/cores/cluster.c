/*
** cluster.c - blocks that run together. Each has all that a block has; the first one
** of a cluster owns the others, and its accounts are those of all. A cluster that does
** nothing but look at global memory waits for a later one: it is parked, with all that
** it has, and goes on beside those behind it, each for a while, as many as a GPU would hold.
*/
#include "sim/access/async.h"
#include "sim/cores/cores.h"
#include "sim/exec/block.h"
#include "sim/exec/shape.h"
#include "sim/memory/device.h"
#include "sim/time/time.h"

#include <stdlib.h>
#include <string.h>

enum { CLUSTER_MOST = 16, PARKED_BYTES = 1 << 28 };

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

static void drop(sim_exec *c) {
  c->hits = NULL;
  sim_exec_free(c);
  free(c);
}

void sim_cluster_free(sim_exec *x) {
  for (unsigned i = 0; i < x->nparked; i++) drop(x->parked[i]);
  free(x->parked);
  x->parked = NULL;
  x->nparked = 0;
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

/* A cluster has ended: what its blocks took goes to the launch's accounts. */
static void note_end(sim_exec *x, sim_exec *c) {
  sim_spent s = sim_block_spent(c);
  sim_sample_ended(x, c->npeers, &s, &c->moves);
  memset(&c->moves, 0, sizeof c->moves);
}

/* A cluster in `c` from where it is, on the launch's accounts, which are those of x. */
static int run_one(sim_exec *x, sim_exec *c) {
  sim_counts before = x->counts;
  int event = sim_block_run(c);
  for (unsigned i = 0; i < c->npeers; i++) {
    if (c->peers[i] == x) continue;
    gather(x, c->peers[i]);
    if (event == SIM_FAULT) take_fault(x, c->peers[i]);
  }
  sim_moves_add(&c->moves, &before, &x->counts);
  if (event == SIM_NEXT) note_end(x, c);
  return event;
}

/* ----------------------------------------------------------------- parking */

/* How many more blocks a GPU has under way at once, and this machine has room for. */
unsigned sim_cluster_most(const sim_exec *x) {
  const sim_model *m = x->device->model;
  unsigned fit = (unsigned)m->threads_sm / (x->nwarps * SIM_LANES), blocks;
  size_t shared = x->shared_size + 1024, each = (size_t)x->function->regs_size * x->nwarps + 8 * shared +
                  (size_t)x->local_stride * x->threads + sizeof *x + SIM_SHAPES * sizeof(sim_shape);
  if (fit > m->blocks_sm) fit = (unsigned)m->blocks_sm;
  if (fit > (size_t)m->shared_sm / shared) fit = (unsigned)((size_t)m->shared_sm / shared);
  blocks = (fit > 0 ? fit : 1) * (unsigned)m->sms;
  if (blocks > PARKED_BYTES / each) blocks = (unsigned)(PARKED_BYTES / each);
  return blocks / x->npeers > 0 ? blocks / x->npeers - 1 : 0;
}

/* After the contents of two of them have changed places. */
static void settle_in(sim_exec *c, const sim_exec *before) {
  if (c->npeers == 1) {
    c->alone = c;
    c->peers = &c->alone;
  } else c->peers[0] = c;
  for (unsigned i = 0; i < c->npeers; i++) c->peers[i]->peers = c->peers;
  for (unsigned i = 0; i < c->nwarps; i++) c->warps[i].exec = c;
  for (uint32_t i = 0; i < c->nbulks; i++) {
    if (c->bulks[i].to == before) c->bulks[i].to = c;
    if (c->bulks[i].teller == before) c->bulks[i].teller = c;
  }
}

/* A second set of all that x has, empty; NULL when memory ends. */
static sim_exec *twin(sim_exec *x) {
  cawb_err err;
  sim_exec *c = calloc(1, sizeof *c);
  if (c == NULL) return NULL;
  if (sim_exec_make(c, x->device, x->function, x->step, &err) != CAWB_OK) {
    free(c);
    return NULL;
  }
  free(c->hits);
  c->hits = x->hits;
  if (sim_cluster_make(c, &err) == CAWB_OK) return c;
  drop(c);
  return NULL;
}

/* What belongs to the launch and not to a block, from the set that was the launch's own. */
static void take_accounts(sim_exec *x, sim_exec *c) {
  x->counts = c->counts;
  memset(&c->counts, 0, sizeof c->counts);
  x->race = c->race;
  memcpy(x->block, c->block, sizeof x->block);
  x->serial = c->serial;
  x->first_stretch = c->first_stretch;
  x->stretches = c->stretches;
  x->order = c->order;
  x->turn = c->turn;
  x->first_stamp = c->first_stamp;
  x->follows = c->follows;
  x->executed = c->executed;
  x->longest = c->longest;
  x->squares = c->squares;
  x->chains = c->chains;
  x->l1_room = c->l1_room;
  x->l2_room = c->l2_room;
  x->at_once = c->at_once;
  x->l2_sectors = c->l2_sectors;
  x->block_sectors = c->block_sectors;
  x->parked = c->parked;
  x->nparked = c->nparked;
  x->parked_room = c->parked_room;
  c->parked = NULL;
  c->nparked = c->parked_room = 0;
}

/* The cluster in x goes into a set of its own, x is free for the next one. 0: no room. */
static int park(sim_exec *x) {
  if (x->nparked >= sim_cluster_most(x)) return 0;
  if (x->nparked == x->parked_room) {
    unsigned room = x->parked_room == 0 ? 16 : 2 * x->parked_room;
    sim_exec **grown = realloc(x->parked, room * sizeof *grown);
    if (grown == NULL) return 0;
    x->parked = grown;
    x->parked_room = room;
  }
  sim_exec *c = twin(x), keep;
  if (c == NULL) return 0;
  keep = *x;
  *x = *c;
  *c = keep;
  take_accounts(x, c);
  settle_in(x, c);
  settle_in(c, x);
  x->parked[x->nparked++] = c;
  return 1;
}

/* Each that is parked goes on for a while. */
static int go_on(sim_exec *x) {
  for (unsigned i = 0; i < x->nparked;) {
    int event = run_one(x, x->parked[i]);
    if (event == SIM_FAULT) return event;
    if (event == SIM_PARK) i++;
    else {
      drop(x->parked[i]);
      x->parked[i] = x->parked[--x->nparked];
    }
  }
  return SIM_NEXT;
}

int sim_cluster_finish(sim_exec *x) {
  int event = SIM_NEXT;
  while (x->nparked > 0 && event == SIM_NEXT) event = go_on(x);
  return event;
}

int sim_cluster_run(sim_exec *x) {
  unsigned first[3];
  for (int i = 0; i < 3; i++) {
    if (x->block[i] % x->cluster[i] != 0) return SIM_NEXT;
    first[i] = x->block[i];
  }
  for (unsigned i = 1; i < x->npeers; i++) {
    sim_exec *p = x->peers[i];
    p->first_stretch = x->first_stretch;
    p->follows = x->follows;
    p->stretches = x->stretches;
    p->order = x->order;
    place(x->peers[i], first);
    if (i > 0) sim_sample_join(x->peers[i], x);
  }
  for (;;) {
    int event = run_one(x, x);
    if (event == SIM_PARK && park(x)) event = SIM_NEXT;
    if (event == SIM_FAULT) return event;
    int others = go_on(x);
    if (others == SIM_FAULT || event != SIM_PARK) return others;
  }
}
