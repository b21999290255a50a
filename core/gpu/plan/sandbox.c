/* sandbox.c - see sandbox.h. */
#include "gpu/plan/sandbox.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "gpu/plan/strings.h"
#include "base/process/interrupt.h"

struct cawb_sandbox {
  lua_State *L;
  size_t used, memory;
  long left;             /* instructions */
  double deadline;       /* of cawb_clock_now; 0: none */
  int starved;           /* the machine, not the limit, refused memory */
};

enum { HOOK_EVERY = 1000, STEPS = 4, BYTES = 256 };    /* the latter two cost one instruction */

static void *count_alloc(void *ud, void *ptr, size_t osize, size_t nsize) {
  cawb_sandbox *s = ud;
  size_t old = ptr != NULL ? osize : 0;   /* osize is a type tag for new blocks */
  if (nsize == 0) {
    free(ptr);
    s->used -= old;
    return NULL;
  }
  if (nsize > old && s->used - old + nsize > s->memory) return NULL;
  s->left -= nsize > BYTES ? (long)(nsize / BYTES) : 0;       /* it is copied or filled, too */
  if (nsize > old && s->left < 0) return NULL;
  void *p = realloc(ptr, nsize);
  if (p != NULL) s->used = s->used - old + nsize;
  else s->starved = 1;
  return p;
}

static const char endless[] = "too many instructions (is there an endless loop?)";

static cawb_sandbox *box_of(lua_State *L) {
  void *ud;
  lua_getallocf(L, &ud);
  return ud;
}

/* An error with a position needs memory, of which there is none when nothing is left. */
static void end_with(lua_State *L, const char *why, int level) {
  box_of(L)->left += 1 << 10;
  luaL_where(L, level);
  lua_pushstring(L, why);
  lua_concat(L, 2);
  lua_error(L);
}

static void charge(lua_State *L, lua_Integer n, int level) {
  cawb_sandbox *s = box_of(L);
  s->left = n < s->left ? s->left - (long)n : 0;
  if (s->left <= 0) end_with(L, endless, level);
}

static void on_count(lua_State *L, lua_Debug *ar) {
  const cawb_sandbox *s = box_of(L);
  (void)ar;
  charge(L, HOOK_EVERY, 0);               /* in a hook, 0 is the function that runs */
  if (cawb_interrupted()) end_with(L, "interrupted", 0);
  if (s->deadline > 0 && cawb_clock_now() > s->deadline) end_with(L, "it takes too long (is there an endless loop?)", 0);
}

size_t cawb_sandbox_steps(lua_State *L) {
  long left = box_of(L)->left;
  return left > 0 ? (size_t)left * STEPS : 0;
}

void cawb_sandbox_stepped(lua_State *L, size_t steps) { charge(L, (lua_Integer)(steps / STEPS), 1); }

