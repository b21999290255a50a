/*
** sample.c - which blocks of a grid are executed, and what the others are taken to do. All
** of them, unless the device was told to sample: then the grid is cut into stretches and one
** block of each is executed, every second stretch first. Blocks that wait for each other are
** not cut apart: of those the first ones are taken.
**
** Sectors do not add up like instructions, because blocks share them. If every block touches
** its part of T sectors by chance, n blocks touch U(n) = T (1 - q^n); q and T follow from what
** half the sample and the whole of it touched:
**
**   v = U(n) / U(n/2) - 1 = q^(n/2)     U(B) = U(n) (1 - v^(2B/n)) / (1 - v^2)
**
** For v = 1, blocks that share nothing, that is U(n) B / n. No more than there is can be
** touched.
*/
#include "sim/access/cache.h"
#include "sim/memory/device.h"
#include "sim/time/time.h"

#include <math.h>
#include <string.h>

uint64_t sim_sample_blocks(const cawb_step *s) { return (uint64_t)s->grid[0] * s->grid[1] * s->grid[2]; }

static uint64_t mixed(uint64_t k) {
  k = (k ^ (k >> 31)) * UINT64_C(0x9e3779b97f4a7c15);
  return k ^ (k >> 29);
}

/* The k-th cluster that is executed, of n of all. */
static uint64_t pick(const sim_exec *x, uint64_t k, uint64_t n, uint64_t all) {
  uint64_t half = (n + 1) / 2;
  if (n == all || x->function->fences) return k;
  uint64_t stretch = k < half ? 2 * k : 2 * (k - half) + 1;
  uint64_t from = (uint64_t)((double)all * (double)stretch / (double)n);
  uint64_t to = (uint64_t)((double)all * (double)(stretch + 1) / (double)n);
  return to > from ? from + mixed(stretch) % (to - from) : from;
}

static void enter(sim_exec *x) {
  if (++x->l1->block == 0) x->l1->block = 1;
  x->cache_block = x->l1->block;
  x->touches = x->news = 0;
  for (unsigned i = 0; i < x->nwarps; i++) x->warps[i].touches = 0;
}

/* The first block of a cluster, of one block most often. */
static void begin(sim_exec *x, uint64_t number) {
  const unsigned *g = x->step->grid, *c = x->cluster;
  unsigned wide = g[0] / c[0], high = g[1] / c[1];
  x->block[0] = (unsigned)(number % wide) * c[0];
  x->block[1] = (unsigned)(number / wide % high) * c[1];
  x->block[2] = (unsigned)(number / wide / high) * c[2];
  x->serial = (x->block[2] * g[1] + x->block[1]) * g[0] + x->block[0];
  enter(x);
}

void sim_sample_join(sim_exec *p, const sim_exec *x) {
  p->l1_room = x->l1_room;
  p->l2_room = x->l2_room;
  p->l2_sectors = x->l2_sectors;
  p->at_once = x->at_once;
  p->block_sectors = x->block_sectors;
  p->first_stamp = x->first_stamp;
  p->lowest = x->lowest;
  enter(p);
}

/* ------------------------------------------------------------------- sectors */

static void count_region(const sim_region *r, sim_sectors *s) {
  for (size_t k = 0; k < 2 * r->words; k++) {
    uint64_t now = r->bits[k], run = r->bits[k + SIM_READS_RUN * r->words];
    if (now == 0 && run == 0) continue;
    s->fresh += (double)__builtin_popcountll(now & ~run);
    s->again += (double)__builtin_popcountll(now & run);
    s->earlier += (double)__builtin_popcountll(run);
  }
}

/* The share of the sectors touched first that were written. */
static double written_share(const sim_region *r) {
  double reads = 0, writes = 0;
  for (size_t k = 0; k < r->words; k++) {
    reads += (double)__builtin_popcountll(r->bits[k] & ~r->bits[k + SIM_READS_RUN * r->words]);
    writes += (double)__builtin_popcountll(r->bits[k + r->words] & ~r->bits[k + SIM_WRITES_RUN * r->words]);
  }
  return reads + writes > 0 ? writes / (reads + writes) : 0;
}

/* The most that can be touched: read and written are counted apart. */
static double most_of(const sim_region *r) {
  int read = 0, written = 0;
  for (size_t k = 0; k < r->words && !(read && written); k++) {
    read |= r->bits[k] != 0;
    written |= r->bits[k + r->words] != 0;
  }
  return ((double)r->size / 32 + 1) * (read + written);
}

static sim_sectors seen_of(const sim_region *r) {
  sim_sectors s = { 0, 0, 0 };
  count_region(r, &s);
  return s;
}

static void note_half(sim_device *d) {
  for (unsigned i = SIM_SLOT_FIRST; i < d->nslots; i++)
    if (d->slots[i] != NULL) d->slots[i]->half = seen_of(d->slots[i]);
}

/* What all blocks touch, by what half of the sample and the sample did. */
static double all_of(double half, double whole, double ratio, double most) {
  double v = half > 0 ? whole / half - 1 : 1, all;
  if (!(v > 0)) all = whole;
  else if (v >= 0.999) all = whole * ratio;
  else all = whole * (1 - pow(v, 2 * ratio)) / (1 - v * v);
  return all < most ? all : most;
}

