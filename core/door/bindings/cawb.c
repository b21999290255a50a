/*
** cawb.c - the module `cawb.core`: every binding, one noun each. The public
** module `cawb` (lua/cawb/init.lua) is written in Lua on top of it.
*/
#include "door/bindings/util.h"

int luaopen_cawb_core(lua_State *L) {
  static const luaL_Reg nouns[] = {
    { "budget", luaopen_cawb_budget },  /* what a run may spend */
    { "census", luaopen_cawb_census },  /* what is written in PTX */
    { "child", luaopen_cawb_child },    /* processes that answer requests */
    { "clock", luaopen_cawb_clock },    /* time, randomness, Ctrl-C */
    { "fs", luaopen_cawb_fs },          /* folders, paths, the terminal */
    { "hash", luaopen_cawb_hash },      /* SHA-256 */
    { "http", luaopen_cawb_http },      /* requests to endpoints, their keys, event streams */
    { "json", luaopen_cawb_json },      /* JSON text and Lua values */
    { "locate", luaopen_cawb_locate },  /* where the CUDA libraries are */
    { "sealed", luaopen_cawb_sealed },  /* a function in a Lua state of its own */
    { "serve", luaopen_cawb_serve },    /* a server of HTTP and WebSockets */
    { "store", luaopen_cawb_store },    /* the ledger of runs */
    { "times", luaopen_cawb_times },    /* formulas that models of time have in common */
    { NULL, NULL }
  };
  lua_newtable(L);
  for (const luaL_Reg *n = nouns; n->name != NULL; n++) {
    lua_pushcfunction(L, n->func);
    lua_call(L, 0, 1);
    lua_setfield(L, -2, n->name);
  }
  lua_pushliteral(L, CAWB_VERSION);
  lua_setfield(L, -2, "version");
  return 1;
}