/* Two functions of the libraries can turn in C without end and without memory;
** each turn costs as much as an instruction. The real ones are the upvalues. */
static int charged_call(lua_State *L, lua_Integer turns) {
  charge(L, turns > 0 ? turns : 0, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static int charged_rep(lua_State *L) {    /* ("").rep(n) */
  return charged_call(L, luaL_checkinteger(L, 2));
}

static int charged_move(lua_State *L) {   /* table.move(t, from, to, ...) */
  lua_Integer from = luaL_checkinteger(L, 2), to = luaL_checkinteger(L, 3), turns;
  if (__builtin_sub_overflow(to, from, &turns)) turns = LUA_MAXINTEGER;
  return charged_call(L, turns);
}

static lua_Integer length(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  return luaL_len(L, 1);
}

/* table.insert(t, at, x), table.remove(t, at): what lies behind moves. At the end nothing does. */
static int charged_insert(lua_State *L) { return charged_call(L, lua_gettop(L) > 2 ? length(L) / 4 : 1); }
static int charged_remove(lua_State *L) { return charged_call(L, lua_gettop(L) > 1 ? length(L) / 4 : 1); }

static int charged_sort(lua_State *L) {
  lua_Integer n = length(L), turns = n;
  for (lua_Integer m = n; m > 1; m /= 2) turns += n;
  return charged_call(L, turns);
}

static int charged_concat(lua_State *L) { return charged_call(L, length(L)); }

/* ---- what would show an address, by which two executions differ */

static int has_text(lua_State *L, int index) {
  if (lua_type(L, index) == LUA_TNIL || lua_type(L, index) == LUA_TBOOLEAN || lua_isstring(L, index)) return 1;
  return luaL_getmetafield(L, index, "__tostring") != LUA_TNIL ? (lua_pop(L, 1), 1) : 0;
}

static int plain_tostring(lua_State *L) {
  luaL_checkany(L, 1);
  if (has_text(L, 1)) luaL_tolstring(L, 1, NULL);
  else lua_pushstring(L, luaL_typename(L, 1));
  return 1;
}

static int plain_format(lua_State *L) {
  const char *s = luaL_checkstring(L, 1);
  for (s = strchr(s, '%'); s != NULL; s = strchr(s + 1, '%')) {
    s += 1 + strspn(s + 1, "-+ #0123456789.");
    if (*s == 'p') return luaL_error(L, "invalid conversion '%%p' to 'format'");
    if (*s == '\0') break;
  }
  for (int i = 2; i <= lua_gettop(L); i++) {
    if (has_text(L, i)) continue;
    lua_pushstring(L, luaL_typename(L, i));
    lua_replace(L, i);
  }
  return charged_call(L, 0);
}

/* In the table at the top. */
static void wrap(lua_State *L, const char *name, lua_CFunction f) {
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, f, 1);
  lua_setfield(L, -2, name);
}

/* Libraries are opened outside the globals; what is listed here is copied over. */
static const char *const allowed[] = {
  "assert", "error", "ipairs", "next", "pairs", "select", "tonumber", "tostring",
  "type", NULL
};
static const char *const allowed_math[] = {
  "abs", "ceil", "exp", "floor", "fmod", "huge", "log", "max", "maxinteger", "min",
  "mininteger", "modf", "pi", "sqrt", "tointeger", "type", "ult", NULL
};
static const char *const allowed_string[] = {
  "byte", "char", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep",
  "reverse", "sub", "upper", NULL
};
static const char *const allowed_table[] = {
  "concat", "insert", "move", "pack", "remove", "sort", "unpack", NULL
};

/* From the table at the top to a new table of the named fields, which replaces it. */
static void keep(lua_State *L, const char *const *names) {
  lua_newtable(L);
  for (; *names != NULL; names++) {
    lua_getfield(L, -2, *names);
    lua_setfield(L, -2, *names);
  }
  lua_remove(L, -2);
}

static void open_library(lua_State *L, const char *name, lua_CFunction open,
                         const char *const *names) {
  lua_pushcfunction(L, open);
  lua_pushstring(L, name);
  lua_call(L, 1, 1);
  keep(L, names);
}

/* The string metatable must lead to the allowed functions, not to the library. */
static void seal_strings(lua_State *L) {
  lua_pushliteral(L, "");
  lua_getmetatable(L, -1);
  lua_getfield(L, LUA_REGISTRYINDEX, "cawb.string");
  lua_setfield(L, -2, "__index");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 2);
}

static int unknown_name(lua_State *L) {
  return luaL_error(L, "unknown name '%s'", luaL_tolstring(L, 2, NULL));
}

static void seal_globals(lua_State *L) {
  lua_newtable(L);
  lua_pushcfunction(L, unknown_name);
  lua_setfield(L, -2, "__index");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
}

