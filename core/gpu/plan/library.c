/* library.c - see library.h. */
#include "gpu/plan/library.h"

#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE_ALIGN 256u        /* what devices give their buffers */
#define MOST_WORKSPACE ((lua_Integer)1 << 40)

/* ---- options ---- */

static int least_of(int a, int b) { return a < b ? a : b; }

/* Edit distance, in words of less than 32 letters. */
static int distance(const char *a, const char *b) {
  int row[33], n = (int)strlen(b);
  if (strlen(a) > 31 || n > 31) return 99;
  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 1; a[i - 1] != '\0'; i++) {
    int corner = row[0];
    row[0] = i;
    for (int j = 1; j <= n; j++) {
      int change = corner + (a[i - 1] != b[j - 1]);
      corner = row[j];
      row[j] = least_of(change, least_of(row[j], row[j - 1]) + 1);
    }
  }
  return row[n];
}

/* Push " (known: alpha, beta)". */
static const char *push_known(lua_State *L, const char *const *known) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int i = 0; known[i] != NULL; i++) {
    luaL_addstring(&b, i == 0 ? " (known: " : ", ");
    luaL_addstring(&b, known[i]);
  }
  luaL_addchar(&b, ')');
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

/* Push " (did you mean 'beta'?)", or what there is. */
static const char *push_hint(lua_State *L, const char *word, const char *const *known) {
  const char *near = NULL;
  int best = 3;
  for (int i = 0; known[i] != NULL; i++) {
    int d = distance(word, known[i]);
    if (d < best) best = d, near = known[i];
  }
  if (near != NULL) return lua_pushfstring(L, " (did you mean '%s'?)", near);
  return push_known(L, known);
}

int plan_call_begin(plan_call *c, lua_State *L, const char *name, const char *const *keys) {
  *c = (plan_call){ .L = L, .p = plan_self(L), .name = name };
  if (c->p->setting->no_libraries)
    luaL_error(L, "%s: library calls are not allowed here (option plan.libraries is false): "
               "write a kernel", name);
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  if (c->p->setting->kernels == NULL) return 0;
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    int known = 0;
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
    for (int i = 0; keys[i] != NULL; i++) known |= strcmp(key, keys[i]) == 0;
    if (!known) luaL_error(L, "%s: unknown option '%s'%s", name, key, push_hint(L, key, keys));
  }
  return 1;
}

int plan_call_word(const plan_call *c, const char *key, const char *const *words) {
  int kind = lua_getfield(c->L, 1, key), found = -1;
  const char *word = kind == LUA_TNIL ? NULL : luaL_tolstring(c->L, -1, NULL);
  for (int i = 0; word != NULL && words[i] != NULL; i++)
    if (strcmp(word, words[i]) == 0) found = i;
  if (kind != LUA_TNIL && found < 0)
    luaL_error(c->L, "%s: unknown %s '%s'%s", c->name, key, word, push_known(c->L, words));
  lua_settop(c->L, 1);
  return found;
}

int plan_call_flag(const plan_call *c, const char *key) {
  int kind = lua_getfield(c->L, 1, key), on = lua_toboolean(c->L, -1);
  if (kind != LUA_TNIL && kind != LUA_TBOOLEAN)
    luaL_error(c->L, "%s: '%s' is true or false", c->name, key);
  lua_pop(c->L, 1);
  return on;
}

double plan_call_number(const plan_call *c, const char *key, double fallback) {
  int kind = lua_getfield(c->L, 1, key);
  double value = kind == LUA_TNIL ? fallback : lua_tonumber(c->L, -1);
  if ((kind != LUA_TNIL && kind != LUA_TNUMBER) || !isfinite(value))
    luaL_error(c->L, "%s: '%s' is a finite number", c->name, key);
  lua_pop(c->L, 1);
  return value;
}

/* The whole number on the top of the stack. */
static int64_t read_count(const plan_call *c, const char *key, int64_t least) {
  int exact = 0;
  lua_Integer v = lua_type(c->L, -1) == LUA_TNUMBER ? lua_tointegerx(c->L, -1, &exact) : 0;
  if (!exact || v < least || v > INT32_MAX)
    luaL_error(c->L, "%s: '%s' has %s; it must be a whole number of %I or more", c->name, key,
               luaL_tolstring(c->L, -1, NULL), (LUAI_UACINT)least);
  return v;
}

