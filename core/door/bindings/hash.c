/* hash.c - content hashes, for Lua: hash.sha256(text) -> 64 hex digits. */
#include "door/bindings/util.h"
#include "base/sha256.h"

static int hash_sha256(lua_State *L) {
  size_t size;
  const char *text = luaL_checklstring(L, 1, &size);
  char hex[65];
  cawb_sha256_hex(text, size, hex);
  lua_pushlstring(L, hex, 64);
  return 1;
}

int luaopen_cawb_hash(lua_State *L) {
  static const luaL_Reg lib[] = { { "sha256", hash_sha256 }, { NULL, NULL } };
  luaL_newlib(L, lib);
  return 1;
}
