/* times.c - the formulas that both models of time have in common, for Lua. */
#include "gpu/device/times.h"
#include "door/bindings/util.h"

/* product(rate, sms, count, m, n, k): seconds of products in tiles. */
static int times_product(lua_State *L) {
  double v[6];
  for (int i = 0; i < 6; i++) v[i] = luaL_checknumber(L, i + 1);
  lua_pushnumber(L, cawb_times_product(v[0], v[1], v[2], v[3], v[4], v[5]));
  return 1;
}

/* left_over(all, dirty, fetched, stored): bytes that go through DRAM beside what is asked for, since L2 was dirty; less than none
** where more stays there. */
static int times_left_over(lua_State *L) {
  lua_pushnumber(L, cawb_times_left_over(luaL_checknumber(L, 1), luaL_checknumber(L, 2), luaL_checknumber(L, 3),
                                         luaL_checknumber(L, 4)));
  return 1;
}

/* norm(p, bound, ...): seconds of bounds beside each other, eight at most. */
static int times_norm(lua_State *L) {
  enum { MOST = 8 };
  double bounds[MOST];
  int n = lua_gettop(L) - 1;
  luaL_argcheck(L, n >= 0 && n <= MOST, 2, "eight bounds at most");
  for (int i = 0; i < n; i++) bounds[i] = luaL_checknumber(L, i + 2);
  lua_pushnumber(L, cawb_times_norm(bounds, n, luaL_checknumber(L, 1)));
  return 1;
}

int luaopen_cawb_times(lua_State *L) {
  static const luaL_Reg functions[] = {
    { "product", times_product }, { "left_over", times_left_over }, { "norm", times_norm }, { NULL, NULL }
  };
  luaL_newlib(L, functions);
  return 1;
}
