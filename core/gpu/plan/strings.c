/* strings.c - see strings.h. What each function takes and returns is the Lua manual's. */
#include "gpu/plan/strings.h"

#include <lauxlib.h>
#include <string.h>

#include "gpu/plan/pattern.h"

#define PATTERN "cawb.pattern"

/* ----------------------------------------------------------------- patterns */

static int collect(lua_State *L) {
  cawb_pattern_free(lua_touserdata(L, 1));
  return 0;
}

/* The pattern at `index`, ready for the subject, which must stay on the stack; pushed. */
static cawb_pattern *ready(lua_State *L, int index, const char *s, size_t n, size_t first, int anchors) {
  size_t size;
  const char *text = luaL_checklstring(L, index, &size);
  cawb_pattern *p = lua_newuserdatauv(L, sizeof *p, 0);
  memset(p, 0, sizeof *p);
  luaL_setmetatable(L, PATTERN);
  const char *problem = cawb_pattern_read(p, text, size, anchors);
  if (problem != NULL) luaL_error(L, "%s", problem);
  cawb_pattern_begin(p, s, n, first, cawb_sandbox_steps(L));
  return p;
}

/* Whether something was found; what it took is charged. */
static int found(lua_State *L, cawb_pattern *p, int how) {
  size_t steps = p->steps;
  p->steps = 0;
  if (how == CAWB_PATTERN_STARVED) luaL_error(L, "out of memory for a pattern");
  cawb_sandbox_stepped(L, steps);
  p->most = cawb_sandbox_steps(L);
  return how == CAWB_PATTERN_FOUND;
}

static void push_capture(lua_State *L, const cawb_pattern *p, int k) {
  if (p->capture[k].is_position) lua_pushinteger(L, (lua_Integer)p->capture[k].at + 1);
  else lua_pushlstring(L, p->subject + p->capture[k].at, p->capture[k].size);
}

/* All captures; the whole match where there are none and `whole`. */
static int push_captures(lua_State *L, const cawb_pattern *p, int whole) {
  luaL_checkstack(L, p->captures + 1, "too many captures");
  for (int k = 0; k < p->captures; k++) push_capture(L, p, k);
  if (p->captures > 0 || !whole) return p->captures;
  lua_pushlstring(L, p->subject + p->from, p->to - p->from);
  return 1;
}

/* Where to begin, from 0: the optional argument counts from 1, or back from the end. */
static size_t begin_at(lua_State *L, int index, size_t n) {
  lua_Integer i = luaL_optinteger(L, index, 1);
  if (i > 0) return (size_t)i - 1;
  if (i == 0 || i < -(lua_Integer)n) return 0;
  return n - (size_t)-i;
}

/* ---------------------------------------------------------------- functions */

static int find_plain(lua_State *L, const char *s, size_t n, const char *what, size_t size, size_t at) {
  const char *place = memmem(s + at, n - at, what, size);
  cawb_sandbox_stepped(L, ((place != NULL ? (size_t)(place - s) - at : n - at) + size) / 8);
  if (place == NULL) return lua_pushnil(L), 1;
  lua_pushinteger(L, place - s + 1);
  lua_pushinteger(L, place - s + (lua_Integer)size);
  return 2;
}

static int look(lua_State *L, int find) {
  size_t n, size;
  const char *s = luaL_checklstring(L, 1, &n), *what = luaL_checklstring(L, 2, &size);
  size_t at = begin_at(L, 3, n);
  if (at > n) return lua_pushnil(L), 1;
  if (find && (lua_toboolean(L, 4) || strcspn(what, "^$*+?.([%-") == size)) return find_plain(L, s, n, what, size, at);
  cawb_pattern *p = ready(L, 2, s, n, at, 1);
  if (!found(L, p, cawb_pattern_search(p, at))) return lua_pushnil(L), 1;
  if (!find) return push_captures(L, p, 1);
  lua_pushinteger(L, (lua_Integer)p->from + 1);
  lua_pushinteger(L, (lua_Integer)p->to);
  return 2 + push_captures(L, p, 0);
}

static int string_find(lua_State *L) { return look(L, 1); }
static int string_match(lua_State *L) { return look(L, 0); }