static int fill_state(lua_State *L) {
  open_library(L, "_G", luaopen_base, allowed);         /* globals */
  wrap(L, "tostring", plain_tostring);
  open_library(L, "math", luaopen_math, allowed_math);
  lua_setfield(L, -2, "math");
  open_library(L, "string", luaopen_string, allowed_string);
  wrap(L, "rep", charged_rep);
  wrap(L, "format", plain_format);
  cawb_strings_install(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, "cawb.string");
  lua_setfield(L, -2, "string");
  open_library(L, "table", luaopen_table, allowed_table);
  wrap(L, "move", charged_move);
  wrap(L, "insert", charged_insert);
  wrap(L, "remove", charged_remove);
  wrap(L, "sort", charged_sort);
  wrap(L, "concat", charged_concat);
  lua_setfield(L, -2, "table");
  seal_strings(L);
  seal_globals(L);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  return 0;
}

cawb_status cawb_sandbox_new(cawb_sandbox **out, const cawb_sandbox_limits *limits,
                             cawb_err *err) {
  *out = NULL;
  cawb_sandbox *s = calloc(1, sizeof *s);
  if (s == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a Lua state");
  s->memory = limits->memory;
  s->left = limits->instructions;
  s->deadline = limits->seconds > 0 ? cawb_clock_now() + limits->seconds : 0;
  s->L = lua_newstate(count_alloc, s);
  if (s->L == NULL) {
    free(s);
    return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a Lua state");
  }
  cawb_status rc = cawb_sandbox_call(s, fill_state, NULL, err);
  if (rc != CAWB_OK) {
    cawb_sandbox_free(s);
    return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a Lua state");
  }
  lua_sethook(s->L, on_count, LUA_MASKCOUNT, HOOK_EVERY);
  *out = s;
  return CAWB_OK;
}

void cawb_sandbox_free(cawb_sandbox *s) {
  if (s == NULL) return;
  lua_sethook(s->L, NULL, 0, 0);
  lua_close(s->L);
  free(s);
}

static cawb_status outcome(cawb_sandbox *s, int rc, cawb_err *err) {
  if (rc == LUA_OK) return CAWB_OK;
  if (rc == LUA_ERRMEM && s->starved) {
    lua_settop(s->L, 0);
    return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a Lua state");
  }
  if (cawb_interrupted()) {
    lua_settop(s->L, 0);
    return cawb_fail(err, CAWB_ERR_INTERRUPTED, "interrupted");
  }
  if (rc == LUA_ERRMEM && s->left < 0)
    cawb_fail(err, CAWB_ERR_CANDIDATE, "%s", endless);
  else if (rc == LUA_ERRMEM)
    cawb_fail(err, CAWB_ERR_CANDIDATE, "it needs more than %zu bytes of memory", s->memory);
  else
    cawb_fail(err, CAWB_ERR_CANDIDATE, "%s", lua_type(s->L, -1) == LUA_TSTRING
              ? lua_tostring(s->L, -1) : "it raised an error that is no string");
  lua_settop(s->L, 0);
  return CAWB_ERR_CANDIDATE;
}

cawb_status cawb_sandbox_call(cawb_sandbox *s, lua_CFunction f, void *data, cawb_err *err) {
  lua_pushcfunction(s->L, f);         /* light: neither push allocates */
  lua_pushlightuserdata(s->L, data);
  return outcome(s, lua_pcall(s->L, 1, 0, 0), err);
}

typedef struct source { const char *text, *name; } source;

static int run_source(lua_State *L) {
  const source *src = lua_touserdata(L, 1);
  const char *chunk = lua_pushfstring(L, "@%s", src->name);
  if (luaL_loadbufferx(L, src->text, strlen(src->text), chunk, "t") != LUA_OK)
    return lua_error(L);
  lua_call(L, 0, 0);
  return 0;
}

cawb_status cawb_sandbox_run(cawb_sandbox *s, const char *text, const char *name,
                             cawb_err *err) {
  source src = { text, name };
  return cawb_sandbox_call(s, run_source, &src, err);
}
