/*
** census.c - see census.h. Each function is read until no register's set of sources grows
** any more (loops come round), then once more to count.
*/
#include "ptx/census.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/census_flow.h"
#include "ptx/census_kind.h"
#include "ptx/mangle.h"
#include "ptx/scan.h"

typedef cawb_ptx_word word;

enum { STATEMENT_MOST = 96, ROUNDS = 8, NAME_MOST = 160, VARIABLES_MOST = CENSUS_SOURCES / 2,
       PARAMS_MOST = CENSUS_SOURCES / 2 };
enum { READS, WRITES, ATOMICS, ESCAPES, USES };
static const char *const use_names[USES] = { "reads", "writes", "atomics", "escapes" };

typedef struct tally { word name; long use[USES]; } tally;

typedef struct census {
  const char *at;
  cJSON *functions, *variables;
  tally vars[VARIABLES_MOST], params[PARAMS_MOST];   /* sources: variables first */
  unsigned nvars, nparams;
  census_flow *flow;
  cJSON *now;                    /* of the function being counted, NULL while learning */
  cawb_err *err;
} census;

static int is_mark(word w, char c) { return w.size == 1 && w.text[0] == c; }

static const char *text_of(word w, char out[NAME_MOST]) {
  snprintf(out, NAME_MOST, "%.*s", (int)(w.size < NAME_MOST ? w.size : NAME_MOST - 1), w.text);
  return out;
}

/* ------------------------------------------------------------------ sources */

static uint64_t source_named(const census *c, word w) {
  for (unsigned i = 0; i < c->nvars; i++)
    if (w.size == c->vars[i].name.size && memcmp(w.text, c->vars[i].name.text, w.size) == 0)
      return cawb_census_bit(i);
  return w.text[0] == '%' ? cawb_census_from(c->flow, w) : 0;
}

static uint64_t param_named(const census *c, word w) {
  for (unsigned i = 0; i < c->nparams; i++)
    if (w.size == c->params[i].name.size && memcmp(w.text, c->params[i].name.text, w.size) == 0)
      return cawb_census_bit(VARIABLES_MOST + i);
  return 0;
}

static void use(census *c, uint64_t from, int how) {
  if (c->now == NULL) return;
  for (unsigned i = 0; i < CENSUS_SOURCES && from != 0; i++, from >>= 1) {
    if ((from & 1) == 0) continue;
    if (i < VARIABLES_MOST) c->vars[i].use[how]++;
    else c->params[i - VARIABLES_MOST].use[how]++;
  }
}

/* ------------------------------------------------------------- instructions */

/* The words within [ ] from `*i` on, as one set of sources; `*i` moves behind them. */
static uint64_t address(const census *c, const word *w, size_t n, size_t *i) {
  uint64_t from = 0;
  for ((*i)++; *i < n && !is_mark(w[*i], ']'); (*i)++) from |= source_named(c, w[*i]);
  if (*i < n) (*i)++;
  return from;
}

/* All operands outside of [ ] from `i` on. */
static uint64_t values(const census *c, const word *w, size_t n, size_t i) {
  uint64_t from = 0;
  while (i < n) {
    if (is_mark(w[i], '[')) address(c, w, n, &i);
    else from |= source_named(c, w[i++]);
  }
  return from;
}

/* Memory is reached: the first address is written to where the instruction writes, all
** others are read. What is stored is known elsewhere from then on. */
static void follow_access(census *c, const word *w, size_t n, census_access how) {
  size_t first = 1;
  for (size_t i = 1; i < n;) {
    if (!is_mark(w[i], '[')) { i++; continue; }
    int is_first = first == 1;
    uint64_t from = address(c, w, n, &i);
    first = i;
    if (how == CENSUS_ATOMIC) use(c, from, ATOMICS);
    else use(c, from, is_first && how != CENSUS_READ ? WRITES : READS);
  }
  if (how == CENSUS_WRITE || how == CENSUS_ATOMIC) use(c, values(c, w, n, how == CENSUS_WRITE ? 1 : 2), ESCAPES);
}

/* ld.param leads from a parameter to a register; anything else from registers to one. */
static void follow_value(census *c, const word *w, size_t n) {
  size_t i = 1;
  uint64_t from = 0;
  if (cawb_ptx_starts(w[0], "ld.param")) {
    for (i = 1; i < n; i++) from |= param_named(c, w[i]);
    for (i = 1; i < n && !is_mark(w[i], '['); i++)
      if (w[i].text[0] == '%') cawb_census_learn(c->flow, w[i], from);
    return;
  }
  int vector = n > 1 && is_mark(w[1], '{');
  for (i = vector ? 2 : 1; i < n && !is_mark(w[i], vector ? '}' : ','); i++) continue;
  from = values(c, w, n, i);
  for (size_t k = 1; k < i; k++)
    if (w[k].text[0] == '%') cawb_census_learn(c->flow, w[k], from);
}

