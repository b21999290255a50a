/*
** view.c - what plan.lua holds of a tensor: a handle that tells shape, strides and
** type, and views, which are other shapes of the same memory.
*/
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/plan/record.h"

#define HANDLE "cawb.tensor"

/* ---- handles ---- */

const plan_handle *plan_handle_at(lua_State *L, int index) {
  return luaL_testudata(L, index, HANDLE);
}

const cawb_tensor *plan_spec(const cawb_plan *p, const plan_handle *h) {
  return h->view >= 0 ? &p->views[h->view].spec : &p->tensors[h->tensor].spec;
}

size_t plan_plus(const cawb_plan *p, const plan_handle *h) {
  return h->view >= 0 ? p->views[h->view].plus : 0;
}

static void push_handle(lua_State *L, size_t tensor, long view) {
  plan_handle *h = lua_newuserdatauv(L, sizeof *h, 0);
  *h = (plan_handle){ tensor, view };
  luaL_setmetatable(L, HANDLE);
}

void plan_push_handle(lua_State *L, size_t tensor) { push_handle(L, tensor, -1); }

static void push_dims(lua_State *L, const int64_t *dims, int rank) {
  lua_createtable(L, rank, 0);
  for (int i = 0; i < rank; i++) {
    lua_pushinteger(L, dims[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

static int handle_index(lua_State *L) {
  const cawb_tensor *t = plan_spec(plan_self(L), luaL_checkudata(L, 1, HANDLE));
  const char *key = luaL_checkstring(L, 2);
  if (strcmp(key, "shape") == 0) push_dims(L, t->shape, t->rank);
  else if (strcmp(key, "strides") == 0) push_dims(L, t->strides, t->rank);
  else if (strcmp(key, "dtype") == 0) lua_pushstring(L, t->dtype);
  else if (strcmp(key, "numel") == 0) lua_pushinteger(L, t->numel);
  else if (strcmp(key, "bytes") == 0) lua_pushinteger(L, (lua_Integer)t->bytes);
  else if (strcmp(key, "rank") == 0) lua_pushinteger(L, t->rank);
  else return luaL_error(L, "%s has no field '%s' (it has shape, strides, dtype, numel, "
                         "bytes, rank; its data is not visible here)", t->label, key);
  return 1;
}

static int handle_tostring(lua_State *L) {
  lua_pushstring(L, plan_spec(plan_self(L), luaL_checkudata(L, 1, HANDLE))->label);
  return 1;
}

static void set_function(lua_State *L, cawb_plan *p, const char *name, lua_CFunction f) {
  lua_pushlightuserdata(L, p);
  lua_pushcclosure(L, f, 1);
  lua_setfield(L, -2, name);
}

void plan_open_handles(lua_State *L, cawb_plan *p) {
  luaL_newmetatable(L, HANDLE);
  set_function(L, p, "__index", handle_index);
  set_function(L, p, "__tostring", handle_tostring);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 1);
}

/* ---- views ---- */

static void check_keys(lua_State *L) {
  for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
    if (strcmp(key, "shape") != 0 && strcmp(key, "strides") != 0 && strcmp(key, "offset") != 0)
      luaL_error(L, "view: unknown option '%s' (shape, strides, offset)", key);
  }
}

/* The list under `key` as whole numbers of at least `least`; -1 if there is none. */
static int read_list(lua_State *L, const char *key, int64_t *out, lua_Integer least) {
  int kind = lua_getfield(L, 2, key), exact = 1;
  lua_Integer n = kind == LUA_TTABLE ? luaL_len(L, -1) : 0;
  if (kind != LUA_TNIL && (n < 1 || n > CAWB_TENSOR_RANK))
    luaL_error(L, "view: '%s' is a list of 1 to %d sizes", key, CAWB_TENSOR_RANK);
  for (lua_Integer i = 0; i < n; i++) {
    lua_rawgeti(L, -1, i + 1);
    out[i] = lua_tointegerx(L, -1, &exact);
    if (!exact || out[i] < least)
      luaL_error(L, "view: '%s' has %s, which is no whole number of %I or more", key,
                 luaL_tolstring(L, -1, NULL), (LUAI_UACINT)least);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return kind == LUA_TNIL ? -1 : (int)n;
}

/* Elements from the first to the last, both counted; raises where that overflows. */
static int64_t span(lua_State *L, const cawb_tensor *t) {
  int64_t all = 1, step;
  for (int i = 0; i < t->rank; i++)
    if (__builtin_mul_overflow(t->shape[i] - 1, t->strides[i], &step) ||
        __builtin_add_overflow(all, step, &all))
      luaL_error(L, "view: its strides overflow");
  return all;
}

static int is_contiguous(const cawb_tensor *t) {
  int64_t step = 1;
  for (int i = t->rank - 1; i >= 0; i--) {
    if (t->shape[i] != 1 && t->strides[i] != step) return 0;
    if (__builtin_mul_overflow(step, t->shape[i], &step)) return 0;
  }
  return 1;
}

/* The view's shape and strides, in elements of its tensor's type. */
static void read_view(lua_State *L, const cawb_tensor *of, cawb_tensor *t) {
  cawb_err err;
  int64_t strides[CAWB_TENSOR_RANK];
  t->rank = read_list(L, "shape", t->shape, 1);
  if (t->rank < 0) luaL_error(L, "view: 'shape' is missing: write view(t, { shape = {...} })");
  int given = read_list(L, "strides", strides, 0);
  if (given >= 0 && given != t->rank)
    luaL_error(L, "view: %d strides for %d dimensions", given, t->rank);
  if (given < 0 && !is_contiguous(of))
    luaL_error(L, "view: %s is not contiguous: give 'strides' too", of->label);
  if (cawb_tensor_contiguous(t, &err) != CAWB_OK) luaL_error(L, "view: its shape overflows");
  if (given >= 0) memcpy(t->strides, strides, sizeof strides);
}

static size_t read_offset(lua_State *L) {
  int exact = 1;
  lua_Integer n = lua_getfield(L, 2, "offset") == LUA_TNIL ? 0 : lua_tointegerx(L, -1, &exact);
  if (!exact || n < 0) luaL_error(L, "view: 'offset' is a whole number of elements, 0 or more");
  lua_pop(L, 1);
  return (size_t)n;
}

static void check_bounds(lua_State *L, const cawb_tensor *of, const cawb_tensor *t, size_t offset) {
  size_t each = cawb_tensor_dtype_size(of->dtype), has = of->bytes / each;
  size_t needs = (size_t)span(L, t);
  if (needs <= has && offset <= has - needs) return;
  luaL_error(L, "view: %I elements from %I on do not fit into %s, which has %I",
             (LUAI_UACINT)needs, (LUAI_UACINT)offset, of->label, (LUAI_UACINT)has);
}

static long add_view(lua_State *L, cawb_plan *p, const plan_view *v) {
  if (p->nviews == PLAN_MAX_TENSORS) luaL_error(L, "more than %d views", PLAN_MAX_TENSORS);
  plan_view *grown = realloc(p->views, (p->nviews + 1) * sizeof *grown);
  if (grown == NULL) plan_no_memory(L, p);
  p->views = grown;
  grown[p->nviews] = *v;
  return (long)p->nviews++;
}

int plan_make_view(lua_State *L) {
  cawb_plan *p = plan_self(L);
  const plan_handle *h = plan_handle_at(L, 1);
  luaL_argcheck(L, h != NULL, 1, "a tensor is expected");
  luaL_checktype(L, 2, LUA_TTABLE);
  check_keys(L);
  const cawb_tensor *of = plan_spec(p, h);
  plan_view v;
  memset(&v, 0, sizeof v);
  snprintf(v.spec.dtype, sizeof v.spec.dtype, "%s", of->dtype);
  snprintf(v.spec.label, sizeof v.spec.label, "view(%.80s)", p->tensors[h->tensor].spec.label);
  read_view(L, of, &v.spec);
  size_t offset = read_offset(L), each = cawb_tensor_dtype_size(of->dtype);
  check_bounds(L, of, &v.spec, offset);
  v.spec.bytes = (size_t)span(L, &v.spec) * each;
  v.tensor = h->tensor;
  v.plus = plan_plus(p, h) + offset * each;
  push_handle(L, h->tensor, add_view(L, p, &v));
  return 1;
}
