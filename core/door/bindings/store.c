/*
** store.c - record/store.h for Lua: open, and a handle with begin, commit,
** rollback, insert, query, artifact, read, path, close.
** A wrong table, column, type or SQL raises; a full disk returns nil, message, name.
*/
#include <limits.h>
#include <stdlib.h>

#include "door/bindings/util.h"
#include "base/store/store.h"

#define STORE "cawb.store"
typedef struct { cawb_store *s; } box;         /* s == NULL means closed */

static cawb_store *check_store(lua_State *L) {
  box *p = luaL_checkudata(L, 1, STORE);
  luaL_argcheck(L, p->s != NULL, 1, "store is closed");
  return p->s;
}

/* The author's mistake raises, the world's failure is returned. */
static int fail(lua_State *L, const cawb_err *err) {
  if (err->code == CAWB_ERR_INVALID) return luaL_error(L, "%s", err->msg);
  return cawb_lua_fail(L, err);
}

static int done(lua_State *L, cawb_status st, const cawb_err *err) {
  if (st != CAWB_OK) return fail(L, err);
  lua_pushboolean(L, 1);
  return 1;
}

static int store_open(lua_State *L) {
  const char *dir = luaL_checkstring(L, 1);
  luaL_argcheck(L, *dir != '\0', 1, "the name of a folder expected");
  box *p = lua_newuserdatauv(L, sizeof *p, 0);
  p->s = NULL;
  luaL_setmetatable(L, STORE);
  cawb_err err;
  if (cawb_store_open(&p->s, dir, &err) != CAWB_OK) return cawb_lua_fail(L, &err);
  return 1;
}

static int store_close(lua_State *L) {         /* also __gc and __close */
  box *p = luaL_checkudata(L, 1, STORE);
  cawb_store *s = p->s;
  p->s = NULL;
  cawb_store_close(s);
  return 0;
}

static int store_begin(lua_State *L) {
  cawb_err err;
  return done(L, cawb_store_begin(check_store(L), &err), &err);
}

static int store_commit(lua_State *L) {
  cawb_err err;
  return done(L, cawb_store_commit(check_store(L), &err), &err);
}

static int store_rollback(lua_State *L) {
  cawb_store_rollback(check_store(L));
  return 0;
}

/* The Lua value at `index`; a string is borrowed for as long as it lives there. */
static int to_value(lua_State *L, int index, cawb_value *v) {
  switch (lua_type(L, index)) {
    case LUA_TNIL: v->type = CAWB_VALUE_NULL; return 1;
    case LUA_TBOOLEAN:
      v->type = CAWB_VALUE_INTEGER, v->integer = lua_toboolean(L, index); return 1;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index))
        v->type = CAWB_VALUE_INTEGER, v->integer = lua_tointeger(L, index);
      else
        v->type = CAWB_VALUE_REAL, v->real = lua_tonumber(L, index);
      return 1;
    case LUA_TSTRING:
      v->type = CAWB_VALUE_TEXT, v->data = lua_tolstring(L, index, &v->size); return 1;
    default: return 0;
  }
}

/* An array that Lua frees, left on the stack. */
static cawb_value *new_values(lua_State *L, size_t n) {
  cawb_value *v = lua_newuserdatauv(L, (n + 1) * sizeof *v, 0);
  for (size_t i = 0; i <= n; i++) v[i] = (cawb_value){0};
  return v;
}

static size_t count_columns(lua_State *L, int table) {
  size_t n = 0;
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      luaL_argerror(L, table, "a table of column = value expected");
    n++;
  }
  return n;
}

