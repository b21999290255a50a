/* cache.c - which sectors L1 and L2 have. See cache.h. */
#include "sim/access/cache.h"

#include "sim/access/l2.h"
#include "sim/instructions/variants.h"
#include "sim/memory/device.h"
#include "sim/memory/log.h"

sim_l1 *sim_l1_of(sim_device *d, unsigned i) {
  while (d->nl1 <= i) {
    sim_l1 **grown = realloc(d->l1, (d->nl1 + 1) * sizeof *grown);
    if (grown == NULL) return NULL;
    d->l1 = grown;
    grown[d->nl1] = calloc(1, sizeof **grown);
    if (grown[d->nl1] == NULL) return NULL;
    d->nl1++;
  }
  return d->l1[i];
}

/* Sectors of a line, of which there are four. */
static inline unsigned sectors_in(uint32_t mask) {
  return (unsigned)(UINT64_C(0x4332322132212110) >> 4 * (mask & 15)) & 15;
}

/* A load touches some of the 4 sectors of a line; returns those that L1 has not. `old`: this
** block has touched them, but longer ago than L2 remembers. */
static inline uint32_t cache_load(sim_warp *w, uint64_t line, uint32_t sectors, uint32_t *old) {
  sim_exec *x = w->exec;
  sim_line *e = &x->l1->line[(line * UINT64_C(0x9e3779b97f4a7c15)) >> 49];
  uint32_t has = e->line & 15, missing = sectors;
  w->touches++;
  x->touches++;
  if (e->line >> 4 != line || e->block != x->cache_block) {
    e->block = x->cache_block;
    has = 0;
    x->news++;
  } else {
    double apart = w->touches > e->touch ? w->touches - e->touch : e->touch - w->touches;
    double age = apart * x->nwarps * (double)(int64_t)x->news, touches = (double)(int64_t)x->touches;
    if (age < x->l1_room * touches) missing &= ~has;
    else {
      if (age >= x->l2_room * touches) *old = sectors & has;
      has = 0;
    }
  }
  e->line = line << 4 | has | sectors;
  e->touch = w->touches;
  x->counts.lines++;
  x->counts.load_hits += sectors_in(sectors & ~missing);
  return missing;
}

static inline unsigned load_line(sim_warp *w, const sim_region *r, uint64_t first, uint32_t sectors) {
  sim_exec *x = w->exec;
  uint32_t old = 0, missing = cache_load(w, ((r->base - x->lowest) >> 7) + (first >> 2), sectors, &old);
  if (missing == 0) return 0;
  x->counts.load_lines++;
  if (x->log == NULL) return l2_load(x, r, first, missing, old);
  sim_log_load(x->log, r, first >> 2, missing, old);
  return SIM_LATER;
}

/* One line of a store; `exact`: all bytes of these sectors are stored to. */
static inline void store_line(sim_warp *w, const sim_region *r, uint64_t first, uint32_t sectors, int whole,
                              int exact) {
  sim_exec *x = w->exec;
  if (!whole) x->counts.partial += sectors_in(sectors);
  if (x->log == NULL) l2_store(x, r, first, sectors, whole);
  else sim_log_store(x->log, r, first >> 2, sectors, whole, exact);
}

/* The sectors of a line that lie between two. */
static inline uint32_t part_of_line(uint64_t line, uint64_t first, uint64_t last) {
  uint32_t mask = 15;
  if (line < first) mask &= 15u << (first - line);
  if (line + 3 > last) mask &= 15u >> (line + 3 - last);
  return mask;
}

unsigned sim_cache_load_range(sim_warp *w, const sim_region *r, uint64_t first, uint64_t last) {
  unsigned worst = 0;
  for (uint64_t line = first & ~UINT64_C(3); line <= last; line += 4) {
    unsigned level = load_line(w, r, line, part_of_line(line, first, last));
    if (level > worst) worst = level;
  }
  return worst;
}

void sim_cache_store_range(sim_warp *w, const sim_region *r, uint64_t first, uint64_t last, int whole,
                               int exact) {
  for (uint64_t line = first & ~UINT64_C(3); line <= last; line += 4)
    store_line(w, r, line, part_of_line(line, first, last), whole, exact);
}

/* Of sectors in the order of the lanes, the next line's; `k` goes on behind them. */
static inline uint32_t next_line(const uint64_t *sector, unsigned n, unsigned *k, uint64_t *line) {
  uint32_t mask = 0;
  *line = sector[*k] & ~UINT64_C(3);
  for (; *k < n && (sector[*k] & ~UINT64_C(3)) == *line; (*k)++) mask |= 1u << (sector[*k] & 3);
  return mask;
}

unsigned sim_cache_load_list(sim_warp *w, const sim_region *r, const uint64_t *sector, unsigned n) {
  unsigned worst = 0;
  uint64_t line;
  for (unsigned k = 0; k < n;) {
    uint32_t mask = next_line(sector, n, &k, &line);
    unsigned level = load_line(w, r, line, mask);
    if (level > worst) worst = level;
  }
  return worst;
}

void sim_cache_store_list(sim_warp *w, const sim_region *r, const uint64_t *sector, unsigned n, int whole) {
  uint64_t line;
  for (unsigned k = 0; k < n;) {
    uint32_t mask = next_line(sector, n, &k, &line);
    store_line(w, r, line, mask, whole, 0);
  }
}

static int is_whole(const sim_insn *in) {
  return in->mode != A_ADD || in->type[0] == 'u' || in->type[0] == 's';
}

void sim_cache_hot(sim_exec *x, const sim_insn *in, const uint64_t *addr, uint32_t mask) {
  const sim_model *m = x->device->model;
  uint64_t last = 0;
  int whole = is_whole(in);
  uint32_t clocks = (uint32_t)(SIM_CLOCK * (whole ? m->atomic_integer : m->atomic_same) + 0.5);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(mask >> l & 1) || (whole && addr[l] == last)) continue;
    last = addr[l];
    uint32_t *n = &x->hot[((last >> 7) * UINT64_C(0x9e3779b97f4a7c15)) >> 54 & (SIM_HOT - 1)];
    *n += clocks;
    if (*n > x->counts.hottest) x->counts.hottest = *n;
  }
}