int64_t plan_call_count(const plan_call *c, const char *key, int64_t fallback, int64_t least) {
  int64_t v = fallback;
  if (lua_getfield(c->L, 1, key) != LUA_TNIL) v = read_count(c, key, least);
  lua_pop(c->L, 1);
  return v;
}

void plan_call_counts(const plan_call *c, const char *key, int64_t *out, int n, int64_t fallback,
                      int64_t least) {
  int kind = lua_getfield(c->L, 1, key);
  if (kind == LUA_TTABLE && luaL_len(c->L, -1) != n)
    luaL_error(c->L, "%s: '%s' is a number or a list of %d, one for each dimension of space",
               c->name, key, n);
  for (int i = 0; i < n; i++) {
    out[i] = fallback;
    if (kind == LUA_TNIL) continue;
    if (kind == LUA_TTABLE) lua_rawgeti(c->L, -1, i + 1);
    else lua_pushvalue(c->L, -1);
    out[i] = read_count(c, key, least);
    lua_pop(c->L, 1);
  }
  lua_pop(c->L, 1);
}

const char *plan_push_sizes(lua_State *L, const int64_t *sizes, int n) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int i = 0; i < n; i++) {
    char text[32];
    snprintf(text, sizeof text, "%s%lld", i == 0 ? "{" : ", ", (long long)sizes[i]);
    luaL_addstring(&b, text);
  }
  luaL_addchar(&b, '}');
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

/* ---- tensors ---- */

static const cawb_tensor *read_tensor(plan_call *c, const char *key, size_t at, int needed) {
  int kind = lua_getfield(c->L, 1, key);
  const plan_handle *h = plan_handle_at(c->L, -1);
  if (h == NULL && (kind != LUA_TNIL || needed))
    luaL_error(c->L, "%s: '%s' is a tensor, got %s", c->name, key, luaL_typename(c->L, -1));
  lua_pop(c->L, 1);
  if (h == NULL) return NULL;
  const cawb_tensor *t = plan_spec(c->p, h);
  if (t->numel < 1)
    luaL_error(c->L, "%s: %s (%s) has no elements", c->name, key, t->label);
  c->bytes[c->nrefs] = t->bytes;
  c->refs[c->nrefs++] = (plan_ref){ at, h->tensor, plan_plus(c->p, h) };
  return t;
}

static cawb_plan_role role_of(const plan_call *c, const plan_ref *r) {
  return c->p->tensors[r->tensor].role;
}

const cawb_tensor *plan_call_input(plan_call *c, const char *key, size_t at, int needed) {
  const cawb_tensor *t = read_tensor(c, key, at, needed);
  if (t == NULL || c->p->phase != CAWB_PLAN_PREPARE) return t;
  cawb_plan_role role = role_of(c, &c->refs[c->nrefs - 1]);
  if (role != CAWB_PLAN_PARAM && role != CAWB_PLAN_SCRATCH)
    luaL_error(c->L, "%s: %s cannot be used in prepare, which sees params and scratch only",
               c->name, t->label);
  return t;
}

/* Libraries read their inputs while they write. */
static void check_apart(const plan_call *c, const char *key) {
  size_t last = c->nrefs - 1;
  const plan_ref *out = &c->refs[last];
  for (size_t i = 0; i < last; i++) {
    const plan_ref *in = &c->refs[i];
    int apart = in->tensor != out->tensor || in->plus >= out->plus + c->bytes[last] ||
                out->plus >= in->plus + c->bytes[i];
    if (!apart)
      luaL_error(c->L, "%s: '%s' overlaps an input, both are in %s: write to another output or to "
                 "scratch", c->name, key, c->p->tensors[in->tensor].spec.label);
  }
}

const cawb_tensor *plan_call_output(plan_call *c, const char *key, size_t at) {
  const cawb_tensor *t = read_tensor(c, key, at, 1);
  const plan_ref *r = &c->refs[c->nrefs - 1];
  int writable = role_of(c, r) == CAWB_PLAN_SCRATCH ||
                 (role_of(c, r) == CAWB_PLAN_OUTPUT && c->p->phase == CAWB_PLAN_CALL);
  if (!writable)
    luaL_error(c->L, "%s: '%s' is %s, which cannot be written to%s", c->name, key, t->label,
               c->p->phase == CAWB_PLAN_PREPARE ? " in prepare: use scratch" : "");
  check_apart(c, key);
  return t;
}

