/* census_reach.c - see census_reach.h. */
#include "gpu/ptx/census_reach.h"

#include <string.h>

typedef cawb_ptx_word word;

/* ------------------------------------------------------------------- counts */

static int is_param(const census_follow *c, size_t object) {
  return object >= c->first_param && object < c->first_function;
}

/* An address that another kernel was given, and has left in memory. */
static void note_distant(census_follow *c, size_t object, int how) {
  const census_function *f = &c->module->functions[c->scope - 1];
  size_t param = object - c->first_param;
  if (c->objects[object].passed || (param >= f->first && param < f->first + f->nparams)) return;
  for (size_t i = 0; i < c->ndistant; i++)
    if (c->distant[i].param == param) { c->distant[i].use[how]++; return; }
  if (c->ndistant == CENSUS_DISTANT) { c->stores++; return; }       /* too many to be told apart */
  c->distant[c->ndistant] = (census_distant){ .param = param };
  c->distant[c->ndistant++].use[how]++;
}

void cawb_census_use(census_follow *c, const uint64_t *from, int how) {
  if (!c->counting || from == NULL) return;
  for (size_t i = cawb_census_next(&c->flow, from, 0); i < c->flow.nobjects; i = cawb_census_next(&c->flow, from, i + 1)) {
    c->objects[i].use[how]++;
    if (is_param(c, i)) note_distant(c, i, how);
  }
}

/* How many things an address may lead to; numbers that are added to it are parameters, too. */
static size_t targets(const census_follow *c, const uint64_t *from) {
  size_t sure = 0, params = 0, passed = 0;
  for (size_t i = cawb_census_next(&c->flow, from, 0); i < c->first_function; i = cawb_census_next(&c->flow, from, i + 1)) {
    if (c->objects[i].passed) passed++;
    else if (is_param(c, i) && !c->objects[i].addressed) params++;
    else sure++;
  }
  return sure > 0 ? sure : params > 0 ? params : passed;
}

void cawb_census_written(census_follow *c, const uint64_t *from, int how) {
  size_t n = targets(c, from);
  if (c->counting && n == 0) c->stores++;
  cawb_census_use(c, from, n > 1 ? CENSUS_MAYBE : how);
}

/* ------------------------------------------------------------------- memory */

/* Behind which letter it stands between dots or colons; 0: it does not. */
static int part_of(word op, const char *part) {
  size_t n = strlen(part);
  for (size_t i = 0; i + n < op.size; i++)
    if (op.text[i] == '.' && memcmp(op.text + i + 1, part, n) == 0 &&
        (i + 1 + n == op.size || op.text[i + 1 + n] == '.' || op.text[i + 1 + n] == ':')) return (int)i;
  return 0;
}

/* The space that the first address is in, or the others: copies name two, the written one first. */
int cawb_census_space(word op, int first) {
  int shared = part_of(op, "shared"), global = part_of(op, "global");
  if (cawb_ptx_starts(op, "cp.") && shared > 0 && global > 0)
    return (shared < global) == first ? CENSUS_SHARED : CENSUS_NOWHERE;
  if (shared) return CENSUS_SHARED;
  if (part_of(op, "local")) return CENSUS_LOCAL;
  return part_of(op, "const") ? CENSUS_CONSTANT : CENSUS_NOWHERE;
}

/* What may be found in memory. The content of one parameter is that of all: it is the world's. */
void cawb_census_contents(census_follow *c, census_set to, const uint64_t *from, int space) {
  census_flow *f = &c->flow;
  if (space == CENSUS_SHARED || space == CENSUS_LOCAL) { cawb_census_join(f, to, f->content[space]); return; }
  for (size_t i = cawb_census_next(f, from, 0); i < c->first_function; i = cawb_census_next(f, from, i + 1))
    cawb_census_join(f, to, f->content[is_param(c, i) ? CENSUS_WORLD : i]);
}

void cawb_census_store(census_follow *c, const uint64_t *to, int space, const uint64_t *value) {
  census_flow *f = &c->flow;
  if (cawb_census_none(f, value)) return;
  if (space == CENSUS_SHARED || space == CENSUS_LOCAL) { cawb_census_add(f, f->content[space], value); return; }
  if (cawb_census_none(f, to))                   /* it may be anywhere */
    for (size_t i = 0; i < CENSUS_OBJECTS; i++) cawb_census_add(f, f->content[i], value);
  for (size_t i = cawb_census_next(f, to, 0); i < c->first_function; i = cawb_census_next(f, to, i + 1))
    cawb_census_add(f, f->content[is_param(c, i) ? CENSUS_WORLD : i], value);
}
