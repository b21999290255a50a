/*
** json.c - JSON text and Lua values. An array is a table with [1], or an
** empty one marked by json.array{}; null is json.null. Numbers that are whole
** become integers, up to 2^53. What JSON cannot say exactly raises: NaN, a function, a list with
** holes or names, an integer beyond 2^53, a string with a NUL, a table in itself. Bytes that are
** no UTF-8 become '?'.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "door/bindings/util.h"

#define ARRAY "cawb.json.array"
#define EXACT ((lua_Integer)1 << 53)      /* a double holds every whole number up to here */
static const char null_tag = 0;

static int is_null(lua_State *L, int index) {
  return lua_type(L, index) == LUA_TLIGHTUSERDATA &&
         lua_touserdata(L, index) == (const void *)&null_tag;
}

/* ---- JSON to Lua ---- */

void cawb_lua_push_json(lua_State *L, const cJSON *j) {
  const cJSON *item;
  luaL_checkstack(L, 6, "JSON is nested too deeply");
  if (cJSON_IsString(j)) lua_pushstring(L, j->valuestring);
  else if (cJSON_IsBool(j)) lua_pushboolean(L, cJSON_IsTrue(j));
  else if (cJSON_IsNumber(j)) {
    lua_Integer i;
    int zero_below = j->valuedouble == 0 && signbit(j->valuedouble);      /* a float: no integer is -0 */
    if (!zero_below && fabs(j->valuedouble) <= EXACT && lua_numbertointeger(j->valuedouble, &i) && (double)i == j->valuedouble)
      lua_pushinteger(L, i);
    else lua_pushnumber(L, j->valuedouble);
  } else if (cJSON_IsArray(j)) {
    lua_Integer n = 0;
    lua_newtable(L);
    luaL_setmetatable(L, ARRAY);
    cJSON_ArrayForEach(item, j) {
      cawb_lua_push_json(L, item);
      lua_rawseti(L, -2, ++n);
    }
  } else if (cJSON_IsObject(j)) {
    lua_newtable(L);
    cJSON_ArrayForEach(item, j) {
      if (cJSON_IsNull(item)) continue;    /* an absent key, as Lua has it */
      cawb_lua_push_json(L, item);
      lua_setfield(L, -2, item->string);
    }
  } else {
    lua_pushlightuserdata(L, (void *)&null_tag);
  }
}

/* ---- Lua to the text of JSON: first checked, so that writing has little to raise ---- */

enum { DEPTH = 200 };

static int is_array(lua_State *L, int index) {
  int marked = 0;
  if (lua_getmetatable(L, index)) {
    luaL_getmetatable(L, ARRAY);
    marked = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
  }
  int first = lua_rawgeti(L, index, 1) != LUA_TNIL;
  lua_pop(L, 1);
  return marked || first;
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* An object's keys, sorted: the same value is always the same text, so it can be hashed. They lie on the stack. */
static const char **sorted_keys(lua_State *L, int index, size_t *count) {
  size_t n = 0, i = 0;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) n++;
  const char **keys = lua_newuserdatauv(L, (n + 1) * sizeof *keys, 0);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) keys[i++] = lua_tostring(L, -2);
  qsort(keys, n, sizeof *keys, by_text);
  *count = n;
  return keys;
}

enum { NUMBER = 40 };

/* The fewest digits from which the same number is read. */
static void print_number(lua_State *L, int index, char text[NUMBER]) {
  double d = lua_tonumber(L, index);
  if (lua_isinteger(L, index)) {
    snprintf(text, NUMBER, "%lld", (long long)lua_tointeger(L, index));
    return;
  }
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, NUMBER, "%.*g", digits, d);
    if (strtod(text, NULL) == d) break;
  }
}

static void check(lua_State *L, int index, int depth);