static void follow(census *c, const word *w, size_t n) {
  census_access how = cawb_census_access(w[0]);
  if (cawb_ptx_starts(w[0], "call") || cawb_ptx_starts(w[0], "st.param")) use(c, values(c, w, n, 1), ESCAPES);
  else if (how == CENSUS_NONE) follow_value(c, w, n);
  else follow_access(c, w, n, how);
}

static void bump(void *to, const char *group, word key) {
  char name[NAME_MOST];
  cJSON *all = cJSON_GetObjectItemCaseSensitive(to, group);
  if (all == NULL) all = cJSON_AddObjectToObject(to, group);
  cJSON *count = cJSON_GetObjectItemCaseSensitive(all, text_of(key, name));
  if (count == NULL) cJSON_AddNumberToObject(all, name, 1);
  else cJSON_SetNumberValue(count, count->valuedouble + 1);
}

/* The name that a call goes to: the first word that is no mark, or behind "(retval),". */
static word called(const word *w, size_t n) {
  size_t i = 1;
  if (i < n && is_mark(w[i], '(')) {
    while (i < n && !is_mark(w[i], ')')) i++;
    i += 2;
  }
  return i < n ? w[i] : (word){ "?", 1 };
}

static void count(census *c, const word *w, size_t n) {
  cJSON *all = cJSON_GetObjectItemCaseSensitive(c->now, "instructions");
  if (all != NULL) cJSON_SetNumberValue(all, all->valuedouble + 1);
  cawb_census_kinds(w[0], bump, c->now);
  if (cawb_ptx_starts(w[0], "call")) {
    word name = called(w, n);
    bump(c->now, "calls", name.text[0] == '%' ? (word){ "(pointer)", 9 } : name);
  }
  for (size_t i = 1; i < n; i++)
    if (cawb_census_telling(w[i])) bump(c->now, "registers", w[i]);
}

static void statement(census *c, const word *w, size_t n) {
  if (n > 0 && is_mark(w[0], '@')) {
    size_t skip = n > 1 && is_mark(w[1], '!') ? 3 : 2;
    if (n <= skip) return;
    w += skip;
    n -= skip;
  }
  if (n == 0 || w[0].text[0] == '.') return;
  follow(c, w, n);
  if (c->now != NULL) count(c, w, n);
}

/* ------------------------------------------------------------------- bodies */

/* From behind the opening brace to behind the closing one. A brace inside a statement
** encloses a vector, one between statements a block. */
static void body(census *c) {
  word w[STATEMENT_MOST];
  size_t n = 0;
  int vector = 0;
  for (int depth = 1; depth > 0;) {
    word next = cawb_ptx_next(&c->at);
    if (next.size == 0) return;
    char mark = '\0';
    if (next.size == 1) mark = next.text[0];
    if (n == 0 && cawb_ptx_is(next, ".loc")) {       /* ends with its line */
      c->at += strcspn(c->at, "\n");
    } else if (mark == ';' || mark == ':' || (n == 0 && (mark == '{' || mark == '}')) ||
               (mark == '}' && !vector)) {
      if (mark == ';') statement(c, w, n);
      depth += mark == '{' ? 1 : mark == '}' ? -1 : 0;
      n = 0;
      vector = 0;
    } else {
      vector = mark == '{' ? 1 : mark == '}' ? 0 : vector;
      if (n < STATEMENT_MOST) w[n++] = next;
    }
  }
}

/* NVRTC marks inline assembly with a comment. */
static double inline_assembly(const char *from, const char *to) {
  static const char mark[] = "// begin inline asm";
  double n = 0;
  for (const char *s = from; (s = strstr(s, mark)) != NULL && s < to; s += sizeof mark) n++;
  return n;
}

static void learn(census *c) {
  const char *from = c->at;
  memset(c->flow, 0, sizeof *c->flow);
  c->now = NULL;
  c->flow->changed = 1;
  for (int i = 0; i < ROUNDS && c->flow->changed; i++) {
    c->flow->changed = 0;
    c->at = from;
    body(c);
  }
  c->at = from;
}

static void put_uses(cJSON *to, const tally *t) {
  for (int i = 0; i < USES; i++) cJSON_AddNumberToObject(to, use_names[i], (double)t->use[i]);
}

static void put_params(census *c, cJSON *to) {
  cJSON *list = cJSON_AddArrayToObject(to, "params");
  for (unsigned i = 0; i < c->nparams; i++) {
    cJSON *p = cJSON_CreateObject();
    put_uses(p, &c->params[i]);
    cJSON_AddItemToArray(list, p);
  }
}

