/* util.h - helpers of the binding files, and of no other file. */
#ifndef CAWB_LUA_UTIL_H
#define CAWB_LUA_UTIL_H

#include <cjson/cJSON.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "base/err.h"

/* The world failed: push nil, message, name and return 3. */
int cawb_lua_fail(lua_State *L, const cawb_err *err);

/*
** Make a metatable `name` with `methods` in a separate __index, `metas` on the
** metatable itself, and __metatable set so that scripts cannot reach __gc.
*/
void cawb_lua_class(lua_State *L, const char *name, const luaL_Reg *methods,
                    const luaL_Reg *metas);

/*
** JSON and Lua values. null becomes cawb's null sentinel (a light userdata) in
** arrays and is dropped from objects; a Lua table with [1] or marked by the
** array metatable is an array, any other is an object.
*/
void   cawb_lua_push_json(lua_State *L, const cJSON *j);
cJSON *cawb_lua_to_json(lua_State *L, int index);   /* its text, as an item that prints it; raises on what JSON cannot say */

/* The first line of a key file, kept out of what is recorded; NULL and `err`. Borrowed. */
const char *cawb_lua_secret_file(lua_State *L, const char *path, cawb_err *err);

int luaopen_cawb_core(lua_State *L);   /* the module of all bindings below */
int luaopen_cawb_budget(lua_State *L);
int luaopen_cawb_census(lua_State *L);
int luaopen_cawb_child(lua_State *L);
int luaopen_cawb_clock(lua_State *L);
int luaopen_cawb_fs(lua_State *L);
int luaopen_cawb_hash(lua_State *L);
int luaopen_cawb_http(lua_State *L);
int luaopen_cawb_json(lua_State *L);
int luaopen_cawb_locate(lua_State *L);
int luaopen_cawb_sealed(lua_State *L);
int luaopen_cawb_serve(lua_State *L);
int luaopen_cawb_store(lua_State *L);
int luaopen_cawb_times(lua_State *L);

#endif
