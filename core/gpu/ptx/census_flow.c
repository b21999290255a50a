/* census_flow.c - see census_flow.h. */
#include "gpu/ptx/census_flow.h"

#include <stdlib.h>
#include <string.h>

/* About a second, and what any compiled kernel stays far below. */
static const size_t most_bytes = (size_t)128 << 20, most_work = (size_t)1 << 30;

enum { CHUNK = 1 << 16, FIRST_ROOM = 1 << 10 };

typedef struct census_chunk {
  struct census_chunk *next;
  size_t used, room;             /* words */
  uint64_t words[];
} census_chunk;

typedef struct census_slot {
  size_t scope;
  cawb_ptx_word name;            /* of no size: free */
  census_set set;
} census_slot;

static const char too_large[] = "the module is too large to be followed";

static int lose(census_flow *f) {
  if (f->lost == NULL) f->lost = too_large;
  return 0;
}

void cawb_census_work(census_flow *f, size_t work) {
  f->work += work;
  if (f->work > most_work) lose(f);
}

/* A set of nothing; NULL when there is no room. */
static census_set new_set(census_flow *f) {
  census_chunk *c = f->chunks;
  if (c == NULL || c->room - c->used < f->width) {
    size_t room = f->width > CHUNK ? f->width : CHUNK;
    if (f->bytes + room * sizeof *c->words > most_bytes) return NULL;
    c = calloc(1, sizeof *c + room * sizeof *c->words);
    if (c == NULL) return NULL;
    c->room = room;
    c->next = f->chunks;
    f->chunks = c;
    f->bytes += room * sizeof *c->words;
  }
  c->used += f->width;
  return c->words + c->used - f->width;
}

int cawb_census_flow_begin(census_flow *f, size_t nobjects) {
  memset(f, 0, sizeof *f);
  f->nobjects = nobjects;
  f->width = nobjects / 64 + 1;
  f->room = FIRST_ROOM;
  f->slot = calloc(f->room, sizeof *f->slot);
  f->content = calloc(nobjects, sizeof *f->content);
  if (f->slot == NULL || f->content == NULL) return 0;
  for (int i = 0; i < CENSUS_TEMPS; i++)
    if ((f->temp[i] = calloc(f->width, sizeof *f->temp[i])) == NULL) return 0;
  for (size_t i = 0; i < nobjects && f->lost == NULL; i++)
    if ((f->content[i] = new_set(f)) == NULL) lose(f);
  return 1;
}

void cawb_census_flow_end(census_flow *f) {
  while (f->chunks != NULL) {
    census_chunk *next = f->chunks->next;
    free(f->chunks);
    f->chunks = next;
  }
  free(f->slot);
  free(f->content);
  for (int i = 0; i < CENSUS_TEMPS; i++) free(f->temp[i]);
  memset(f, 0, sizeof *f);
}

/* ---------------------------------------------------------------- registers */

static size_t hash(size_t scope, cawb_ptx_word w) {
  uint64_t h = 14695981039346656037ull ^ scope;          /* FNV-1a */
  for (size_t i = 0; i < w.size; i++) h = (h ^ (unsigned char)w.text[i]) * 1099511628211ull;
  return (size_t)(h ^ h >> 29);
}

/* The slot of a register, or the free one where it would go. */
static census_slot *find(const census_flow *f, size_t scope, cawb_ptx_word name) {
  size_t i = hash(scope, name) & (f->room - 1);
  for (;; i = (i + 1) & (f->room - 1)) {
    census_slot *s = &f->slot[i];
    if (s->name.size == 0) return s;
    if (s->scope == scope && s->name.size == name.size && memcmp(s->name.text, name.text, name.size) == 0) return s;
  }
}

static int grow(census_flow *f) {
  census_flow larger = { .room = 2 * f->room };
  if (f->bytes + larger.room * sizeof *larger.slot > most_bytes) return 0;
  larger.slot = calloc(larger.room, sizeof *larger.slot);
  if (larger.slot == NULL) return 0;
  for (size_t i = 0; i < f->room; i++)
    if (f->slot[i].name.size > 0) *find(&larger, f->slot[i].scope, f->slot[i].name) = f->slot[i];
  free(f->slot);
  f->slot = larger.slot;
  f->room = larger.room;
  return 1;
}

census_set cawb_census_known(census_flow *f, size_t scope, cawb_ptx_word name) {
  cawb_census_work(f, 1);
  return name.size > 0 ? find(f, scope, name)->set : NULL;
}

int cawb_census_none(const census_flow *f, const uint64_t *s) {
  for (size_t i = 0; i < f->width; i++)
    if (s[i] != 0) return 0;
  return 1;
}

void cawb_census_learn(census_flow *f, size_t scope, cawb_ptx_word name, const uint64_t *from) {
  if (f->lost != NULL || from == NULL || name.size == 0 || cawb_census_none(f, from)) return;
  census_slot *s = find(f, scope, name);
  if (s->name.size == 0) {
    if (f->used >= f->room / 4 * 3) {
      if (!grow(f)) { lose(f); return; }
      s = find(f, scope, name);
    }
    census_set fresh = new_set(f);
    if (fresh == NULL) { lose(f); return; }
    *s = (census_slot){ scope, name, fresh };
    f->used++;
  }
  cawb_census_add(f, s->set, from);
}

/* --------------------------------------------------------------------- sets */

void cawb_census_add(census_flow *f, census_set to, const uint64_t *from) {
  if (from == NULL || to == NULL) return;
  cawb_census_work(f, f->width);
  for (size_t i = 0; i < f->width; i++) {
    if ((from[i] & ~to[i]) == 0) continue;
    to[i] |= from[i];
    f->changed = 1;
  }
}

void cawb_census_join(census_flow *f, census_set temp, const uint64_t *from) {
  if (from == NULL) return;
  cawb_census_work(f, f->width);
  for (size_t i = 0; i < f->width; i++) temp[i] |= from[i];
}

void cawb_census_clear(const census_flow *f, census_set s) { memset(s, 0, f->width * sizeof *s); }
void cawb_census_put(census_set s, size_t object) { s[object / 64] |= 1ull << object % 64; }

size_t cawb_census_next(const census_flow *f, const uint64_t *s, size_t object) {
  while (object < f->nobjects) {
    uint64_t rest = s[object / 64] >> object % 64;
    if (rest != 0) return object + (size_t)__builtin_ctzll(rest);
    object = (object / 64 + 1) * 64;
  }
  return f->nobjects;
}
