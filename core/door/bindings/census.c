/* census.c - the census of a module's PTX, for Lua: census.read(ptx) -> table. */
#include "gpu/ptx/census.h"
#include "door/bindings/util.h"

static int census_read(lua_State *L) {
  const char *ptx = luaL_checkstring(L, 1);
  cJSON *found;
  cawb_err err;
  if (cawb_census_new(&found, ptx, &err) != CAWB_OK) return cawb_lua_fail(L, &err);
  cawb_lua_push_json(L, found);
  cJSON_Delete(found);
  return 1;
}

int luaopen_cawb_census(lua_State *L) {
  static const luaL_Reg lib[] = { { "read", census_read }, { NULL, NULL } };
  luaL_newlib(L, lib);
  return 1;
}
