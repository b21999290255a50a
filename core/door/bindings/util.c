/* util.c - see util.h. */
#include "door/bindings/util.h"

int cawb_lua_fail(lua_State *L, const cawb_err *err) {
  lua_pushnil(L);
  lua_pushstring(L, err->msg);
  lua_pushstring(L, cawb_status_name(err->code));
  return 3;
}

void cawb_lua_class(lua_State *L, const char *name, const luaL_Reg *methods,
                    const luaL_Reg *metas) {
  luaL_newmetatable(L, name);             /* meta */
  luaL_setfuncs(L, metas, 0);
  lua_newtable(L);                        /* meta methods */
  luaL_setfuncs(L, methods, 0);
  lua_setfield(L, -2, "__index");
  lua_pushstring(L, name);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 1);
}
