/* args.c - a launch's arguments against the kernel's signature. */
#include <inttypes.h>
#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/plan/record.h"

static const char *kind_name(const cawb_param *p, char buf[24]) {
  switch (p->kind) {
    case CAWB_PARAM_POINTER: return "pointer";
    case CAWB_PARAM_FLOAT:
      if (p->size == 4 || p->size == 8) return p->size == 8 ? "double" : "float";
      snprintf(buf, 24, "float%zu", p->size * 8);
      return buf;
    case CAWB_PARAM_INT:                  /* PTX does not tell a pointer that is not used from a number */
      if (p->size == 8) return "int64 or pointer";
      snprintf(buf, 24, "int%zu", p->size * 8);
      return buf;
    case CAWB_PARAM_BYTES: snprintf(buf, 24, "struct of %zu bytes", p->size); return buf;
  }
  return "?";
}

/* "(pointer, int32)" on the top of the stack. */
static const char *push_signature(lua_State *L, const cawb_kernel *k) {
  char buf[24];
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addchar(&b, '(');
  for (size_t i = 0; i < k->nparams; i++) {
    if (i > 0) luaL_addstring(&b, ", ");
    luaL_addstring(&b, kind_name(&k->params[i], buf));
  }
  luaL_addchar(&b, ')');
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

static int bad_arg(lua_State *L, const cawb_kernel *k, size_t i, int index) {
  char buf[24];
  const char *got = plan_handle_at(L, index) != NULL ? "a tensor" : luaL_typename(L, index);
  return luaL_error(L, "launch: argument %d of %s is a %s, got %s", (int)i + 1, k->plain,
                    kind_name(&k->params[i], buf), got);
}

static void pack_int(lua_State *L, const cawb_kernel *k, size_t i, int index,
                     unsigned char *dst) {
  const cawb_param *p = &k->params[i];
  int exact = 0;
  lua_Integer v = lua_type(L, index) == LUA_TNUMBER ? lua_tointegerx(L, index, &exact) : 0;
  if (!exact || p->size > sizeof v) bad_arg(L, k, i, index);
  if (p->size < 8) {                      /* PTX does not say whether it is signed */
    lua_Integer top = (lua_Integer)1 << (p->size * 8);
    if (v < -(top / 2) || v >= top)
      luaL_error(L, "launch: argument %d of %s does not fit in %d bits: %I", (int)i + 1,
                 k->plain, (int)p->size * 8, (LUAI_UACINT)v);
  }
  memcpy(dst, &v, p->size);               /* little-endian, as the device is */
}

static void pack_float(lua_State *L, const cawb_kernel *k, size_t i, int index,
                       unsigned char *dst) {
  size_t size = k->params[i].size;        /* a half or a 128-bit float: nothing to say it with */
  if (lua_type(L, index) != LUA_TNUMBER || (size != 4 && size != 8)) bad_arg(L, k, i, index);
  double d = lua_tonumber(L, index);
  float f = (float)d;
  if (size == 8) memcpy(dst, &d, sizeof d);
  else memcpy(dst, &f, sizeof f);
}

static void pack_tensor(lua_State *L, cawb_plan *p, plan_step *s, const cawb_kernel *k,
                        size_t i, const plan_handle *h) {
  const cawb_plan_tensor *t = &p->tensors[h->tensor];
  if (p->phase == CAWB_PLAN_PREPARE && t->role != CAWB_PLAN_PARAM &&
      t->role != CAWB_PLAN_SCRATCH)
    luaL_error(L, "launch: %s cannot be used in prepare, which sees params and scratch only",
               t->spec.label);
  s->refs[s->nrefs++] = (plan_ref){ .at = k->params[i].offset, .tensor = h->tensor,
                                    .plus = plan_plus(p, h) };
}

static void pack_one(lua_State *L, cawb_plan *p, plan_step *s, const cawb_kernel *k,
                     size_t i, int index) {
  const cawb_param *param = &k->params[i];
  const plan_handle *h = plan_handle_at(L, index);
  if (h != NULL) {                        /* an unused pointer looks like a 64-bit int */
    int takes = param->kind == CAWB_PARAM_POINTER ||
                (param->kind == CAWB_PARAM_INT && param->size == 8);
    if (!takes) bad_arg(L, k, i, index);
    pack_tensor(L, p, s, k, i, h);
  } else if (param->kind == CAWB_PARAM_INT) {
    pack_int(L, k, i, index, s->args + param->offset);
  } else if (param->kind == CAWB_PARAM_FLOAT) {
    pack_float(L, k, i, index, s->args + param->offset);
  } else {
    bad_arg(L, k, i, index);
  }
}

static cJSON *describe_arg(lua_State *L, const cawb_plan *p, int index) {
  const plan_handle *h = plan_handle_at(L, index);
  if (h != NULL) return cJSON_CreateString(plan_spec(p, h)->label);
  if (isfinite(lua_tonumber(L, index))) return cJSON_CreateNumber(lua_tonumber(L, index));
  return cJSON_CreateString(luaL_tolstring(L, index, NULL));   /* JSON has no such number */
}

void plan_pack_args(lua_State *L, cawb_plan *p, plan_step *s, const cawb_kernel *k,
                    int first) {
  size_t given = (size_t)lua_gettop(L) + 1 - (size_t)first;
  if (given != k->nparams)
    luaL_error(L, "launch: %s takes %d arguments %s, got %d", k->plain, (int)k->nparams,
               push_signature(L, k), (int)given);
  p->nargs += given;
  if (p->nargs > PLAN_MAX_ARGS)
    luaL_error(L, "launch: more than %d arguments in all launches together", PLAN_MAX_ARGS);
  s->args = calloc(1, k->args_size + 8);
  s->refs = calloc(k->nparams + 1, sizeof *s->refs);
  cJSON *words = cJSON_AddArrayToObject(s->text, "args");
  if (s->args == NULL || s->refs == NULL || words == NULL) plan_no_memory(L, p);
  for (size_t i = 0; i < k->nparams; i++) {
    pack_one(L, p, s, k, i, first + (int)i);
    plan_put(L, p, words, NULL, describe_arg(L, p, first + (int)i));
  }
  s->step.args = s->args;
  s->step.args_size = k->args_size;
}
