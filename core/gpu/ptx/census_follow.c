/*
** census_follow.c - see census_follow.h. The functions are read again until no set grows any more,
** for loops and calls come round, and once more to count.
*/
#include "gpu/ptx/census_follow.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/ptx/census_kind.h"
#include "gpu/ptx/census_reach.h"

typedef cawb_ptx_word word;

enum { ROUNDS = 100 };           /* each carries an address one call or one store further, at least */

static int is_mark(word w, char c) { return cawb_census_mark(w, c); }

/* -------------------------------------------------------------------- names */

/* The declaration that a name within a call's braces means, or a word of no size. */
static word call_param(census_follow *c, word name) {
  for (size_t i = c->ncalls; i > 0; i--) {
    cawb_census_work(&c->flow, 1);
    word d = c->calls[i - 1];
    if (d.size == name.size && memcmp(d.text, name.text, d.size) == 0) return d;
  }
  return (word){ "", 0 };
}

/* Two calls have parameters of one name: where it was declared tells them apart. */
static size_t scope_of(word declared) { return (size_t)(uintptr_t)declared.text; }

/* What a word stands for: a register, a parameter, a variable, a function, or NULL for nothing known. */
static const uint64_t *named(census_follow *c, word w) {
  if (!cawb_census_name(w)) return NULL;
  const uint64_t *own = cawb_census_known(&c->flow, c->scope, w);
  if (own != NULL || w.text[0] == '%') return own;
  word declared = call_param(c, w);
  if (declared.size > 0) return cawb_census_known(&c->flow, scope_of(declared), declared);
  const uint64_t *global = cawb_census_known(&c->flow, 0, w);
  if (global != NULL) c->objects[cawb_census_next(&c->flow, global, 0)].mentioned = 1;
  return global;
}

static void declare_call_param(census_follow *c, word name) {
  if (c->ncalls == c->calls_room) {
    size_t room = c->calls_room > 0 ? 2 * c->calls_room : 64;
    word *larger = realloc(c->calls, room * sizeof *larger);
    if (larger == NULL) { c->words.starved = 1; return; }
    c->calls = larger;
    c->calls_room = room;
  }
  c->calls[c->ncalls++] = name;
}

/* Behind "call": "(result), name, (params)". The words between the i-th pair of parentheses. */
static size_t parenthesis(const word *w, size_t n, size_t from, size_t *end) {
  while (from < n && !is_mark(w[from], '(')) from++;
  for (*end = from; *end < n && !is_mark(w[*end], ')'); (*end)++) continue;
  return from + 1;
}

word cawb_census_called(const word *w, size_t n) {
  size_t i = 1;
  if (i < n && is_mark(w[i], '(')) {
    while (i < n && !is_mark(w[i], ')')) i++;
    i += 2;
  }
  return i < n ? w[i] : (word){ "?", 1 };
}

/* ------------------------------------------------------------- instructions */

/* The words within [ ] from `*i` on, joined into `to`; `*i` moves behind them. */
static void address(census_follow *c, const word *w, size_t n, size_t *i, census_set to) {
  for ((*i)++; *i < n && !is_mark(w[*i], ']'); (*i)++) cawb_census_join(&c->flow, to, named(c, w[*i]));
  if (*i < n) (*i)++;
}

/* All operands outside of [ ] from `i` on. */
static void values(census_follow *c, const word *w, size_t n, size_t i, census_set to) {
  for (int inside = 0; i < n; i++) {
    if (is_mark(w[i], '[')) inside = 1;
    else if (is_mark(w[i], ']')) inside = 0;
    else if (!inside) cawb_census_join(&c->flow, to, named(c, w[i]));
  }
}

static census_set fresh(census_follow *c, int which) {
  cawb_census_clear(&c->flow, c->flow.temp[which]);
  return c->flow.temp[which];
}

/* Every register from `from` to `to` may hold this. Assembly names registers as it likes, as a
** variable, too, which the name means again elsewhere. */
static void learn(census_follow *c, const word *w, size_t from, size_t to, const uint64_t *what) {
  for (size_t i = from; i < to; i++) {
    if (!cawb_census_name(w[i])) continue;
    cawb_census_learn(&c->flow, c->scope, w[i], what);
    if (w[i].text[0] != '%') cawb_census_learn(&c->flow, c->scope, w[i], cawb_census_known(&c->flow, 0, w[i]));
  }
}

/* The words of the first operand end here. */
static size_t first_operand(const word *w, size_t n) {
  int vector = n > 1 && is_mark(w[1], '{');
  size_t i = vector ? 2 : 1;
  while (i < n && !is_mark(w[i], vector ? '}' : ',')) i++;
  return i;
}

static void follow_value(census_follow *c, const word *w, size_t n) {
  size_t end = first_operand(w, n);
  census_set what = fresh(c, CENSUS_VALUE);
  values(c, w, n, end, what);
  if (cawb_ptx_starts(w[0], "alloca")) cawb_census_put(what, CENSUS_LOCAL);
  if (cawb_ptx_starts(w[0], "cvta"))             /* of numbers nobody asks that */
    for (size_t i = cawb_census_next(&c->flow, what, 0); i < c->flow.nobjects; i = cawb_census_next(&c->flow, what, i + 1))
      c->objects[i].addressed = 1;
  learn(c, w, 1, end, what);
}

