/*
** budget.c - a run's budget, for Lua.
**   local b = budget.new{ turns = 20, seconds = 600 }        0 or nothing: no limit
**   b:spend("tokens", 1200)  b:progress()  b:spent "tokens"  b:left "tokens"  b:over()
*/
#include "base/store/budget.h"
#include "door/bindings/util.h"

#define BUDGET "cawb.budget"

static cawb_means check_means(lua_State *L, int arg) {
  const char *name = luaL_checkstring(L, arg);
  cawb_means m = cawb_means_find(name);
  if (m == CAWB_MEANS) luaL_error(L, "a budget knows no '%s'", name);
  return m;
}

static int budget_new(lua_State *L) {
  cawb_err err;
  luaL_checktype(L, 1, LUA_TTABLE);
  cawb_budget *b = lua_newuserdatauv(L, sizeof *b, 0);
  cawb_budget_begin(b);
  luaL_setmetatable(L, BUDGET);
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    cawb_means m = check_means(L, -2);
    if (cawb_budget_limit(b, m, luaL_checknumber(L, -1), &err) != CAWB_OK) luaL_error(L, "%s", err.msg);
  }
  return 1;
}

static int budget_spend(lua_State *L) {
  cawb_err err;
  cawb_budget *b = luaL_checkudata(L, 1, BUDGET);
  if (cawb_budget_spend(b, check_means(L, 2), luaL_checknumber(L, 3), &err) != CAWB_OK)
    return luaL_error(L, "%s", err.msg);
  return 0;
}

static int budget_progress(lua_State *L) {
  cawb_budget_progress(luaL_checkudata(L, 1, BUDGET));
  return 0;
}

static int budget_spent(lua_State *L) {
  const cawb_budget *b = luaL_checkudata(L, 1, BUDGET);
  lua_pushnumber(L, cawb_budget_spent(b, check_means(L, 2)));
  return 1;
}

/* What is left of it, 0 at the least; nothing where there is no limit. */
static int budget_left(lua_State *L) {
  const cawb_budget *b = luaL_checkudata(L, 1, BUDGET);
  cawb_means m = check_means(L, 2);
  if (!(b->most[m] > 0)) return 0;
  double left = b->most[m] - cawb_budget_spent(b, m);
  lua_pushnumber(L, left > 0 ? left : 0);
  return 1;
}

/* The name of the first limit that is reached, or nothing. */
static int budget_over(lua_State *L) {
  cawb_means m = cawb_budget_over(luaL_checkudata(L, 1, BUDGET));
  if (m == CAWB_MEANS) return 0;
  lua_pushstring(L, cawb_means_name(m));
  return 1;
}

int luaopen_cawb_budget(lua_State *L) {
  static const luaL_Reg lib[] = { { "new", budget_new }, { NULL, NULL } };
  static const luaL_Reg methods[] = {
    { "spend", budget_spend }, { "progress", budget_progress }, { "spent", budget_spent },
    { "left", budget_left }, { "over", budget_over }, { NULL, NULL }
  };
  static const luaL_Reg metas[] = { { NULL, NULL } };
  cawb_lua_class(L, BUDGET, methods, metas);
  luaL_newlib(L, lib);
  return 1;
}