static void check_number(lua_State *L, int index) {
  if (!isfinite(lua_tonumber(L, index))) luaL_error(L, "JSON has no NaN or infinity");
  if (!lua_isinteger(L, index)) return;
  lua_Integer i = lua_tointeger(L, index);
  if (i < -EXACT || i > EXACT)
    luaL_error(L, "the integer %I is beyond 2^53, where JSON's readers round: send it as a string",
               (LUAI_UACINT)i);
}

static void check_string(lua_State *L, int index) {
  size_t size;
  const char *s = lua_tolstring(L, index, &size);
  if (strlen(s) != size)
    luaL_error(L, "a string with a NUL at byte %d would be cut there", (int)strlen(s) + 1);
}

static void check_table(lua_State *L, int index, int depth) {
  int array = is_array(L, index);
  lua_Unsigned n = lua_rawlen(L, index), seen = 0;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1), seen++) {
    if (array && !lua_isinteger(L, -2))
      luaL_error(L, "a JSON array has no other keys, this table has [1] and a %s",
                 luaL_typename(L, -2));
    if (!array && lua_type(L, -2) != LUA_TSTRING)
      luaL_error(L, "JSON objects have string keys, this table has a %s", luaL_typename(L, -2));
    if (!array) check_string(L, lua_gettop(L) - 1);
    check(L, lua_gettop(L), depth + 1);
  }
  if (array && seen != n) luaL_error(L, "a JSON array has no holes, this table has");
}

static void check(lua_State *L, int index, int depth) {
  int type = lua_type(L, index);
  if (depth > DEPTH) luaL_error(L, "a table is nested too deeply for JSON, or in itself");
  if (type == LUA_TTABLE) check_table(L, index, depth);
  else if (type == LUA_TNUMBER) check_number(L, index);
  else if (type == LUA_TSTRING) check_string(L, index);
  else if (type != LUA_TNIL && type != LUA_TBOOLEAN && !is_null(L, index))
    luaL_error(L, "JSON cannot hold a %s", luaL_typename(L, index));
}

static void write_value(lua_State *L, int index, cawb_bytes *to);

/* How many bytes from here on stand for themselves in JSON, whatever follows. */
static size_t plain_bytes(const char *s) {
  size_t n = 0;
  for (unsigned char c; (c = (unsigned char)s[n]) >= ' ' && c != '"' && c != '\\'; n++) continue;
  return n;
}

static void write_escape(unsigned char c, cawb_bytes *to) {
  static const char from[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
  const char *known = strchr(from, c);
  if (known != NULL) cawb_bytes_print(to, "\\%c", letters[known - from]);
  else cawb_bytes_print(to, "\\u%04x", c);
}

/* A path, or what a candidate printed, may be any bytes; JSON is UTF-8. */
static void write_string(const char *text, cawb_bytes *to) {
  cawb_bytes copy = { NULL, 0, 0, 0 };
  if (cawb_utf8_flaw(text) != NULL) {
    cawb_bytes_text(&copy, text);
    if (!copy.failed) cawb_utf8_clean(copy.data);
    to->failed |= copy.failed;
    text = copy.failed ? "" : copy.data;
  }
  cawb_bytes_add(to, "\"", 1);
  for (;;) {
    size_t n = plain_bytes(text);
    cawb_bytes_add(to, text, n);
    if (text[n] == '\0') break;
    write_escape((unsigned char)text[n], to);
    text += n + 1;
  }
  cawb_bytes_add(to, "\"", 1);
  cawb_bytes_free(&copy);
}

static void write_array(lua_State *L, int index, cawb_bytes *to) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, index);
  cawb_bytes_add(to, "[", 1);
  for (lua_Integer i = 1; i <= n; i++) {
    if (i > 1) cawb_bytes_add(to, ",", 1);
    lua_rawgeti(L, index, i);
    write_value(L, lua_gettop(L), to);
    lua_pop(L, 1);
  }
  cawb_bytes_add(to, "]", 1);
}