static void function(census *c, word name, int entry) {
  char text[NAME_MOST];
  const char *from = c->at;
  learn(c);
  c->now = cJSON_AddObjectToObject(c->functions, text_of(name, text));
  char *plain = cawb_mangle_plain(text);
  cJSON_AddBoolToObject(c->now, "entry", entry);
  cJSON_AddStringToObject(c->now, "plain", plain != NULL ? plain : text);
  cJSON_AddNumberToObject(c->now, "instructions", 0);
  free(plain);
  body(c);
  cJSON_AddNumberToObject(c->now, "asm", inline_assembly(from, c->at));
  put_params(c, c->now);
  c->now = NULL;
}

/* ------------------------------------------------------------- declarations */

/* Neither a directive nor a mark nor a number. */
static int is_name(word w) {
  if (w.size == 0) return 0;
  char c = w.text[0];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

/* The parameters in "( .param .u64 a, .param .align 8 .b8 b[24] )", by name. */
static void read_params(census *c) {
  int counting = 0;
  c->nparams = 0;
  for (word w = cawb_ptx_next(&c->at); w.size > 0 && !is_mark(w, ')'); w = cawb_ptx_next(&c->at)) {
    if (is_mark(w, '[')) counting = 1;
    if (is_mark(w, ',')) counting = 0;
    if (counting || !is_name(w)) continue;
    if (c->nparams < PARAMS_MOST) c->params[c->nparams++] = (tally){ .name = w };
  }
}

/* Behind .entry or .func: "(retval) name (params) directives {" or without a body ";". */
static void read_function(census *c, int entry) {
  word name = { "", 0 };
  for (;;) {
    word w = cawb_ptx_next(&c->at);
    if (w.size == 0 || is_mark(w, ';')) return;
    if (is_mark(w, '{')) break;
    if (is_mark(w, '(')) read_params(c);
    else if (name.size == 0 && is_name(w)) name = w, c->nparams = 0;
  }
  if (name.size > 0) function(c, name, entry);
}

/* Bits of ".b8" or ".f32", 0 for other words. */
static size_t bits_of(word w) {
  size_t bits = 0;
  if (w.size < 3 || w.text[0] != '.' || strchr("bfus", w.text[1]) == NULL) return 0;
  return cawb_ptx_number((word){ w.text + 2, w.size - 2 }, &bits) ? bits : 0;
}

/* Behind .global or .const: ".align 4 .b8 name[256] = {...};" */
static void read_variable(census *c, const char *space) {
  char text[NAME_MOST];
  word name = { "", 0 };
  size_t bytes = 1, n;
  int initialised = 0, sized = 0;
  for (word w = cawb_ptx_next(&c->at); w.size > 0 && !is_mark(w, ';'); w = cawb_ptx_next(&c->at)) {
    if (initialised) continue;
    if (is_mark(w, '=')) initialised = 1;
    else if (cawb_ptx_is(w, ".align")) cawb_ptx_next(&c->at);
    else if (bits_of(w) > 0) bytes = bits_of(w) / 8;
    else if (is_mark(w, '[')) sized = 1;
    else if (sized && cawb_ptx_number(w, &n)) bytes *= n, sized = 0;
    else if (name.size == 0 && is_name(w)) name = w;
  }
  if (name.size == 0) return;
  cJSON *v = cJSON_AddObjectToObject(c->variables, text_of(name, text));
  cJSON_AddStringToObject(v, "space", space);
  cJSON_AddNumberToObject(v, "bytes", (double)bytes);
  cJSON_AddBoolToObject(v, "initialised", initialised);
  if (c->nvars < VARIABLES_MOST) c->vars[c->nvars++] = (tally){ .name = name };
}

static void read_all(census *c, const char *ptx) {
  c->at = ptx;
  for (word w; (w = cawb_ptx_next(&c->at)).size > 0;) {
    if (cawb_ptx_is(w, ".entry")) read_function(c, 1);
    else if (cawb_ptx_is(w, ".func")) read_function(c, 0);
    else if (cawb_ptx_is(w, ".global")) read_variable(c, "global");
    else if (cawb_ptx_is(w, ".const")) read_variable(c, "const");
  }
  for (unsigned i = 0; i < c->nvars; i++) {
    char name[NAME_MOST];
    put_uses(cJSON_GetObjectItemCaseSensitive(c->variables, text_of(c->vars[i].name, name)), &c->vars[i]);
  }
}

cawb_status cawb_census_new(cJSON **out, const char *ptx, cawb_err *err) {
  census *c = calloc(1, sizeof *c);
  *out = cJSON_CreateObject();
  if (c != NULL) c->flow = calloc(1, sizeof *c->flow);
  if (c == NULL || c->flow == NULL || *out == NULL) {
    free(c != NULL ? c->flow : NULL);
    free(c);
    cJSON_Delete(*out);
    *out = NULL;
    return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for the census of a module");
  }
  c->functions = cJSON_AddObjectToObject(*out, "functions");
  c->variables = cJSON_AddObjectToObject(*out, "variables");
  if (c->functions != NULL && c->variables != NULL) read_all(c, ptx);
  free(c->flow);
  free(c);
  return CAWB_OK;
}
