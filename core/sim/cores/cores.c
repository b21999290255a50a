/*
** cores.c - blocks on several cores. Each thread has all that a block has, takes the next few
** blocks that nobody has taken, and writes down what they do to global memory (log.h). Whoever
** is done goes through what is ready in the order of the blocks (replay.c), so that counts and
** the modelled time are those of one core. If a block does what may depend on the order - it
** meets another one, or faults, or anything is found in it - all is undone (undo.c), and the
** launch runs in order: findings and faults are those that come first there.
*/
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sim/access/cache.h"
#include "sim/cores/cores.h"
#include "sim/exec/block.h"
#include "sim/exec/traffic.h"
#include "sim/memory/device.h"
#include "sim/time/time.h"
#include "sim/watch/race.h"

enum {
  AHEAD = 4,                    /* logs that wait, a thread */
  STRETCH = 20000,              /* warp instructions that are worth taking at once, */
  WORTH = 200000,               /* and worth a second thread */
  WARPS = 16,                   /* fewer of them in a launch are not worth the log */
  THREADS_MOST = 256
};

/* A block that has executed so many more thread instructions than any before, and these. */
#define ASTRAY 256
#define PATIENCE (UINT64_C(1) << 26)

typedef struct workers workers;

typedef struct worker {
  workers *c;
  sim_exec exec;
  pthread_t thread;
} worker;

struct workers {
  sim_exec *x;                  /* the launch's accounts */
  uint64_t n, next, stretch;    /* blocks; the first that nobody has taken; taken at once */
  uint64_t taken, replayed;     /* stretches */
  uint64_t longest, sum, blocks;        /* of those replayed: thread instructions of one, of all; how many */
  pthread_mutex_t lock;
  pthread_cond_t moved;
  int replaying, halt;
  unsigned nthreads, nlogs;
  worker *threads;
  struct pending { sim_log log; uint64_t first; int ready; } *logs;   /* stretch i's: i % nlogs */
};

/* -------------------------------------------------------------- one stretch */

static int note_ran(sim_log *g, const sim_exec *x, const sim_counts *before) {
  if (g->nran == g->ran_room) {
    size_t room = g->ran_room == 0 ? 64 : 2 * g->ran_room;
    sim_ran *grown = realloc(g->ran, room * sizeof *grown);
    if (grown == NULL) return 0;
    g->ran = grown;
    g->ran_room = room;
  }
  sim_ran *r = &g->ran[g->nran++];
  *r = (sim_ran){ x->counts.threads - before->threads, x->serial, g->count, sim_block_spent(x), { 0 } };
  sim_moves_add(&r->moves, before, &x->counts);
  return 1;
}

/* Blocks `from` up to `to`; 0: they must run in order. */
static int run_blocks(worker *m, sim_log *g, uint64_t from, uint64_t to, uint64_t patience) {
  sim_exec *x = &m->exec;
  g->count = g->nran = 0;
  g->failed = 0;
  g->halt = &m->c->halt;
  x->log = g;
  for (uint64_t k = from; k < to; k++) {
    sim_counts before = x->counts;
    g->patience = before.threads + patience;
    sim_sample_begin(x, k, m->c->n);
    if (sim_block_run(x) != SIM_NEXT || x->counts.races > 0 || g->failed ||
        !note_ran(g, x, &before)) return 0;
  }
  return 1;
}

/* ---------------------------------------------------------------- in order */

static struct pending *pending(workers *c, uint64_t stretch) { return &c->logs[stretch % c->nlogs]; }

static int is_due(workers *c) { return !c->replaying && c->replayed < c->taken && pending(c, c->replayed)->ready; }

static void halt(workers *c) { __atomic_store_n(&c->halt, 1, __ATOMIC_RELAXED); }

static void note_length(workers *c, const sim_log *g) {
  for (size_t i = 0; i < g->nran; i++) {
    c->sum += g->ran[i].threads;
    if (g->ran[i].threads > c->longest) c->longest = g->ran[i].threads;
  }
  c->blocks += g->nran;
}

/* What is ready and next. The lock is held, and let go meanwhile. */
static void replay_due(workers *c) {
  while (!c->halt && is_due(c)) {
    struct pending *p = pending(c, c->replayed);
    c->replaying = 1;
    pthread_mutex_unlock(&c->lock);
    int apart = sim_replay(c->x, &p->log, p->first);
    pthread_mutex_lock(&c->lock);
    c->replaying = p->ready = 0;
    c->replayed++;
    note_length(c, &p->log);
    if (!apart) halt(c);
    pthread_cond_broadcast(&c->moved);
  }
}

/* Take stretches until there are none, or `most` have been taken by this thread. */
static void work(worker *m, uint64_t most) {
  workers *c = m->c;
  pthread_mutex_lock(&c->lock);
  while (!c->halt && c->next < c->n && most > 0) {
    if (c->taken - c->replayed == c->nlogs) {
      if (is_due(c)) replay_due(c);
      else pthread_cond_wait(&c->moved, &c->lock);
      continue;
    }
    struct pending *p = pending(c, c->taken++);
    uint64_t from = c->next, to = c->n - from > c->stretch ? from + c->stretch : c->n;
    uint64_t patience = ASTRAY * c->longest + PATIENCE;
    c->next = to;
    p->first = from;
    most--;
    pthread_mutex_unlock(&c->lock);
    int fine = run_blocks(m, &p->log, from, to, patience);
    pthread_mutex_lock(&c->lock);
    p->ready = fine;
    if (!fine) halt(c);
    replay_due(c);
    pthread_cond_broadcast(&c->moved);
  }
  pthread_mutex_unlock(&c->lock);
}

