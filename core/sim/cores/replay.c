/*
** replay.c - accounts of blocks that ran beside each other, in the order in which they would
** have run: what L2 has of what they touched, and whether any of them came into another's way.
**
** A block that reads a sector which an earlier one has stored to, that stores to a byte which an
** earlier one has stored to, or to a sector which an earlier one has read, may have seen or left
** something else than it does in order. A sector is no finer than that, so blocks may be taken
** to meet which do not; they run in order then, and nothing is lost but time.
*/
#include "sim/access/l2.h"
#include "sim/cores/cores.h"
#include "sim/exec/block.h"
#include "sim/memory/device.h"
#include "sim/memory/log.h"
#include "sim/time/time.h"

static uint32_t bits_at(const sim_region *r, int map, uint64_t line) {
  const uint64_t *bits = r->bits + (size_t)map * r->words;
  return (uint32_t)(bits[line >> 4] >> (line & 15) * 4) & 15;
}

static void touch(sim_region *r, int map, uint64_t line, uint32_t sectors) {
  r->bits[(size_t)map * r->words + (line >> 4)] |= (uint64_t)sectors << (line & 15) * 4;
}

/* Of a line, which bytes blocks of this launch have stored to: two words. */
static uint64_t *bytes_of(const sim_region *r, uint64_t line) {
  sim_chunk *c = __atomic_load_n(&r->chunks[line / (SIM_CHUNK / 128)], __ATOMIC_ACQUIRE);
  return c->bytes + line % (SIM_CHUNK / 128) * 2;
}

static uint64_t all_bytes(uint32_t sectors, unsigned half) {
  uint32_t two = sectors >> 2 * half & 3;
  return (two & 1 ? UINT64_C(0xffffffff) : 0) | (two & 2 ? UINT64_C(0xffffffff) << 32 : 0);
}

/* Whether a line's access meets that of an earlier block. */
static int meets(const sim_region *r, const uint64_t *at) {
  uint64_t line = SIM_LOG_LINE(*at);
  uint32_t sectors = SIM_LOG_SECTORS(*at), stored = bits_at(r, SIM_WRITES_NOW, line);
  if (SIM_LOG_KIND(*at) == SIM_LOG_LOAD) return (stored & sectors) != 0;
  if (SIM_LOG_KIND(*at) != SIM_LOG_BYTES && (bits_at(r, SIM_READS_NOW, line) & sectors) != 0) return 1;
  if (stored == 0 || SIM_LOG_KIND(*at) == SIM_LOG_STORE) return 0;
  const uint64_t *bytes = bytes_of(r, line);
  for (unsigned k = 0; k < 2; k++) {
    uint64_t now = SIM_LOG_KIND(*at) == SIM_LOG_BYTES ? at[k + 1] : all_bytes(sectors, k);
    if (bytes[k] & now) return 1;
  }
  return 0;
}

static size_t length(const uint64_t *at) { return SIM_LOG_KIND(*at) == SIM_LOG_BYTES ? 3 : 1; }

static int any_meets(const sim_device *d, const uint64_t *at, const uint64_t *end) {
  for (; at < end; at += length(at))
    if (meets(d->slots[SIM_LOG_SLOT(*at)], at)) return 1;
  return 0;
}

/* A load's lines, side by side in the log. Returns what lies behind them. */
static const uint64_t *load(sim_exec *x, const uint64_t *at, const uint64_t *end) {
  sim_region **slots = x->device->slots;
  const uint64_t *from = at;
  unsigned worst = 0;
  for (; at < end && SIM_LOG_KIND(*at) == SIM_LOG_LOAD && (at == from || !SIM_LOG_FLAG(*at)); at++) {
    unsigned level = l2_load(x, slots[SIM_LOG_SLOT(*at)], SIM_LOG_LINE(*at) * 4, SIM_LOG_SECTORS(*at),
                             SIM_LOG_OLD(*at));
    if (level > worst) worst = level;
  }
  x->counts.level[worst]++;
  for (; from < at; from++)
    touch(slots[SIM_LOG_SLOT(*from)], SIM_READS_NOW, SIM_LOG_LINE(*from), SIM_LOG_SECTORS(*from));
  return at;
}

static const uint64_t *store(sim_exec *x, const uint64_t *at) {
  sim_region *r = x->device->slots[SIM_LOG_SLOT(*at)];
  uint64_t line = SIM_LOG_LINE(*at), *bytes = bytes_of(r, line);
  uint32_t sectors = SIM_LOG_SECTORS(*at);
  unsigned kind = SIM_LOG_KIND(*at);
  if (kind != SIM_LOG_BYTES) {
    l2_store(x, r, line * 4, sectors, (int)SIM_LOG_FLAG(*at));
    touch(r, SIM_WRITES_NOW, line, sectors);
  }
  for (unsigned k = 0; k < 2 && kind != SIM_LOG_STORE; k++)
    bytes[k] |= kind == SIM_LOG_BYTES ? at[k + 1] : all_bytes(sectors, k);
  return at + length(at);
}

int sim_replay(sim_exec *x, const sim_log *g, uint64_t first) {
  const uint64_t *at = g->words;
  for (size_t i = 0; i < g->nran; i++) {
    const uint64_t *end = g->words + g->ran[i].end;
    if (any_meets(x->device, at, end)) return 0;
    sim_counts before = x->counts;
    x->serial = g->ran[i].serial;
    while (at < end) at = SIM_LOG_KIND(*at) == SIM_LOG_LOAD ? load(x, at, end) : store(x, at);
    sim_moves moves = g->ran[i].moves;
    sim_moves_add(&moves, &before, &x->counts);
    sim_sample_ended(x, 1, &g->ran[i].spent, &moves);
    sim_sample_ran(x, first + i, (double)g->ran[i].threads);
  }
  return 1;
}