/* One address of an instruction; `how` is what happens there. */
static void reach(census_follow *c, const uint64_t *from, int space, census_access how) {
  if (space == CENSUS_CONSTANT || (space == CENSUS_NOWHERE && how == CENSUS_READ)) cawb_census_use(c, from, CENSUS_READS);
  else if (space == CENSUS_NOWHERE) cawb_census_written(c, from, how == CENSUS_ATOMIC ? CENSUS_ATOMICS : CENSUS_WRITES);
}

/* Memory is reached. `how` is what happens at the first address; others are read. */
static void follow_access(census_follow *c, const word *w, size_t n, census_access how) {
  size_t start = 1, behind = n;
  int first = 1;
  census_set target = fresh(c, CENSUS_ADDRESS), what = fresh(c, CENSUS_VALUE);
  while (start < n && !is_mark(w[start], '[')) start++;
  for (size_t i = start; i < n; first = 0) {
    while (i < n && !is_mark(w[i], '[')) i++;
    if (i == n) break;
    int space = cawb_census_space(w[0], first);
    census_set from = first ? target : fresh(c, CENSUS_OTHER);
    address(c, w, n, &i, from);
    if (first) behind = i;
    reach(c, from, space, first ? how : CENSUS_READ);
    if (how != CENSUS_WRITE || !first) cawb_census_contents(c, what, from, space);
  }
  if (how != CENSUS_WRITE) learn(c, w, 1, start, what);
  if (how == CENSUS_READ) return;
  values(c, w, n, behind, what);
  cawb_census_store(c, target, cawb_census_space(w[0], 1), what);
}

/* -------------------------------------------------------------------- calls */

/* ld.param and st.param: between registers and parameters, the function's own or a call's. */
static void follow_param(census_follow *c, const word *w, size_t n, int stores) {
  size_t i = 1;
  while (i < n && !is_mark(w[i], '[')) i++;
  census_set what = fresh(c, CENSUS_VALUE);
  if (!stores) {
    size_t at = i;
    address(c, w, n, &at, what);
    learn(c, w, 1, i, what);
    return;
  }
  word name = i + 1 < n ? w[i + 1] : (word){ "", 0 }, declared = call_param(c, name);
  size_t behind = i;
  address(c, w, n, &behind, fresh(c, CENSUS_OTHER));
  values(c, w, n, behind, what);
  if (declared.size > 0) cawb_census_learn(&c->flow, scope_of(declared), declared, what);
  else cawb_census_learn(&c->flow, c->scope, name, what);             /* the function's result */
}

/* A function of the module is called: its parameters hold what the call's do. */
static void enter(census_follow *c, size_t k, const word *w, size_t n) {
  const census_function *f = &c->module->functions[k];
  size_t end = 0, result = 1, results = 1;
  if (n > 1 && is_mark(w[1], '(')) result = parenthesis(w, n, 1, &results), end = results;
  for (size_t i = parenthesis(w, n, end + (end > 0), &end), j = 0; i < end; i++) {
    if (!cawb_census_name(w[i])) continue;
    if (j < f->nparams) cawb_census_learn(&c->flow, k + 1, c->module->params[f->first + j].name, named(c, w[i]));
    j++;
  }
  for (; result < results; result++) {
    word declared = call_param(c, w[result]);
    cawb_census_learn(&c->flow, scope_of(declared), declared, cawb_census_known(&c->flow, k + 1, f->result));
  }
}

/* These read what they are given, and keep nothing. */
static int only_reads(word name) {
  return cawb_ptx_is(name, "vprintf") || cawb_ptx_is(name, "__assertfail") || cawb_ptx_is(name, "free");
}

/* Code that is not here: whatever it is given is its own from then on. */
static void leave(census_follow *c, const word *w, size_t n, word name) {
  size_t end = 0;
  if (n > 1 && is_mark(w[1], '(')) parenthesis(w, n, 1, &end);
  census_set all = fresh(c, CENSUS_VALUE);
  for (size_t i = parenthesis(w, n, end + (end > 0), &end); i < end; i++) cawb_census_join(&c->flow, all, named(c, w[i]));
  cawb_census_use(c, all, only_reads(name) ? CENSUS_READS : CENSUS_ESCAPES);
  if (only_reads(name)) return;
  c->called += c->counting;
  cawb_census_add(&c->flow, c->flow.content[CENSUS_WORLD], all);
}

static void follow_call(census_follow *c, const word *w, size_t n) {
  word name = cawb_census_called(w, n);
  const uint64_t *to = named(c, name);
  size_t entered = 0;
  for (size_t i = to != NULL ? cawb_census_next(&c->flow, to, c->first_function) : c->flow.nobjects;
       i < c->flow.nobjects; i = cawb_census_next(&c->flow, to, i + 1)) {
    if (c->module->functions[i - c->first_function].body == NULL) continue;
    enter(c, i - c->first_function, w, n);
    entered++;
  }
  if (entered == 0) leave(c, w, n, name);
}

