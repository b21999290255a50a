/* global.c - accesses to global memory: sectors touched, and counts. See global.h. */
#include "sim/access/global.h"

#include "sim/access/cache.h"
#include "sim/exec/fault.h"
#include "sim/exec/traffic.h"
#include "sim/memory/log.h"
#include "sim/watch/ahead.h"

/* The 32-byte sectors that the lanes touch, each once; each lane lies within one. */
static unsigned mixed_sectors(uint64_t base, const uint64_t *addr, uint32_t mask, uint64_t *seen) {
  uint64_t last = UINT64_MAX;
  unsigned count = 0, rising = 1;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(mask >> l & 1)) continue;
    uint64_t s = (addr[l] - base) >> 5;
    if (s == last) continue;
    if (count > 0 && s < last) rising = 0;
    if (!rising) {
      unsigned k = 0;
      while (k < count && seen[k] != s) k++;
      if (k < count) { last = s; continue; }
    }
    seen[count++] = last = s;
  }
  return count;
}

static unsigned lines_of(const uint64_t *sector, unsigned n) {
  unsigned lines = 0;
  for (unsigned k = 0; k < n; k++) lines += k == 0 || (sector[k] >> 2) != (sector[k - 1] >> 2);
  return lines;
}

static inline void touch_list(uint64_t *bits, const uint64_t *sector, unsigned n) {
  for (unsigned k = 0; k < n; k++) bits[sector[k] >> 6] |= UINT64_C(1) << (sector[k] & 63);
}

/* A request of `n` sectors in `lines` lines, of a load at `level`. */
static inline void count_request(sim_exec *x, int how, unsigned n, unsigned lines, unsigned level) {
  x->counts.global_requests++;
  x->counts.global_sectors += n;
  if (how == READ) {
    x->counts.load_requests++;
    x->counts.load_sectors += n;
    if (level != SIM_LATER) x->counts.level[level]++;
  } else x->counts.lines += lines;
  if (how == WRITE) x->counts.store_requests++, x->counts.store_sectors += n;
  if (how == ATOMIC) x->counts.atomic_requests++, x->counts.atomic_sectors += n;
}

/* What a store changes, line by line, for sim/cores/replay.c. */
static void log_range(sim_log *g, const sim_region *r, uint64_t from, uint64_t to) {
  for (uint64_t line = from >> 7; line <= (to - 1) >> 7; line++) {
    uint64_t start = line << 7;
    sim_log_bytes(g, r, line, from > start ? (unsigned)(from - start) : 0,
                  to - start < 128 ? (unsigned)(to - start) : 128);
  }
}

static void log_mixed(sim_warp *w, const sim_region *r, const uint64_t *addr, unsigned size) {
  uint64_t from = 0, to = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    uint64_t off = addr[l] - r->base;
    if (!(w->mask >> l & 1)) continue;
    if (off == to && to > from) { to += size; continue; }
    if (to > from) log_range(w->exec->log, r, from, to);
    from = off;
    to = off + size;
  }
  if (to > from) log_range(w->exec->log, r, from, to);
}

int sim_global_may_store(sim_warp *w, sim_region *r, uint64_t from, uint64_t to) {
  sim_log *g = w->exec->log;
  if (g == NULL) return 1;
  if (r->constant || !sim_undo_note(w->exec->device, r, from, to)) g->failed = 1;
  return !g->failed;
}

static int may_scatter(sim_warp *w, sim_region *r, const uint64_t *addr, unsigned size) {
  int may = 1;
  for (unsigned l = 0; l < SIM_LANES && may; l++)
    if (w->mask >> l & 1) may = sim_global_may_store(w, r, addr[l] - r->base, addr[l] - r->base + size);
  return may;
}

static void count_mixed(sim_warp *w, const sim_region *r, const uint64_t *addr, unsigned size, int how) {
  sim_log *g = w->exec->log;
  uint64_t seen[SIM_LANES], *reads = r->bits + SIM_READS_NOW * r->words;
  unsigned n = mixed_sectors(r->base, addr, w->mask, seen), level = 0;
  for (unsigned k = 0; w->ahead && k < n; k++) sim_ahead_access(w, r, seen[k], seen[k], how);
  if (g != NULL) g->begins = 1;
  if (how == READ) level = sim_cache_load_list(w, r, seen, n);
  else sim_cache_store_list(w, r, seen, n, how == WRITE && size * (unsigned)__builtin_popcount(w->mask) >= n * 32);
  if (g != NULL && how != READ) log_mixed(w, r, addr, size);
  if (g == NULL && how != WRITE) touch_list(reads, seen, n);
  if (g == NULL && how != READ) touch_list(r->bits + SIM_WRITES_NOW * r->words, seen, n);
  count_request(w->exec, how, n, how == READ ? 0 : lines_of(seen, n), level);
}

void sim_global_range(sim_warp *w, const sim_region *r, uint64_t from, uint64_t to, int how) {
  sim_log *g = w->exec->log;
  uint64_t first = from >> 5, last = (to - 1) >> 5;
  int exact = ((from | to) & 31) == 0;
  if (g != NULL) g->begins = 1;
  if (w->ahead) sim_ahead_access(w, r, first, last, how);
  unsigned level = how == READ ? sim_cache_load_range(w, r, first, last) : 0;
  if (how != READ) sim_cache_store_range(w, r, first, last, first != last, exact);
  if (g != NULL && how != READ && !exact) log_range(g, r, from, to);
  if (g == NULL && how != WRITE) touch_range(r->bits + SIM_READS_NOW * r->words, first, last);
  if (g == NULL && how != READ) touch_range(r->bits + SIM_WRITES_NOW * r->words, first, last);
  count_request(w->exec, how, (unsigned)(last - first) + 1, (unsigned)((last >> 2) - (first >> 2)) + 1, level);
}

int sim_global_count(sim_warp *w, const sim_insn *in, sim_region *r, const uint64_t *addr, unsigned size, int how,
                     int pattern, uint64_t lo, uint64_t hi) {
  uint64_t from = lo - r->base, to = hi - r->base + size;
  if (w->exec->log != NULL && how != READ &&
      !(pattern == MIXED ? may_scatter(w, r, addr, size) : sim_global_may_store(w, r, from, to))) return SIM_FAULT;
  uint64_t requests = w->exec->counts.global_requests, sectors = w->exec->counts.global_sectors;
  if (pattern == MIXED) count_mixed(w, r, addr, size, how);
  else sim_global_range(w, r, from, to, how);
  if (__builtin_expect(w->exec->by_line, 0))
    sim_traffic_global(w->exec, in, w->exec->counts.global_requests - requests, w->exec->counts.global_sectors - sectors);
  if (how == ATOMIC) sim_cache_hot(w->exec, in, addr, w->mask);
  return SIM_NEXT;
}

int sim_global_fault(sim_warp *w, const sim_insn *in, const uint64_t *addr, unsigned size, int how) {
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    const sim_region *r = sim_region_at(w->exec->device, addr[l]);
    if (r == NULL || addr[l] - r->base >= r->size || r->size - (addr[l] - r->base) < size)
      return sim_fault_memory(w, in, SIM_FAULT_ADDRESS, l, addr[l], size, SIM_GLOBAL, how);
    if (addr[l] & (size - 1))
      return sim_fault_memory(w, in, SIM_FAULT_ALIGN, l, addr[l], size, SIM_GLOBAL, how);
  }
  return SIM_SPLIT;          /* every lane is right, but they lie in several regions */
}