static int store_insert(lua_State *L) {
  cawb_store *s = check_store(L);
  const char *table = luaL_checkstring(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  cawb_value *columns = new_values(L, count_columns(L, 3));
  size_t n = 0;
  for (lua_pushnil(L); lua_next(L, 3); lua_pop(L, 1), n++) {
    columns[n].name = lua_tostring(L, -2);
    if (!to_value(L, -1, &columns[n]))
      return luaL_error(L, "%s.%s: a number, string or boolean expected, got a %s",
                        table, columns[n].name, luaL_typename(L, -1));
  }
  cawb_err err;
  return done(L, cawb_store_insert(s, table, columns, n, &err), &err);
}

static void push_value(lua_State *L, const cawb_value *v) {
  switch (v->type) {
    case CAWB_VALUE_INTEGER: lua_pushinteger(L, v->integer); break;
    case CAWB_VALUE_REAL: lua_pushnumber(L, v->real); break;
    case CAWB_VALUE_TEXT: case CAWB_VALUE_BLOB:
      lua_pushlstring(L, v->size > 0 ? v->data : "", v->size); break;
    default: lua_pushnil(L);
  }
}

typedef struct { lua_State *L; int rows; lua_Integer count; const cawb_value *row; size_t n; } sink;

/* rows, sink -> ; rows[#rows + 1] = { column = value, ... } */
static int append_row(lua_State *L) {
  sink *k = lua_touserdata(L, 2);
  lua_createtable(L, 0, (int)k->n);
  for (size_t i = 0; i < k->n; i++) {
    push_value(L, &k->row[i]);
    lua_setfield(L, -2, k->row[i].name);
  }
  lua_rawseti(L, 1, ++k->count);
  return 0;
}

/* Protected: an error of Lua's must not jump over the statement of the store. */
static int take_row(void *context, const cawb_value *row, size_t n) {
  sink *k = context;
  k->row = row;
  k->n = n;
  lua_pushcfunction(k->L, append_row);
  lua_pushvalue(k->L, k->rows);
  lua_pushlightuserdata(k->L, k);
  return lua_pcall(k->L, 2, 0, 0) != LUA_OK;   /* the error stays on the stack */
}

static int store_query(lua_State *L) {
  cawb_store *s = check_store(L);
  const char *sql = luaL_checkstring(L, 2);
  int n = lua_gettop(L) - 2;
  cawb_value *params = new_values(L, (size_t)n);
  for (int i = 0; i < n; i++)
    if (!to_value(L, i + 3, &params[i]))
      return luaL_argerror(L, i + 3, "a number, string, boolean or nil expected");
  lua_newtable(L);
  luaL_checkstack(L, LUA_MINSTACK, "query");
  int rows = lua_gettop(L);
  sink k = { .L = L, .rows = rows };
  cawb_err err;
  cawb_status st = cawb_store_query(s, sql, params, (size_t)n, take_row, &k, &err);
  if (lua_gettop(L) > rows) return lua_error(L);
  if (st != CAWB_OK) return fail(L, &err);
  return 1;
}

static int store_artifact(lua_State *L) {
  cawb_store *s = check_store(L);
  size_t size;
  const char *data = luaL_checklstring(L, 2, &size);
  char hex[65];
  cawb_err err;
  if (cawb_store_artifact(s, data, size, hex, &err) != CAWB_OK) return fail(L, &err);
  lua_pushstring(L, hex);
  return 1;
}

static int push_bytes(lua_State *L) {
  lua_pushlstring(L, lua_touserdata(L, 1), (size_t)lua_tointeger(L, 2));
  return 1;
}

static int store_read(lua_State *L) {
  cawb_store *s = check_store(L);
  const char *hex = luaL_checkstring(L, 2);
  void *data;
  size_t size;
  cawb_err err;
  lua_pushcfunction(L, push_bytes);
  if (cawb_store_read(s, hex, &data, &size, &err) != CAWB_OK) return fail(L, &err);
  lua_pushlightuserdata(L, data);
  lua_pushinteger(L, (lua_Integer)size);
  int rc = lua_pcall(L, 2, 1, 0);              /* the bytes are freed either way */
  free(data);
  return rc == LUA_OK ? 1 : lua_error(L);
}

static int store_path(lua_State *L) {
  cawb_store *s = check_store(L);
  char path[PATH_MAX];
  cawb_err err;
  if (lua_isnoneornil(L, 2))
    lua_pushstring(L, cawb_store_path(s));
  else if (cawb_store_artifact_path(s, luaL_checkstring(L, 2), path, sizeof path, &err) == CAWB_OK)
    lua_pushstring(L, path);
  else
    return fail(L, &err);
  return 1;
}

static int store_tostring(lua_State *L) {
  box *p = luaL_checkudata(L, 1, STORE);
  if (p->s == NULL) lua_pushliteral(L, STORE " (closed)");
  else lua_pushfstring(L, STORE " (%s)", cawb_store_path(p->s));
  return 1;
}

static const luaL_Reg methods[] = {
  { "begin", store_begin }, { "commit", store_commit }, { "rollback", store_rollback },
  { "insert", store_insert }, { "query", store_query },
  { "artifact", store_artifact }, { "read", store_read },
  { "path", store_path }, { "close", store_close },
  { NULL, NULL }
};

static const luaL_Reg metas[] = {
  { "__gc", store_close }, { "__close", store_close }, { "__tostring", store_tostring },
  { NULL, NULL }
};

static const luaL_Reg functions[] = { { "open", store_open }, { NULL, NULL } };

int luaopen_cawb_store(lua_State *L) {
  cawb_lua_class(L, STORE, methods, metas);
  luaL_newlib(L, functions);
  return 1;
}
