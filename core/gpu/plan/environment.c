/*
** environment.c - what plan.lua can see: inputs, outputs, parameters. Their handles are in
** view.c; what it can call is in launch.c, declare.c, gemm.c and
** conv.c. Everything may raise.
*/
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/plan/record.h"

cawb_plan *plan_self(lua_State *L) { return lua_touserdata(L, lua_upvalueindex(1)); }

int plan_no_memory(lua_State *L, cawb_plan *p) {
  p->starved = 1;
  luaL_error(L, "out of memory for a plan");
  abort();                            /* it does not return, but is not declared so */
}

void plan_put(lua_State *L, cawb_plan *p, cJSON *parent, const char *key, cJSON *item) {
  int done = item != NULL && (key != NULL ? cJSON_AddItemToObject(parent, key, item)
                                          : cJSON_AddItemToArray(parent, item));
  if (done) return;
  cJSON_Delete(item);
  plan_no_memory(L, p);
}

size_t plan_new_tensor(lua_State *L, cawb_plan *p, const cawb_tensor *spec, cawb_plan_role role) {
  if (p->ntensors == PLAN_MAX_TENSORS) luaL_error(L, "more than %d tensors", PLAN_MAX_TENSORS);
  long i = plan_add_tensor(p, spec, role);
  if (i < 0) plan_no_memory(L, p);
  return (size_t)i;
}

/* ---- inputs, outputs, params ---- */

static void push_tensor(lua_State *L, cawb_plan *p, const cJSON *spec, const char *label,
                        cawb_plan_role role) {
  cawb_tensor t;
  cawb_err err;
  if (cawb_tensor_read(&t, spec, label, &err) != CAWB_OK) luaL_error(L, "%s", err.msg);
  plan_push_handle(L, plan_new_tensor(L, p, &t, role));
}

void plan_push_plain(lua_State *L, const cJSON *v) {
  lua_Integer i;
  if (cJSON_IsBool(v)) lua_pushboolean(L, cJSON_IsTrue(v));
  else if (cJSON_IsString(v)) lua_pushstring(L, v->valuestring);
  else if (!cJSON_IsNumber(v)) lua_pushboolean(L, 0);   /* None: no hole in the list */
  else if (lua_numbertointeger(v->valuedouble, &i) && v->valuedouble == (double)i)
    lua_pushinteger(L, i);
  else lua_pushnumber(L, v->valuedouble);
}

static void push_list(lua_State *L, cawb_plan *p, const cJSON *list, const char *name,
                      cawb_plan_role role);

static void push_item(lua_State *L, cawb_plan *p, const cJSON *spec, const char *label,
                      cawb_plan_role role) {
  const cJSON *items = cJSON_GetObjectItemCaseSensitive(spec, "items");
  const cJSON *value = cJSON_GetObjectItemCaseSensitive(spec, "value");
  luaL_checkstack(L, 8, "inputs are nested too deeply");
  if (cJSON_GetObjectItemCaseSensitive(spec, "none") != NULL) lua_pushboolean(L, 0);
  else if (items != NULL) push_list(L, p, items, label, role);
  else if (value != NULL) plan_push_plain(L, value);
  else push_tensor(L, p, spec, label, role);
}

static void push_list(lua_State *L, cawb_plan *p, const cJSON *list, const char *name,
                      cawb_plan_role role) {
  const cJSON *spec;
  int i = 0;
  lua_newtable(L);
  cJSON_ArrayForEach(spec, list) {
    const char *label = lua_pushfstring(L, "%s[%d]", name, ++i);
    push_item(L, p, spec, label, role);            /* list label item */
    const char *known = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(spec, "name"));
    if (known != NULL) {
      lua_pushvalue(L, -1);
      lua_setfield(L, -4, known);
    }
    lua_rawseti(L, -3, i);
    lua_pop(L, 1);
  }
}

static int params_next(lua_State *L) {             /* upvalues: names, params, position */
  lua_Integer i = lua_tointeger(L, lua_upvalueindex(3)) + 1;
  lua_pushinteger(L, i);
  lua_replace(L, lua_upvalueindex(3));
  if (lua_rawgeti(L, lua_upvalueindex(1), i) == LUA_TNIL) return 1;
  lua_pushvalue(L, -1);
  lua_rawget(L, lua_upvalueindex(2));
  return 2;
}

/* pairs(params) goes in the task's order, not in that of a hash table. */
static int params_pairs(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "cawb.param_names");
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, params_next, 3);
  return 1;
}

static int params_unknown(lua_State *L) {
  return luaL_error(L, "the task has no parameter '%s'", luaL_tolstring(L, 2, NULL));
}

static void push_params(lua_State *L, cawb_plan *p, const cJSON *list) {
  const cJSON *spec;
  int n = 0;
  lua_newtable(L);                                     /* names */
  lua_newtable(L);                                     /* names params */
  cJSON_ArrayForEach(spec, list) {
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(spec, "name"));
    if (name == NULL) luaL_error(L, "a parameter has no name");
    const char *label = lua_pushfstring(L, "params.%s", name);
    push_tensor(L, p, spec, label, CAWB_PLAN_PARAM);   /* names params label handle */
    lua_setfield(L, -3, name);
    lua_pop(L, 1);
    lua_pushstring(L, name);
    lua_rawseti(L, -3, ++n);
  }
  static const luaL_Reg metas[] = {
    { "__pairs", params_pairs }, { "__index", params_unknown }, { NULL, NULL }
  };
  luaL_newlib(L, metas);
  lua_setmetatable(L, -2);
  lua_insert(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, "cawb.param_names");
}

/* ---- the state ---- */

static void push_function(lua_State *L, cawb_plan *p, lua_CFunction f) {
  lua_pushlightuserdata(L, p);
  lua_pushcclosure(L, f, 1);
}

int plan_open(lua_State *L) {
  cawb_plan *p = lua_touserdata(L, 1);
  static const luaL_Reg functions[] = {
    { "launch", plan_launch }, { "memset", plan_memset }, { "scratch", plan_scratch },
    { "prepare", plan_prepare }, { "tunables", plan_tunables }, { "view", plan_make_view },
    { "gemm", plan_gemm }, { "conv", plan_conv }, { NULL, NULL }
  };
  plan_open_handles(L, p);
  for (const luaL_Reg *f = functions; f->name != NULL; f++) {
    push_function(L, p, f->func);
    lua_setglobal(L, f->name);
  }
  push_list(L, p, p->setting->inputs, "inputs", CAWB_PLAN_INPUT);
  lua_setglobal(L, "inputs");
  push_list(L, p, p->setting->outputs, "outputs", CAWB_PLAN_OUTPUT);
  lua_setglobal(L, "outputs");
  push_params(L, p, p->setting->params);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, "cawb.params");
  lua_setglobal(L, "params");
  return 0;
}
