/* census_module.c - see census_module.h. */
#include "gpu/ptx/census_module.h"

#include <stdlib.h>
#include <string.h>

typedef cawb_ptx_word word;

static int is_mark(word w, char c) { return cawb_census_mark(w, c); }

/* One more item of `size` bytes, all zeros; NULL when out of memory. */
static void *grow(void **list, size_t *n, size_t *room, size_t size) {
  if (*n == *room) {
    size_t more = *room > 0 ? 2 * *room : 16;
    void *larger = realloc(*list, more * size);
    if (larger == NULL) return NULL;
    *list = larger;
    *room = more;
  }
  return memset((char *)*list + (*n)++ * size, 0, size);
}

/* ------------------------------------------------------------- functions */

/* The parameters in "( .param .u64 a, .param .align 8 .b8 b[24] )", from behind "(". */
static int read_params(census_module *m, census_function *f, const char **at) {
  word w[64];
  size_t n = 0, bytes;
  f->first = m->nparams;
  for (;;) {
    word next = cawb_ptx_next(at);
    if (next.size > 0 && !is_mark(next, ',') && !is_mark(next, ')')) {
      if (n < sizeof w / sizeof *w) w[n++] = next;
      continue;
    }
    word name = cawb_census_declared(w, n, &bytes);
    if (name.size > 0) {
      census_param *p = grow((void **)&m->params, &m->nparams, &m->params_room, sizeof *m->params);
      if (p == NULL) return 0;
      *p = (census_param){ name, bytes >= 8 };
    }
    n = 0;
    if (next.size == 0 || is_mark(next, ')')) break;
  }
  f->nparams = m->nparams - f->first;
  return 1;
}

static void nothing(void *data, const word *w, size_t n) { (void)data; (void)w; (void)n; }

/* Behind .entry or .func: "(result) name (params) directives {" or without a body ";". */
static int read_function(census_module *m, const char **at, int entry, census_words *words) {
  census_function f = { .entry = entry };
  for (word w; !is_mark(w = cawb_ptx_next(at), '{');) {
    if (w.size == 0 || is_mark(w, ';')) break;
    if (is_mark(w, '(')) {
      if (!read_params(m, &f, at)) return 0;
      if (f.name.size > 0 || f.nparams == 0) continue;
      f.result = m->params[f.first].name;         /* what stands ahead of the name is no parameter */
      m->nparams = f.first;
      f.nparams = 0;
    } else if (f.name.size == 0 && cawb_census_name(w)) {
      f.name = w;
    }
  }
  if (f.name.size == 0) return 1;
  if ((*at)[-1] == '{') {
    f.body = *at;
    cawb_census_body(at, words, nothing, NULL);
    f.end = *at;
  }
  census_function *kept = grow((void **)&m->functions, &m->nfunctions, &m->functions_room, sizeof *m->functions);
  if (kept != NULL) *kept = f;
  return kept != NULL;
}

/* ------------------------------------------------------------- variables */

/* Behind .global, .const or .shared: ".align 4 .b8 name[256] = {...};" */
static int read_variable(census_module *m, const char **at, const char *space) {
  word w[64];
  size_t n = 0;
  const char *values = NULL;
  for (word next; (next = cawb_ptx_next(at)).size > 0 && !is_mark(next, ';');) {
    if (values == NULL && is_mark(next, '=')) values = *at;
    else if (values == NULL && n < sizeof w / sizeof *w) w[n++] = next;
  }
  census_variable v = { .space = space, .values = values };
  v.name = cawb_census_declared(w, n, &v.bytes);
  if (v.name.size == 0) return 1;
  census_variable *kept = grow((void **)&m->variables, &m->nvariables, &m->variables_room, sizeof *m->variables);
  if (kept != NULL) *kept = v;
  return kept != NULL;
}

int cawb_census_module_read(census_module *m, const char *ptx) {
  const char *at = ptx;
  census_words words = { 0 };
  int ok = 1;
  memset(m, 0, sizeof *m);
  for (word w; ok && (w = cawb_ptx_next(&at)).size > 0;) {
    if (cawb_ptx_is(w, ".entry")) ok = read_function(m, &at, 1, &words);
    else if (cawb_ptx_is(w, ".func")) ok = read_function(m, &at, 0, &words);
    else if (cawb_ptx_is(w, ".global")) ok = read_variable(m, &at, "global");
    else if (cawb_ptx_is(w, ".const")) ok = read_variable(m, &at, "const");
    else if (cawb_ptx_is(w, ".shared")) ok = read_variable(m, &at, "shared");
  }
  free(words.w);
  return ok;
}

void cawb_census_module_free(census_module *m) {
  free(m->variables);
  free(m->functions);
  free(m->params);
  memset(m, 0, sizeof *m);
}
