/* declare.c - scratch memory, prepare, tunables. */
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/plan/record.h"

static int64_t read_size(lua_State *L, int index) {
  int exact;
  lua_Integer n = lua_tointegerx(L, index, &exact);
  if (!exact) luaL_error(L, "scratch: sizes must be whole numbers, got %s",
                         luaL_tolstring(L, index, NULL));
  return n;
}

/* {shape = {...}, dtype = "float32"} at index 1. */
static void read_shaped(lua_State *L, cawb_tensor *t) {
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
    if (strcmp(key, "shape") != 0 && strcmp(key, "dtype") != 0)
      luaL_error(L, "scratch: unknown option '%s' (shape, dtype)", key);
  }
  lua_getfield(L, 1, "dtype");
  const char *dtype = luaL_optstring(L, -1, "float32");
  if (cawb_tensor_dtype_size(dtype) == 0) luaL_error(L, "scratch: unknown dtype '%s'", dtype);
  snprintf(t->dtype, sizeof t->dtype, "%s", dtype);
  if (lua_getfield(L, 1, "shape") != LUA_TTABLE) luaL_error(L, "scratch: 'shape' is missing");
  lua_Integer rank = luaL_len(L, -1);            /* with holes, it may be anything */
  if (rank > CAWB_TENSOR_RANK) luaL_error(L, "scratch: too many dimensions");
  t->rank = (int)rank;
  for (int i = 0; i < t->rank; i++) {
    lua_rawgeti(L, -1, i + 1);
    t->shape[i] = read_size(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
}

static void read_scratch(lua_State *L, cawb_tensor *t) {
  cawb_err err;
  if (lua_istable(L, 1)) {
    read_shaped(L, t);
  } else {
    t->rank = 1;
    t->shape[0] = read_size(L, 1);
    snprintf(t->dtype, sizeof t->dtype, "uint8");
  }
  for (int i = 0; i < t->rank; i++)
    if (t->shape[i] < 1) luaL_error(L, "scratch: sizes must be positive");
  if (cawb_tensor_contiguous(t, &err) != CAWB_OK) luaL_error(L, "%s", err.msg);
}

int plan_scratch(lua_State *L) {
  cawb_plan *p = plan_self(L);
  cawb_tensor t;
  memset(&t, 0, sizeof t);
  lua_Integer n = 0;
  for (size_t i = 0; i < p->ntensors; i++) n += p->tensors[i].role == CAWB_PLAN_SCRATCH;
  snprintf(t.label, sizeof t.label, "scratch[%d]", (int)n + 1);
  read_scratch(L, &t);
  t.bytes = (t.bytes + 3) / 4 * 4;                     /* so that memset can fill it */
  plan_push_handle(L, plan_new_tensor(L, p, &t, CAWB_PLAN_SCRATCH));
  return 1;
}

int plan_prepare(lua_State *L) {
  cawb_plan *p = plan_self(L);
  luaL_checktype(L, 1, LUA_TFUNCTION);
  if (p->phase == CAWB_PLAN_PREPARE) return luaL_error(L, "prepare inside prepare");
  p->phase = CAWB_PLAN_PREPARE;
  lua_settop(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, "cawb.params");
  lua_call(L, 1, 0);
  p->phase = CAWB_PLAN_CALL;
  return 0;
}

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* Whether the string at `index` is one or more of `allowed`; a NUL never is. */
static int is_word(lua_State *L, int index, const char *allowed) {
  size_t size;
  const char *s = lua_tolstring(L, index, &size);
  return size > 0 && strspn(s, allowed) == size;
}

static cJSON *read_value(lua_State *L, const char *name) {
  lua_Integer most = (lua_Integer)1 << 53;       /* JSON's numbers are doubles */
  lua_Integer i = lua_tointeger(L, -1);
  if (lua_isinteger(L, -1) && i >= -most && i <= most) return cJSON_CreateNumber((double)i);
  if (lua_type(L, -1) == LUA_TSTRING && is_word(L, -1, WORD ".+-"))
    return cJSON_CreateString(lua_tostring(L, -1));
  luaL_error(L, "tunables: '%s' must list whole numbers or plain words", name);
  return NULL;
}

static void add_tunable(lua_State *L, cawb_plan *p) {    /* name at -2, values at -1 */
  if (lua_type(L, -2) != LUA_TSTRING || !lua_istable(L, -1) || luaL_len(L, -1) < 1)
    luaL_error(L, "tunables: write tunables{ name = {value, ...}, ... }");
  const char *name = lua_tostring(L, -2);
  if (!is_word(L, -2, WORD) || (name[0] >= '0' && name[0] <= '9'))
    luaL_error(L, "tunables: '%s' cannot be the name of a define", name);
  cJSON *one = cJSON_CreateObject(), *values;
  plan_put(L, p, p->tunables, NULL, one);                /* owned by the plan from here */
  plan_put(L, p, one, "name", cJSON_CreateString(name));
  plan_put(L, p, one, "values", values = cJSON_CreateArray());
  for (lua_Integer i = 1, n = luaL_len(L, -1); i <= n; i++) {
    lua_rawgeti(L, -1, i);
    plan_put(L, p, values, NULL, read_value(L, name));
    lua_pop(L, 1);
  }
}

static int by_name(const void *a, const void *b) {
  const cJSON *x = *(cJSON *const *)a, *y = *(cJSON *const *)b;
  return strcmp(x->child->valuestring, y->child->valuestring);
}

/* A Lua table has no order; a sweep needs one that is the same every time. */
static void sort_tunables(lua_State *L, cJSON *list) {
  int n = cJSON_GetArraySize(list);
  cJSON **items = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof(cJSON *), 0);
  for (int i = 0; i < n; i++) items[i] = cJSON_DetachItemFromArray(list, 0);
  qsort(items, (size_t)n, sizeof(cJSON *), by_name);
  for (int i = 0; i < n; i++) cJSON_AddItemToArray(list, items[i]);
  lua_pop(L, 1);
}