unsigned plan_call_align(const plan_call *c, size_t at) {
  size_t plus = 0;
  for (size_t i = 0; i < c->nrefs; i++)
    if (c->refs[i].at == at) plus = c->refs[i].plus;
  unsigned lowest = (unsigned)(plus & -plus);
  return plus % BASE_ALIGN == 0 ? BASE_ALIGN : lowest;
}

cawb_dtype plan_call_dtype(const plan_call *c, const char *key, const cawb_tensor *t) {
  for (int i = 0; i < CAWB_DTYPES; i++)
    if (strcmp(t->dtype, cawb_dtype_name((cawb_dtype)i)) == 0) return (cawb_dtype)i;
  luaL_error(c->L, "%s: '%s' is %s; it must be float32, float16 or bfloat16", c->name, key, t->dtype);
  return CAWB_DTYPES;
}

cawb_compute plan_call_compute(const plan_call *c, cawb_dtype t) {
  static const char *const words[] = { "float32", "tf32", "bf16", "fp16", NULL };
  static const cawb_compute own[] = { [CAWB_FLOAT16] = CAWB_COMPUTE_FP16,
                                      [CAWB_BFLOAT16] = CAWB_COMPUTE_BF16 };
  int word = plan_call_word(c, "compute", words);
  cawb_compute compute = word < 0 ? CAWB_COMPUTE_FLOAT32 : (cawb_compute)word;
  if (t != CAWB_FLOAT32 && compute != CAWB_COMPUTE_FLOAT32 && compute != own[t])
    luaL_error(c->L, "%s: compute '%s' is for float32 tensors; these are %s: write 'float32'",
               c->name, words[compute], cawb_dtype_name(t));
  return compute;
}

/* ---- workspace ---- */

/* All calls share one buffer, as large as the largest wants it: they run one by one. */
static size_t workspace_tensor(plan_call *c, size_t size) {
  cawb_plan *p = c->p;
  if (p->workspace == 0) {
    cawb_tensor t = { .label = "workspace", .dtype = "uint8", .rank = 1, .strides = { 1 } };
    p->workspace = plan_new_tensor(c->L, p, &t, CAWB_PLAN_SCRATCH) + 1;
  }
  cawb_tensor *t = &p->tensors[p->workspace - 1].spec;
  if (t->bytes < size) {
    t->bytes = (size + 3) / 4 * 4;
    t->shape[0] = t->numel = (int64_t)t->bytes;
  }
  return p->workspace - 1;
}

size_t plan_call_workspace(plan_call *c) {
  int exact = 1;
  lua_Integer size = (lua_Integer)c->p->setting->workspace;
  if (lua_getfield(c->L, 1, "workspace") != LUA_TNIL) size = lua_tointegerx(c->L, -1, &exact);
  if (!exact || size < 0 || size > MOST_WORKSPACE)
    luaL_error(c->L, "%s: 'workspace' is a number of bytes, 0 or more", c->name);
  lua_pop(c->L, 1);
  if (size > 0 && !c->p->setting->modelled)
    c->refs[c->nrefs++] = (plan_ref){ CAWB_OPERAND_WORKSPACE, workspace_tensor(c, (size_t)size), 0 };
  return (size_t)size;
}

/* ---- the step ---- */

/* Which tensors it reads and writes, by their labels. */
static void describe_tensors(const plan_call *c, plan_step *s) {
  cJSON *reads = cJSON_CreateArray(), *writes = cJSON_CreateArray();
  plan_call_describe(c, s, "reads", reads);
  plan_call_describe(c, s, "writes", writes);
  for (size_t i = 0; i < c->nrefs; i++) {
    const char *label = c->p->tensors[c->refs[i].tensor].spec.label;
    if (c->refs[i].at == CAWB_OPERAND_WORKSPACE) continue;
    plan_put(c->L, c->p, c->refs[i].at == CAWB_OPERAND_C ? writes : reads, NULL,
             cJSON_CreateString(label));
  }
}

plan_step *plan_call_step(plan_call *c, cawb_step_kind kind) {
  plan_step *s = plan_new_step(c->L, c->p, kind);
  s->refs = calloc(CAWB_OPERANDS, sizeof *s->refs);
  if (s->refs == NULL) plan_no_memory(c->L, c->p);
  memcpy(s->refs, c->refs, sizeof c->refs);
  s->nrefs = c->nrefs;
  plan_call_describe(c, s, "kind", cJSON_CreateString(c->name));
  describe_tensors(c, s);
  return s;
}

void plan_call_describe(const plan_call *c, plan_step *s, const char *key, cJSON *value) {
  plan_put(c->L, c->p, s->text, key, value);
}
