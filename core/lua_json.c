/*
** lua_json.c - JSON text and Lua values. An array is a table with [1], or an
** empty one marked by json.array{}; null is json.null. Numbers that are whole
** become integers. What JSON cannot say (NaN, a function) raises.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lua_util.h"

#define ARRAY "cawb.json.array"
static const char null_tag = 0;

/* ---- JSON to Lua ---- */

void cawb_lua_push_json(lua_State *L, const cJSON *j) {
  const cJSON *item;
  luaL_checkstack(L, 6, "JSON is nested too deeply");
  if (cJSON_IsString(j)) lua_pushstring(L, j->valuestring);
  else if (cJSON_IsBool(j)) lua_pushboolean(L, cJSON_IsTrue(j));
  else if (cJSON_IsNumber(j)) {
    lua_Integer i;
    if (lua_numbertointeger(j->valuedouble, &i) && (double)i == j->valuedouble)
      lua_pushinteger(L, i);
    else lua_pushnumber(L, j->valuedouble);
  } else if (cJSON_IsArray(j)) {
    lua_Integer n = 0;
    lua_newtable(L);
    luaL_setmetatable(L, ARRAY);
    cJSON_ArrayForEach(item, j) {
      cawb_lua_push_json(L, item);
      lua_rawseti(L, -2, ++n);
    }
  } else if (cJSON_IsObject(j)) {
    lua_newtable(L);
    cJSON_ArrayForEach(item, j) {
      if (cJSON_IsNull(item)) continue;    /* an absent key, as Lua has it */
      cawb_lua_push_json(L, item);
      lua_setfield(L, -2, item->string);
    }
  } else {
    lua_pushlightuserdata(L, (void *)&null_tag);
  }
}

/* ---- Lua to JSON: first checked, so that the conversion has nothing to raise ---- */

enum { DEPTH = 200 };

static cJSON *convert(lua_State *L, int index);

static int is_array(lua_State *L, int index) {
  int marked = 0;
  if (lua_getmetatable(L, index)) {
    luaL_getmetatable(L, ARRAY);
    marked = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
  }
  int first = lua_rawgeti(L, index, 1) != LUA_TNIL;
  lua_pop(L, 1);
  return marked || first;
}

static void fill_array(lua_State *L, int index, cJSON *a) {
  lua_Integer n = luaL_len(L, index);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, index, i);
    cJSON_AddItemToArray(a, convert(L, lua_gettop(L)));
    lua_pop(L, 1);
  }
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Keys sorted: the same value is always the same text, so it can be hashed. */
static void fill_object(lua_State *L, int index, cJSON *o) {
  size_t n = 0, i = 0;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) n++;
  const char **keys = lua_newuserdatauv(L, (n + 1) * sizeof *keys, 0);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      luaL_error(L, "JSON objects have string keys, this table has a %s", luaL_typename(L, -2));
    keys[i++] = lua_tostring(L, -2);
  }
  qsort(keys, n, sizeof *keys, by_text);
  for (i = 0; i < n; i++) {
    lua_getfield(L, index, keys[i]);
    cJSON_AddItemToObject(o, keys[i], convert(L, lua_gettop(L)));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static cJSON *convert(lua_State *L, int index) {
  cJSON *j;
  switch (lua_type(L, index)) {
    case LUA_TBOOLEAN: return cJSON_CreateBool(lua_toboolean(L, index));
    case LUA_TNUMBER: return cJSON_CreateNumber(lua_tonumber(L, index));
    case LUA_TSTRING: return cJSON_CreateString(lua_tostring(L, index));
    case LUA_TTABLE: break;
    default: return cJSON_CreateNull();
  }
  if (is_array(L, index)) fill_array(L, index, j = cJSON_CreateArray());
  else fill_object(L, index, j = cJSON_CreateObject());
  return j;
}

static void check(lua_State *L, int index, int depth) {
  int type = lua_type(L, index);
  if (depth > DEPTH) luaL_error(L, "a table is nested too deeply for JSON");
  if (type == LUA_TNUMBER && !isfinite(lua_tonumber(L, index)))
    luaL_error(L, "JSON has no NaN or infinity");
  if (type == LUA_TLIGHTUSERDATA && lua_touserdata(L, index) == (void *)&null_tag) return;
  if (type == LUA_TNIL || type == LUA_TBOOLEAN || type == LUA_TNUMBER || type == LUA_TSTRING)
    return;
  if (type != LUA_TTABLE) luaL_error(L, "JSON cannot hold a %s", luaL_typename(L, index));
  int array = is_array(L, index);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (!array && lua_type(L, -2) != LUA_TSTRING)
      luaL_error(L, "JSON objects have string keys, this table has a %s", luaL_typename(L, -2));
    check(L, lua_gettop(L), depth + 1);
  }
}

cJSON *cawb_lua_to_json(lua_State *L, int index) {
  index = lua_absindex(L, index);
  luaL_checkstack(L, DEPTH * 6, "out of memory");
  check(L, index, 0);
  return convert(L, index);
}

/* ---- the module ---- */

static int json_encode(lua_State *L) {
  luaL_checkany(L, 1);
  cJSON *j = cawb_lua_to_json(L, 1);
  char *text = cJSON_PrintUnformatted(j);
  cJSON_Delete(j);
  if (text == NULL) return luaL_error(L, "out of memory");
  lua_pushstring(L, text);
  cJSON_free(text);
  return 1;
}

static int json_decode(lua_State *L) {
  size_t size;
  const char *text = luaL_checklstring(L, 1, &size);
  const char *end = text;
  cJSON *j = cJSON_ParseWithLengthOpts(text, size + 1, &end, 1);
  if (j == NULL) {
    cawb_err err;
    cawb_fail(&err, CAWB_ERR_INVALID, "malformed JSON at byte %td", end - text + 1);
    return cawb_lua_fail(L, &err);
  }
  cawb_lua_push_json(L, j);
  cJSON_Delete(j);
  return 1;
}

static int json_array(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_setmetatable(L, ARRAY);
  lua_settop(L, 1);
  return 1;
}

int luaopen_cawb_json(lua_State *L) {
  static const luaL_Reg lib[] = {
    { "encode", json_encode }, { "decode", json_decode }, { "array", json_array },
    { NULL, NULL }
  };
  luaL_newmetatable(L, ARRAY);
  lua_pop(L, 1);
  luaL_newlib(L, lib);
  lua_pushlightuserdata(L, (void *)&null_tag);
  lua_setfield(L, -2, "null");
  return 1;
}