static void *start(void *arg) {
  work(arg, UINT64_MAX);
  return NULL;
}

/* -------------------------------------------------------------- the workers */

/* A block's own, and L1: each thread has one. */
static int worker_make(workers *c) {
  worker *m = &c->threads[c->nthreads];
  sim_exec *x = c->x;
  cawb_err err;
  sim_l1 *l1 = sim_l1_of(x->device, c->nthreads);
  m->c = c;
  if (l1 == NULL || sim_exec_make(&m->exec, x->device, x->function, x->step, &err) != CAWB_OK) return 0;
  m->exec.l1 = l1;
  m->exec.follows = x->follows ? SIM_FOLLOWS_ALONE : SIM_FOLLOWS_NOT;
  m->exec.first_stretch = x->first_stretch;
  m->exec.stretches = x->stretches;
  sim_sample_join(&m->exec, x);
  c->nthreads++;
  return sim_cluster_make(&m->exec, &err) == CAWB_OK;      /* of one block: it takes no memory */
}

static int workers_make(workers *c, sim_exec *x, uint64_t n, unsigned threads) {
  *c = (workers){ .x = x, .n = n, .stretch = 1, .nlogs = AHEAD * threads };
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->moved, NULL);
  c->threads = calloc(threads, sizeof *c->threads);
  c->logs = calloc(c->nlogs, sizeof *c->logs);
  return c->threads != NULL && c->logs != NULL && sim_undo_begin(x->device) && worker_make(c);
}

static void workers_free(workers *c) {
  for (unsigned i = 0; i < c->nthreads; i++) sim_exec_free(&c->threads[i].exec);
  for (unsigned i = 0; c->logs != NULL && i < c->nlogs; i++) {
    free(c->logs[i].log.words);
    free(c->logs[i].log.ran);
  }
  free(c->threads);
  free(c->logs);
  pthread_cond_destroy(&c->moved);
  pthread_mutex_destroy(&c->lock);
}

/* The others' accounts into the launch's. */
static void gather(workers *c) {
  sim_exec *x = c->x;
  uint64_t *sum = (uint64_t *)&x->counts;
  for (unsigned i = 0; i < c->nthreads; i++) {
    const uint64_t *add = (const uint64_t *)&c->threads[i].exec.counts;
    for (size_t k = 0; k < sizeof x->counts / sizeof *sum; k++) sum[k] += add[k];
    for (size_t k = 0; k < sim_traffic_room(x); k++) x->hits[k] += c->threads[i].exec.hits[k];
  }
}

/* Blocks so far say how many are worth taking at once, and whether others should help. */
static int is_worth(workers *c, unsigned threads) {
  uint64_t each = c->sum / c->blocks / SIM_LANES + 1, left = c->n - c->next;
  uint64_t share = left / ((uint64_t)AHEAD * threads) + 1;
  c->stretch = STRETCH / each + 1 < share ? STRETCH / each + 1 : share;
  return c->x->device->threads > 0 || each * left >= WORTH;
}

/* Signals are for the thread that has been there. */
static void help(workers *c, unsigned threads) {
  sigset_t all, were;
  unsigned started = 1;
  while (c->nthreads < threads && worker_make(c)) continue;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &were);
  while (started < c->nthreads &&
         pthread_create(&c->threads[started].thread, NULL, start, &c->threads[started]) == 0) started++;
  pthread_sigmask(SIG_SETMASK, &were, NULL);
  work(&c->threads[0], UINT64_MAX);
  for (unsigned i = 1; i < started; i++) pthread_join(c->threads[i].thread, NULL);
}

static unsigned cores(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  int n = CPU_COUNT(&set);
  return n < 1 ? 1 : (unsigned)n;
}

unsigned sim_workers_count(const sim_exec *x, uint64_t n) {
  unsigned most = x->device->threads > 0 ? x->device->threads : cores();
  if (most > THREADS_MOST) most = THREADS_MOST;
  if (most > n) most = (unsigned)n;
  if (x->function->in_order || x->npeers > 1) return 1;
  if (x->device->threads == 0 && n * x->nwarps < WARPS) return 1;
  return most;
}

int sim_workers_run(sim_exec *x, uint64_t n, unsigned threads) {
  workers c;
  int made = workers_make(&c, x, n, threads);
  if (made) {
    work(&c.threads[0], 1);
    while (!c.halt && c.next < n) {
      if (is_worth(&c, threads)) help(&c, threads);
      else work(&c.threads[0], 1);
    }
    made = !c.halt;
    x->device->beside += (uint64_t)made;
    if (made) gather(&c);
    else sim_undo_restore(x->device);
  }
  sim_undo_end(x->device);
  workers_free(&c);
  return made;
}
