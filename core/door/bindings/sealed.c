/*
** sealed.c - one function of a text in a Lua state of its own, for Lua:
** sealed.call{ text =, name =, entry =, arguments = {...}, memory = bytes, instructions = n, seconds =, first = }
** runs `text`, which returns a table, and calls its field `entry`. Arguments and the result
** are plain data and cross as copies, so the text can change nothing here; it has the
** sandbox's allow-list of functions (plan/sandbox.h). Returns the result (nil for nothing), or
** nil, message, name.
** sealed.data(value): plain data that many calls take as the argument before all others, as `first`; read once. To be closed.
*/
#include <string.h>

#include "door/bindings/util.h"
#include "gpu/plan/sandbox.h"

#define DATA "cawb.sealed.data"

typedef struct data { cJSON *value; } data;      /* NULL: closed */

typedef struct job {
  const char *text, *name, *entry;
  const cJSON *first, *arguments;      /* first: NULL, or before the others */
  char *result;              /* JSON; NULL: it returned nothing */
} job;

/* In the sealed state. */
static int perform(lua_State *L) {
  job *j = lua_touserdata(L, 1);
  const cJSON *item;
  int n = 0;
  if (luaL_loadbufferx(L, j->text, strlen(j->text), lua_pushfstring(L, "@%s", j->name), "t") != LUA_OK)
    return lua_error(L);
  lua_call(L, 0, 1);
  if (lua_type(L, -1) != LUA_TTABLE || lua_getfield(L, -1, j->entry) != LUA_TFUNCTION)
    return luaL_error(L, "%s: it must return a table with the function '%s'", j->name, j->entry);
  if (j->first != NULL) {
    cawb_lua_push_json(L, j->first);
    n++;
  }
  cJSON_ArrayForEach(item, j->arguments) {
    luaL_checkstack(L, 8, "too many arguments");
    cawb_lua_push_json(L, item);
    n++;
  }
  lua_call(L, n, 1);
  if (lua_isnil(L, -1)) return 0;
  cJSON *result = cawb_lua_to_json(L, -1);
  j->result = cJSON_PrintUnformatted(result);
  cJSON_Delete(result);
  return j->result != NULL ? 0 : luaL_error(L, "out of memory");
}

static const char *need_text(lua_State *L, const char *key) {
  if (lua_getfield(L, 1, key) != LUA_TSTRING)
    luaL_error(L, "sealed.call: '%s' must be a string", key);
  return lua_tostring(L, -1);           /* kept alive by the stack */
}

static lua_Integer need_count(lua_State *L, const char *key) {
  int whole;
  lua_getfield(L, 1, key);
  lua_Integer n = lua_tointegerx(L, -1, &whole);
  if (!whole || n < 1) luaL_error(L, "sealed.call: '%s' must be a positive whole number", key);
  return n;
}

static cawb_status run(job *j, const cawb_sandbox_limits *limits, cawb_err *err) {
  cawb_sandbox *box;
  cawb_status rc = cawb_sandbox_new(&box, limits, err);
  if (rc == CAWB_OK) rc = cawb_sandbox_call(box, perform, j, err);
  cawb_sandbox_free(box);
  return rc;
}

static int data_close(lua_State *L) {
  data *d = luaL_checkudata(L, 1, DATA);
  cJSON_Delete(d->value);
  d->value = NULL;
  return 0;
}

/* The value at the top as JSON with numbers that can be read: what came from Lua has them as
** text. */
static cJSON *take_arguments(lua_State *L) {
  cJSON *made = cawb_lua_to_json(L, -1);
  char *text = cJSON_PrintUnformatted(made);
  cJSON_Delete(made);
  cJSON *read = text != NULL ? cJSON_Parse(text) : NULL;
  cJSON_free(text);
  return read;
}

static int sealed_data(lua_State *L) {
  luaL_checkany(L, 1);
  data *d = lua_newuserdatauv(L, sizeof *d, 0);
  d->value = NULL;
  luaL_setmetatable(L, DATA);
  lua_pushvalue(L, 1);
  d->value = take_arguments(L);
  lua_pop(L, 1);
  return d->value != NULL ? 1 : luaL_error(L, "out of memory");
}

/* What stands under `first`: NULL for nothing. */
static const cJSON *first_of(lua_State *L) {
  if (lua_getfield(L, 1, "first") == LUA_TNIL) return NULL;
  const data *d = luaL_checkudata(L, -1, DATA);
  if (d->value == NULL) luaL_error(L, "sealed.call: 'first' is closed");
  return d->value;
}

static int push_result(lua_State *L, char *text) {
  cJSON *result = text != NULL ? cJSON_Parse(text) : NULL;
  cJSON_free(text);
  if (result == NULL) lua_pushnil(L);
  else cawb_lua_push_json(L, result);
  cJSON_Delete(result);
  return 1;
}

static int sealed_call(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  job j = { need_text(L, "text"), need_text(L, "name"), need_text(L, "entry"), NULL, NULL, NULL };
  cawb_sandbox_limits limits = { (size_t)need_count(L, "memory"), (long)need_count(L, "instructions"), 0 };
  lua_getfield(L, 1, "seconds");
  limits.seconds = luaL_optnumber(L, -1, 0);
  cawb_err err;
  j.first = first_of(L);
  lua_getfield(L, 1, "arguments");
  cJSON *arguments = take_arguments(L);
  if (arguments == NULL) return luaL_error(L, "out of memory");
  j.arguments = arguments;
  cawb_status rc = run(&j, &limits, &err);
  cJSON_Delete(arguments);
  if (rc == CAWB_OK) return push_result(L, j.result);
  cJSON_free(j.result);
  return cawb_lua_fail(L, &err);
}

int luaopen_cawb_sealed(lua_State *L) {
  static const luaL_Reg lib[] = { { "call", sealed_call }, { "data", sealed_data }, { NULL, NULL } };
  static const luaL_Reg methods[] = { { "close", data_close }, { NULL, NULL } };
  static const luaL_Reg metas[] = { { "__gc", data_close }, { "__close", data_close }, { NULL, NULL } };
  cawb_lua_class(L, DATA, methods, metas);
  luaL_newlib(L, lib);
  return 1;
}