/* ------------------------------------------------------------- declarations */

static void learn_object(census_follow *c, size_t scope, word name, size_t object) {
  census_set s = fresh(c, CENSUS_VALUE);
  cawb_census_put(s, object);
  cawb_census_learn(&c->flow, scope, name, s);
}

static void follow_declaration(census_follow *c, const word *w, size_t n) {
  size_t bytes;
  int param = cawb_ptx_is(w[0], ".param"), shared = cawb_ptx_is(w[0], ".shared");
  if (!param && !shared && !cawb_ptx_is(w[0], ".local")) return;
  word name = cawb_census_declared(w + 1, n - 1, &bytes);
  if (name.size == 0) return;
  if (param) {
    declare_call_param(c, name);
    cawb_census_learn(&c->flow, scope_of(name), name, cawb_census_known(&c->flow, 0, name));
  } else learn_object(c, c->scope, name, shared ? CENSUS_SHARED : CENSUS_LOCAL);
}

static void follow(void *data, const word *w, size_t n) {
  census_follow *c = data;
  if (c->flow.lost != NULL) return;
  census_access how = cawb_census_access(w[0]);
  if (w[0].text[0] == '.') follow_declaration(c, w, n);
  else if (cawb_ptx_starts(w[0], "call")) follow_call(c, w, n);
  else if (cawb_ptx_starts(w[0], "ld.param")) follow_param(c, w, n, 0);
  else if (cawb_ptx_starts(w[0], "st.param")) follow_param(c, w, n, 1);
  else if (how == CENSUS_NONE) follow_value(c, w, n);
  else follow_access(c, w, n, how);
}

/* Addresses of others in a variable's initial value. */
static void initial_value(census_follow *c, size_t object, const char *at) {
  c->scope = 0;
  for (word w; (w = cawb_ptx_next(&at)).size > 0 && !is_mark(w, ';');)
    cawb_census_add(&c->flow, c->flow.content[object], named(c, w));
}

static void declare(census_follow *c) {
  const census_module *m = c->module;
  for (size_t i = 0; i < m->nvariables; i++) {
    int shared = strcmp(m->variables[i].space, "shared") == 0;
    learn_object(c, 0, m->variables[i].name, shared ? CENSUS_SHARED : c->first_variable + i);
  }
  for (size_t k = 0; k < m->nfunctions; k++) {
    const census_function *f = &m->functions[k];
    if (f->body != NULL || cawb_census_known(&c->flow, 0, f->name) == NULL)
      learn_object(c, 0, f->name, c->first_function + k);
    for (size_t i = 0; i < f->nparams; i++)
      if (m->params[f->first + i].wide) {
        learn_object(c, k + 1, m->params[f->first + i].name, c->first_param + f->first + i);
        c->objects[c->first_param + f->first + i].passed = !f->entry;
      }
  }
  for (size_t i = 0; i < m->nvariables; i++)
    if (m->variables[i].values != NULL) initial_value(c, c->first_variable + i, m->variables[i].values);
}

/* ------------------------------------------------------------------ reading */

static void read_body(census_follow *c, size_t k) {
  const char *at = c->module->functions[k].body;
  c->scope = k + 1;
  c->ncalls = 0;
  if (at != NULL) cawb_census_body(&at, &c->words, follow, c);
}

int cawb_census_follow(census_follow *c, const census_module *m) {
  memset(c, 0, sizeof *c);
  c->module = m;
  c->first_variable = CENSUS_OBJECTS;
  c->first_param = c->first_variable + m->nvariables;
  c->first_function = c->first_param + m->nparams;
  c->objects = calloc(c->first_function + m->nfunctions + 1, sizeof *c->objects);
  if (c->objects == NULL || !cawb_census_flow_begin(&c->flow, c->first_function + m->nfunctions)) return 0;
  declare(c);
  c->flow.changed = 1;
  for (int i = 0; c->flow.changed && c->flow.lost == NULL; i++) {
    if (i == ROUNDS) c->flow.lost = "its addresses go round too often to be followed";
    c->flow.changed = 0;
    for (size_t k = 0; k < m->nfunctions; k++) read_body(c, k);
  }
  return !c->words.starved;
}

typedef struct both {
  census_follow *c;
  void (*also)(void *, const word *, size_t);
  void *data;
} both;

static void count_one(void *data, const word *w, size_t n) {
  both *b = data;
  follow(b->c, w, n);
  b->also(b->data, w, n);
}

void cawb_census_count(census_follow *c, size_t function, void (*also)(void *, const word *, size_t), void *data) {
  const char *at = c->module->functions[function].body;
  both b = { c, also, data };
  c->scope = function + 1;
  c->ncalls = 0;
  c->counting = 1;
  c->stores = c->called = 0;
  c->ndistant = 0;
  cawb_census_body(&at, &c->words, count_one, &b);
}

void cawb_census_follow_end(census_follow *c) {
  cawb_census_flow_end(&c->flow);
  free(c->objects);
  free(c->words.w);
  free(c->calls);
  memset(c, 0, sizeof *c);
}
