/* census_flow.c - see census_flow.h. A table of open addressing; when it is nearly full,
** further registers are not followed. */
#include "ptx/census_flow.h"

#include <string.h>

static unsigned hash(cawb_ptx_word w) {
  uint32_t h = 2166136261u;                      /* FNV-1a */
  for (size_t i = 0; i < w.size; i++) h = (h ^ (unsigned char)w.text[i]) * 16777619u;
  return h % CENSUS_SLOTS;
}

static int same(cawb_ptx_word a, cawb_ptx_word b) {
  return a.size == b.size && memcmp(a.text, b.text, a.size) == 0;
}

/* The slot of a register, or the free one where it would go. */
static unsigned find(const census_flow *f, cawb_ptx_word reg) {
  unsigned i = hash(reg);
  while (f->slot[i].reg.size > 0 && !same(f->slot[i].reg, reg)) i = (i + 1) % CENSUS_SLOTS;
  return i;
}

uint64_t cawb_census_bit(unsigned source) {
  return 1ull << (source < CENSUS_SOURCES ? source : CENSUS_SOURCES - 1);
}

void cawb_census_learn(census_flow *f, cawb_ptx_word reg, uint64_t from) {
  unsigned i = find(f, reg);
  if (from == 0 || (f->slot[i].from | from) == f->slot[i].from) return;
  if (f->slot[i].reg.size == 0 && f->used >= CENSUS_SLOTS * 3 / 4) return;
  if (f->slot[i].reg.size == 0) f->used++;
  f->slot[i].reg = reg;
  f->slot[i].from |= from;
  f->changed = 1;
}

uint64_t cawb_census_from(const census_flow *f, cawb_ptx_word reg) {
  return f->slot[find(f, reg)].from;
}