/* JSON text of a value as a Lua string, on the stack. */
static const char *push_json(lua_State *L, const cJSON *value) {
  char *text = cJSON_PrintUnformatted(value);
  lua_pushstring(L, text != NULL ? text : "?");
  cJSON_free(text);
  return lua_tostring(L, -1);
}

static const cJSON *choose(lua_State *L, const cawb_plan *p, const cJSON *tunable) {
  const char *name = tunable->child->valuestring;
  const cJSON *values = cJSON_GetObjectItemCaseSensitive(tunable, "values"), *v;
  const cJSON *wanted = cJSON_GetObjectItemCaseSensitive(p->setting->tunables, name);
  if (wanted == NULL) return values->child;
  cJSON_ArrayForEach(v, values) if (cJSON_Compare(v, wanted, 1)) return v;
  luaL_error(L, "tunables: %s is chosen for '%s', whose values are %s", push_json(L, wanted), name, push_json(L, values));
  return NULL;
}

int plan_tunables(lua_State *L) {
  cawb_plan *p = plan_self(L);
  luaL_checktype(L, 1, LUA_TTABLE);
  if (p->tunables != NULL) return luaL_error(L, "tunables: call it once");
  p->tunables = cJSON_CreateArray();
  if (p->tunables == NULL) return plan_no_memory(L, p);
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) add_tunable(L, p);
  sort_tunables(L, p->tunables);
  p->declared = 1;
  if (p->probing) return luaL_error(L, "declared");      /* nobody sees this one */
  const cJSON *t;
  lua_newtable(L);
  cJSON_ArrayForEach(t, p->tunables) {
    plan_push_plain(L, choose(L, p, t));
    lua_setfield(L, -2, t->child->valuestring);
  }
  return 1;
}
