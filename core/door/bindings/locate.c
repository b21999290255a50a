/*
** locate.c - where the CUDA libraries and headers are, for `cawb doctor`.
**   locate.library("libnvrtc.so", site_packages) -> { path =, origin = }
**   locate.includes(site_packages) -> { { path =, origin = }, ... }
** or nil, message, name.
*/
#include "base/locate.h"
#include "door/bindings/util.h"

static void push_found(lua_State *L, const cawb_found *found) {
  lua_createtable(L, 0, 2);
  lua_pushstring(L, found->path);
  lua_setfield(L, -2, "path");
  lua_pushstring(L, found->origin);
  lua_setfield(L, -2, "origin");
}

static int locate_library(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  cawb_places places;
  cawb_found found;
  cawb_err err;
  cawb_places_default(&places, luaL_optstring(L, 2, NULL));
  if (cawb_locate_library(&found, &places, name, &err) != CAWB_OK)
    return cawb_lua_fail(L, &err);
  push_found(L, &found);
  return 1;
}

static int locate_includes(lua_State *L) {
  cawb_places places;
  cawb_includes found;
  cawb_err err;
  cawb_places_default(&places, luaL_optstring(L, 1, NULL));
  if (cawb_locate_includes(&found, &places, &err) != CAWB_OK) return cawb_lua_fail(L, &err);
  lua_createtable(L, found.count, 0);
  for (int i = 0; i < found.count; i++) {
    push_found(L, &found.list[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

int luaopen_cawb_locate(lua_State *L) {
  static const luaL_Reg lib[] = {
    { "library", locate_library }, { "includes", locate_includes }, { NULL, NULL }
  };
  luaL_newlib(L, lib);
  return 1;
}
