/*
** shape.c - how the lanes of a shared access lie to each other: bank conflicts, the units of the
** race detector, and where its elements are fetched from. All of it follows from the lanes'
** distances, so it is worked out once and looked up from then on.
*/
#include "sim/access/shared.h"

/*
** 32 banks of 4 bytes, one word each a pass. 8-byte accesses go by half warps
** and 16-byte accesses by quarter warps, as if to 16 and 8 wider banks.
*/
static unsigned group_waves(const uint32_t *addr, uint32_t mask, unsigned size, unsigned *least) {
  unsigned shift = size == 16 ? 4 : size == 8 ? 3 : 2, group = SIM_LANES >> (shift - 2), total = 0;
  uint32_t words[32][32];
  for (unsigned first = 0; first < SIM_LANES; first += group) {
    uint8_t count[32] = { 0 };
    unsigned worst = 0;
    for (unsigned l = first; l < first + group; l++) {
      if (!(mask >> l & 1)) continue;
      uint32_t word = addr[l] >> shift, bank = word & (group - 1), k = 0;
      while (k < count[bank] && words[bank][k] != word) k++;
      if (k < count[bank]) continue;
      words[bank][count[bank]++] = word;
      if (count[bank] > worst) worst = count[bank];
    }
    total += worst;
    *least += worst > 0;
  }
  return total;
}

/* Whether the lanes from `first` on touch no bank twice, each word being fetched once. */
static int fits_one_wave(const uint32_t *addr, uint32_t mask, unsigned size, unsigned first, unsigned lanes) {
  uint32_t word[SIM_LANES] = { 0 }, used = 0;
  for (unsigned l = first; l < first + lanes; l++) {
    if (!(mask >> l & 1)) continue;
    for (uint32_t at = addr[l] >> 2; at < (addr[l] + size) >> 2; at++) {
      if ((used >> (at & 31) & 1) && word[at & 31] != at) return 0;
      used |= 1u << (at & 31);
      word[at & 31] = at;
    }
  }
  return used != 0;
}

unsigned sim_shape_wavefronts(const uint32_t *addr, uint32_t mask, unsigned size, unsigned *least) {
  unsigned lanes = size == 16 ? 16 : 32, total = 0;
  *least = 0;
  if (size < 8) return group_waves(addr, mask, size, least);
  for (unsigned first = 0; first < SIM_LANES; first += lanes) {
    uint32_t part = mask & (uint32_t)(((UINT64_C(1) << lanes) - 1) << first);
    if (fits_one_wave(addr, part, size, first, lanes)) total++, (*least)++;
    else total += group_waves(addr, part, size, least);
  }
  return total;
}

/* The units that the lanes touch, as ranges from the first lane's: merged, but
   a range may appear twice, which does no harm. */
static void make_ranges(sim_shape *s, const uint32_t *apart, uint32_t mask, unsigned size, unsigned grain) {
  s->ranges = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(mask >> l & 1)) continue;
    int32_t first = (int32_t)apart[l] >> grain, n = (int32_t)(size >> grain), k = 0;
    if (n == 0) n = 1;
    for (; k < s->ranges; k++) {
      int32_t from = s->range[k].first, to = from + s->range[k].count;
      if (first >= from && first + n <= to) break;
      if (first == to) { s->range[k].count += n; break; }
    }
    if (k == s->ranges) s->range[s->ranges++] = (struct sim_range){ first, n };
  }
}

/* Lanes that share a place; accesses are aligned, so they share all of it. */
static int crossed(const uint32_t *apart, uint32_t mask) {
  for (unsigned l = 1; l < SIM_LANES; l++)
    for (unsigned k = 0; k < l; k++)
      if ((mask >> l & mask >> k & 1) && apart[k] == apart[l]) return 1;
  return 0;
}

static inline int shared_pattern(const uint32_t *addr, uint32_t mask, unsigned size) {
  if (mask != SIM_ALL) return MIXED;
  uint32_t first = addr[0], uneven = 0, differ = 0;
  SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) {
    uneven |= addr[l] ^ (first + l * size);
    differ |= addr[l] ^ first;
  }
  return uneven == 0 ? DENSE : differ == 0 ? SAME : MIXED;
}

/* The extent of the lanes, and what follows from it. */
static void measure_shape(sim_shape *s, uint32_t mask) {
  s->from = s->to = 0;
  s->odd = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    int32_t at = (int32_t)s->apart[l];
    if (at < s->from) s->from = at;
    if (at > s->to) s->to = at;
    s->odd |= s->apart[l];
  }
  uint32_t place = 0;
  s->pair = mask == SIM_ALL && s->odd != 0;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (place == 0) place = s->apart[l];
    if (s->apart[l] != 0 && s->apart[l] != place) s->pair = 0;
  }
  uint64_t words = ((uint64_t)((int64_t)s->to - s->from) + s->size + 3) / 4;
  s->words = mask == SIM_ALL && s->size >= 4 && words <= 64 ? (uint32_t)words : 0;
  for (unsigned l = 0; l < SIM_LANES; l++) s->word[l] = (s->apart[l] - (uint32_t)s->from) / 4;
}

/* Units that are not side by side are looked at with those between them, where these are few. */
static void mark_units(sim_shape *s, unsigned grain) {
  int64_t units = (((int64_t)s->to - s->from) >> grain) + (s->size >> grain);
  s->units = 0;
  if (s->ranges < 2 || units > SIM_SPAN || units > 16 * (int64_t)s->ranges) return;
  s->units = ((uint32_t)units + 15u) & ~15u;
  memset(s->touched, 0, sizeof s->touched);
  for (int32_t k = 0; k < s->ranges; k++)
    for (int32_t i = 0; i < s->range[k].count; i++) s->touched[s->range[k].first - (s->from >> grain) + i] = UINT32_MAX;
}

void sim_shape_fill(sim_exec *x, sim_shape *s, const uint32_t *addr, const uint32_t *apart) {
  memcpy(s->apart, apart, sizeof s->apart);
  measure_shape(s, s->mask);
  s->pattern = shared_pattern(addr, s->mask, s->size);
  if (s->pattern != MIXED) {
    s->waves = s->least = s->pattern == SAME || s->size < 4 ? 1 : s->size / 4;
    int32_t units = (int32_t)(s->size >> x->grain);
    s->range[0] = (struct sim_range){ 0, s->pattern == DENSE ? units * (int32_t)SIM_LANES : units };
    s->ranges = 1;
    s->units = 0;
    return;
  }
  s->waves = sim_shape_wavefronts(addr, s->mask, s->size, &s->least);
  if (crossed(apart, s->mask)) s->pattern = CROSSED;
  make_ranges(s, apart, s->mask, s->size, x->grain);
  mark_units(s, x->grain);
}