static void write_object(lua_State *L, int index, cawb_bytes *to) {
  size_t n;
  const char **keys = sorted_keys(L, index, &n);
  cawb_bytes_add(to, "{", 1);
  for (size_t i = 0; i < n; i++) {
    if (i > 0) cawb_bytes_add(to, ",", 1);
    write_string(keys[i], to);
    cawb_bytes_add(to, ":", 1);
    lua_pushstring(L, keys[i]);
    lua_rawget(L, index);
    write_value(L, lua_gettop(L), to);
    lua_pop(L, 1);
  }
  cawb_bytes_add(to, "}", 1);
  lua_pop(L, 1);
}

static void write_value(lua_State *L, int index, cawb_bytes *to) {
  char number[NUMBER];
  switch (lua_type(L, index)) {
    case LUA_TBOOLEAN: cawb_bytes_text(to, lua_toboolean(L, index) ? "true" : "false"); return;
    case LUA_TSTRING: write_string(lua_tostring(L, index), to); return;
    case LUA_TNUMBER:
      print_number(L, index, number);
      cawb_bytes_text(to, number);
      return;
    case LUA_TTABLE:
      (is_array(L, index) ? write_array : write_object)(L, index, to);
      return;
    default: cawb_bytes_text(to, "null"); return;
  }
}

static void write_text(lua_State *L, int index, cawb_bytes *to) {
  index = lua_absindex(L, index);
  luaL_checkstack(L, DEPTH * 6, "out of memory");
  check(L, index, 0);
  write_value(L, index, to);
}

cJSON *cawb_lua_to_json(lua_State *L, int index) {
  cawb_bytes text = { NULL, 0, 0, 0 };
  write_text(L, index, &text);
  cJSON *raw = text.failed ? NULL : cJSON_CreateRaw(text.data);
  cawb_bytes_free(&text);
  if (raw == NULL) luaL_error(L, "out of memory");
  return raw;
}

/* Whether text has the escape for a NUL, behind which cJSON's strings would end. */
static int has_nul(const char *text) {
  for (const char *s = text; (s = strchr(s, '\\')) != NULL; s += s[1] != '\0' ? 2 : 1)
    if (strncmp(s + 1, "u0000", 5) == 0) return 1;
  return 0;
}

/* ---- the module ---- */

static int json_encode(lua_State *L) {
  cawb_bytes text = { NULL, 0, 0, 0 };
  luaL_checkany(L, 1);
  write_text(L, 1, &text);
  if (!text.failed) lua_pushlstring(L, text.data, text.size);
  int failed = text.failed;
  cawb_bytes_free(&text);
  return failed ? luaL_error(L, "out of memory") : 1;
}

static int json_decode(lua_State *L) {
  size_t size;
  const char *text = luaL_checklstring(L, 1, &size);
  const char *end = text;
  cawb_err err;
  if (strlen(text) != size || has_nul(text)) {
    cawb_fail(&err, CAWB_ERR_INVALID, "JSON with a NUL in it, which is not supported");
    return cawb_lua_fail(L, &err);
  }
  cJSON *j = cJSON_ParseWithLengthOpts(text, size + 1, &end, 1);
  if (j == NULL) {
    cawb_fail(&err, CAWB_ERR_INVALID, "malformed JSON at byte %td", end - text + 1);
    return cawb_lua_fail(L, &err);
  }
  cawb_lua_push_json(L, j);
  cJSON_Delete(j);
  return 1;
}

static int json_array(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_setmetatable(L, ARRAY);
  lua_settop(L, 1);
  return 1;
}

int luaopen_cawb_json(lua_State *L) {
  static const luaL_Reg lib[] = {
    { "encode", json_encode }, { "decode", json_decode }, { "array", json_array },
    { NULL, NULL }
  };
  luaL_newmetatable(L, ARRAY);
  lua_pop(L, 1);
  luaL_newlib(L, lib);
  lua_pushlightuserdata(L, (void *)&null_tag);
  lua_setfield(L, -2, "null");
  return 1;
}