/* Upvalues: subject, pattern's text, pattern, where to begin, where the last one ended or -1. */
static int next_match(lua_State *L) {
  cawb_pattern *p = lua_touserdata(L, lua_upvalueindex(3));
  size_t at = (size_t)lua_tointeger(L, lua_upvalueindex(4));
  lua_Integer last = lua_tointeger(L, lua_upvalueindex(5));
  for (; at <= p->size; at++) {
    if (!found(L, p, cawb_pattern_search(p, at))) return 0;
    at = p->from;
    if ((lua_Integer)p->to == last) continue;    /* nothing again, where one ended */
    lua_pushinteger(L, (lua_Integer)p->to);
    lua_copy(L, -1, lua_upvalueindex(4));
    lua_replace(L, lua_upvalueindex(5));
    return push_captures(L, p, 1);
  }
  return 0;
}

static int string_gmatch(lua_State *L) {
  size_t n;
  const char *s = luaL_checklstring(L, 1, &n);
  luaL_checkstring(L, 2);
  size_t at = begin_at(L, 3, n);
  if (at > n) at = n + 1;
  lua_settop(L, 2);
  ready(L, 2, s, n, at < n ? at : n, 0);
  lua_pushinteger(L, (lua_Integer)at);
  lua_pushinteger(L, -1);
  lua_pushcclosure(L, next_match, 5);
  return 1;
}

/* What a string says is put in the place of a match: %0 is all of it, %1 the first capture. */
static void add_string(lua_State *L, luaL_Buffer *b, const cawb_pattern *p) {
  size_t n;
  const char *s = lua_tolstring(L, 3, &n), *end = s + n;
  for (const char *mark; (mark = memchr(s, '%', (size_t)(end - s))) != NULL; s = mark + 2) {
    luaL_addlstring(b, s, (size_t)(mark - s));
    char c = mark + 1 < end ? mark[1] : '\0';
    if (c == '%') luaL_addchar(b, c);
    else if (c == '0' || (c == '1' && p->captures == 0)) luaL_addlstring(b, p->subject + p->from, p->to - p->from);
    else if (c < '1' || c > '9') luaL_error(L, "invalid use of '%%' in replacement string");
    else if (c - '1' >= p->captures) luaL_error(L, "invalid capture index %%%c in replacement string", c);
    else {
      push_capture(L, p, c - '1');
      luaL_tolstring(L, -1, NULL);
      lua_remove(L, -2);
      luaL_addvalue(b);
    }
  }
  luaL_addlstring(b, s, (size_t)(end - s));
}

/* What a table or a function says; nothing keeps the match. */
static void add_value(lua_State *L, luaL_Buffer *b, const cawb_pattern *p, int type) {
  if (type == LUA_TFUNCTION) {
    lua_pushvalue(L, 3);
    lua_call(L, push_captures(L, p, 1), 1);
  } else {
    if (p->captures > 0) push_capture(L, p, 0);
    else lua_pushlstring(L, p->subject + p->from, p->to - p->from);
    lua_gettable(L, 3);
  }
  if (!lua_toboolean(L, -1)) {
    lua_pop(L, 1);
    luaL_addlstring(b, p->subject + p->from, p->to - p->from);
    return;
  }
  if (!lua_isstring(L, -1)) luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
  luaL_addvalue(b);
}

static int string_gsub(lua_State *L) {
  size_t n, at = 0, last = SIZE_MAX;
  const char *s = luaL_checklstring(L, 1, &n);
  luaL_checkstring(L, 2);
  int type = lua_type(L, 3);
  if (type != LUA_TNUMBER && type != LUA_TSTRING && type != LUA_TTABLE && type != LUA_TFUNCTION)
    return luaL_typeerror(L, 3, "string/function/table");
  if (type == LUA_TNUMBER) lua_tostring(L, 3);
  lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)n + 1), count = 0;
  lua_settop(L, 3);
  cawb_pattern *p = ready(L, 2, s, n, 0, 1);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  while (count < most) {
    if (found(L, p, cawb_pattern_at(p, at)) && p->to != last) {
      count++;
      if (type == LUA_TNUMBER || type == LUA_TSTRING) add_string(L, &b, p);
      else add_value(L, &b, p, type);
      at = last = p->to;
    } else if (at < n) {
      luaL_addchar(&b, s[at++]);
    } else break;
    if (p->anchored) break;
  }
  if (at < n) luaL_addlstring(&b, s + at, n - at);
  luaL_pushresult(&b);
  lua_pushinteger(L, count);
  return 2;
}

void cawb_strings_install(lua_State *L) {
  static const luaL_Reg functions[] = { { "find", string_find }, { "match", string_match },
    { "gmatch", string_gmatch }, { "gsub", string_gsub }, { NULL, NULL } };
  if (luaL_newmetatable(L, PATTERN)) {
    lua_pushcfunction(L, collect);
    lua_setfield(L, -2, "__gc");
  }
  lua_pop(L, 1);
  luaL_setfuncs(L, functions, 0);
}