/* Sectors that the launch touched; from now on they belong to the run. */
void sim_sample_sectors(sim_exec *x, sim_sectors *sum) {
  double ratio = (double)sim_sample_blocks(x->step) / (double)(x->executed > 0 ? x->executed : 1);
  for (unsigned i = SIM_SLOT_FIRST; i < x->device->nslots; i++) {
    sim_region *r = x->device->slots[i];
    if (r == NULL) continue;
    sim_sectors s = seen_of(r);
    if (ratio > 1) {
      double most = most_of(r);
      s.fresh = all_of(r->half.fresh, s.fresh, ratio, most);
      s.again = all_of(r->half.again, s.again, ratio, most);
      double seen = seen_of(r).fresh, room = 2 * ((double)r->size / 32 + 1);
      s.earlier = s.earlier * r->grown < room ? s.earlier * r->grown : room;
      if (seen > 0) r->grown = s.fresh / seen;
    }
    sum->fresh += s.fresh;
    if (s.fresh > 0) x->facts.written += s.fresh * written_share(r);
    sum->again += s.again;
    sum->earlier += s.earlier;
    for (size_t k = 0; k < 2 * r->words; k++) {
      r->bits[k + SIM_READS_RUN * r->words] |= r->bits[k];
      if (x->device->follows_ahead) r->bits[k + SIM_READS_AHEAD * r->words] |= r->bits[k];
      r->bits[k] = 0;
    }
  }
}

/* ------------------------------------------------------------------- the grid */

/* Room in the caches for what one block fetches. */
void sim_sample_room(sim_exec *x) {
  const sim_model *m = x->device->model;
  double blocks = (double)sim_sample_blocks(x->step), here = ceil(blocks / m->sms), resident = sim_resident(m, x);
  if (here > resident) here = resident;
  double l1 = m->l1 - (x->shared_size > 0 ? here * ((double)x->shared_size + 1024) : 0);
  double on_gpu = here * m->sms < blocks ? here * m->sms : blocks;
  x->l1_room = (l1 > 8192 ? l1 : 8192) / 128 / here;
  x->l2_room = m->l2 * m->l2_share / 128 / on_gpu;
  x->l2_sectors = m->l2 * m->l2_share / 32;
  x->at_once = on_gpu;
  for (unsigned i = SIM_SLOT_FIRST; i < x->device->nslots && x->lowest == 0; i++)
    if (x->device->slots[i] != NULL) x->lowest = x->device->slots[i]->base;
}

/* Numbers for the blocks in the regions' `last`. */
void sim_sample_stamps(sim_exec *x) {
  sim_device *d = x->device;
  uint64_t blocks = sim_sample_blocks(x->step);
  if (blocks >= UINT32_MAX - d->last_stamp) {
    for (unsigned i = SIM_SLOT_FIRST; i < d->nslots; i++)
      if (d->slots[i] != NULL) memset(d->slots[i]->last, 0, (d->slots[i]->size / 128 + 1) * sizeof(uint32_t));
    d->last_stamp = 0;
  }
  x->first_stamp = d->last_stamp + 1;
  d->last_stamp += blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX - 1;
}

void sim_sample_begin(sim_exec *x, uint64_t k, uint64_t n) {
  begin(x, pick(x, k, n, sim_sample_blocks(x->step) / x->npeers));
}

void sim_sample_ran(sim_exec *x, uint64_t k, double threads) {
  uint64_t n = x->executed / x->npeers;
  x->longest = threads > x->longest ? threads : x->longest;
  x->squares += threads * threads;
  x->block_sectors = (double)x->counts.filled / (double)((k + 1) * x->npeers);
  if (x->executed < sim_sample_blocks(x->step) && k + 1 == (n + 1) / 2) note_half(x->device);
}

/* The multiprocessor that has the least to do gets the next block. */
static unsigned idlest(const sim_device *d, unsigned sms) {
  unsigned best = 0;
  for (unsigned i = 1; i < sms; i++)
    if (d->sms[i] < d->sms[best]) best = i;
  return best;
}

/* A block: clocks that it takes for itself, and those that the units of its multiprocessor take. */
static void place(sim_exec *x, double clocks, double work) {
  sim_chains *c = &x->chains;
  unsigned sms = (unsigned)x->device->model->sms, i = c->blocks < sms ? (unsigned)c->blocks : idlest(x->device, sms);
  double *crowds = x->device->sms, *works = x->device->sms + sms;
  crowds[i] += clocks + work;
  works[i] += work;
  c->blocks++;
  c->sum += clocks + work;
  c->work += work;
  c->longest = fmax(c->longest, clocks);
  c->crowd = fmax(c->crowd, crowds[i]);
  c->busiest = fmax(c->busiest, works[i]);
}

void sim_sample_ended(sim_exec *x, unsigned blocks, const sim_spent *spent, const sim_moves *moves) {
  const sim_model *m = x->device->model;
  double clocks = ((double)spent->clocks + (double)spent->waits * sim_wait(m, moves)) / SIM_CLOCK;
  double work = fmax((double)moves->lines / m->l1_wave, (double)moves->waves / m->shared_wave);
  work = fmax(work, (double)spent->slots / SIM_CLOCK / m->issue);
  for (unsigned i = 0; i < blocks; i++) place(x, clocks, work / blocks);
}

/* How sure the mean of the sample is: its standard error over itself. */
double sim_sample_spread(const sim_exec *x) {
  double n = (double)x->executed / x->npeers, mean = (double)x->counts.threads / (double)x->executed;
  if (x->executed == sim_sample_blocks(x->step) || n < 2 || !(mean > 0)) return 0;
  double variance = (x->squares / n - mean * mean) * n / (n - 1);
  return variance > 0 ? sqrt(variance / n) / mean : 0;
}
