/*
** fuzz_reply.c - replies of endpoints: the readers of lua/cawb/agent/ask on any bytes, in any
** packets. reply.lua says what must hold. CAWB_SOURCE names the checkout, else it is ".".
*/
#include "fuzz.h"
#include "door/bindings/util.h"

#include <stdio.h>

static lua_State *L;

static void set_up(void) {
  if (L != NULL) return;
  const char *root = getenv("CAWB_SOURCE");
  L = luaL_newstate();
  FUZZ_CHECK(L != NULL);
  luaL_openlibs(L);
  luaL_requiref(L, "cawb.core", luaopen_cawb_core, 0);
  lua_pushstring(L, root != NULL ? root : ".");
  lua_setfield(L, -2, "home");
  lua_pushliteral(L, "0");
  lua_setfield(L, -2, "version");
  lua_pop(L, 1);
  lua_pushstring(L, root != NULL ? root : ".");
  lua_setglobal(L, "ROOT");
  if (luaL_dostring(L, "package.path = ROOT .. '/lua/?.lua;' .. ROOT .. '/lua/?/init.lua' "
                       "return dofile(ROOT .. '/tests/fuzz/reply.lua')")) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  set_up();
  lua_pushvalue(L, -1);
  lua_pushlstring(L, (const char *)data, size);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    abort();
  }
  return 0;
}
