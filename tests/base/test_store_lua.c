/*
** test_store_lua.c - the store as a script sees it, and its constructor and
** query with Lua's memory ending at every allocation in turn.
*/
#include "check.h"

#include "door/bindings/util.h"
#include "store_scratch.h"

static const char script[] =
  "local store, dir = ...\n"
  "local function raises(pattern, f, ...)\n"
  "  local ok, msg = pcall(f, ...)\n"
  "  assert(not ok and tostring(msg):find(pattern), 'want ' .. pattern .. ', got ' .. tostring(msg))\n"
  "end\n"
  "local s <close> = assert(store.open(dir))\n"
  "assert(s:path() == dir and tostring(s) == 'cawb.store (' .. dir .. ')')\n"
  "local data = string.pack('<dd', 1e-6, 2e-6)\n"
  "assert(s:begin())\n"
  "assert(s:insert('runs', { id = 'r', started = 1.5, modelled = true, seed = nil, task = 'a\\0b' }))\n"
  "assert(s:insert('turns', { run = 'r', number = 1, reward = 2, ok = false }))\n"
  "assert(s:insert('samples', { run = 'r', turn = 1, subject = 'eager', unit = 's', data = data }))\n"
  "assert(s:commit())\n"
  "local rows = assert(s:query('SELECT * FROM runs WHERE id = ?1 AND modelled = ?2', 'r', true))\n"
  "assert(#rows == 1 and rows[1].started == 1.5 and rows[1].modelled == 1 and rows[1].task == 'a\\0b')\n"
  "assert(rows[1].seed == nil and math.type(rows[1].modelled) == 'integer')\n"
  "assert(s:query('SELECT data FROM samples')[1].data == data)\n"
  "assert(s:query('SELECT ok, reward FROM turns')[1].ok == 0)\n"
  "assert(#s:query('SELECT * FROM turns WHERE ?1 IS NULL', nil) == 1)\n"
  "assert(#s:query('SELECT * FROM verdicts') == 0)\n"
  "assert(s:begin()); s:insert('runs', { id = 'x', started = 1 }); s:rollback()\n"
  "assert(s:query('SELECT count(*) AS n FROM runs')[1].n == 1)\n"
  "local hex = assert(s:artifact('bytes\\0more'))\n"
  "assert(s:read(hex) == 'bytes\\0more')\n"
  "local f = assert(io.open(s:path(hex), 'rb')); assert(f:read('a') == 'bytes\\0more'); f:close()\n"
  "local value, msg, name = s:read(('0'):rep(64))\n"
  "assert(value == nil and msg:find('cannot read') and name == 'missing')\n"
  "raises('no artifact', s.read, s, 'abc')\n"
  "raises('no artifact', s.path, s, '../x')\n"
  "raises('no table', s.insert, s, 'rows', { a = 1 })\n"
  "raises('no column', s.insert, s, 'runs', { a = 1 })\n"
  "raises('got a table', s.insert, s, 'runs', { id = {} })\n"
  "raises('column = value', s.insert, s, 'runs', { 'r' })\n"
  "raises('append%-only', s.insert, s, 'runs', { id = 'r', started = 2 })\n"
  "raises('only reads', s.query, s, 'DELETE FROM runs')\n"
  "raises('1 parameter, 0 given', s.query, s, 'SELECT ?1')\n"
  "raises('number, string, boolean or nil', s.query, s, 'SELECT ?1', {})\n"
  "raises('cannot commit', s.commit, s)\n"
  "raises('folder', store.open, '')\n"
  "assert(getmetatable(s) == 'cawb.store')\n"
  "value, msg, name = store.open('/proc/cawb')\n"
  "assert(value == nil and msg:find('/proc/cawb') and name == 'io')\n"
  "s:close(); s:close()\n"
  "assert(tostring(s) == 'cawb.store (closed)')\n"
  "raises('store is closed', s.begin, s)\n";

static const char short_script[] =
  "local store, dir = ...\n"
  "local s <close> = assert(store.open(dir))\n"
  "local rows = assert(s:query('SELECT runs.id, started, task FROM runs, json_each(?1)', '[1,2,3]'))\n"
  "assert(#rows == 3 and s:read(s:artifact('abc')) == 'abc')\n";

static long left = -1;           /* allocations until they fail; -1: they never do */

static void *allocate(void *ud, void *p, size_t old, size_t size) {
  (void)ud;
  if (size == 0) {
    free(p);
    return NULL;
  }
  int grows = p == NULL || size > old;   /* Lua takes it that shrinking never fails */
  if (grows && left == 0) return NULL;   /* for good: Lua collects and tries again */
  if (grows && left > 0) left--;
  return realloc(p, size);
}

static int run_script(lua_State *L) {
  const char *text = lua_touserdata(L, 1);
  luaL_openlibs(L);
  if (luaL_loadstring(L, text) != LUA_OK) return lua_error(L);
  luaopen_cawb_store(L);
  lua_pushstring(L, lua_touserdata(L, 2));
  lua_call(L, 2, 0);
  return 0;
}

static int run(const char *text, char *dir) {
  lua_State *L = lua_newstate(allocate, NULL);
  if (L == NULL) return LUA_ERRMEM;
  lua_pushcfunction(L, run_script);
  lua_pushlightuserdata(L, (void *)text);
  lua_pushlightuserdata(L, dir);
  int rc = lua_pcall(L, 2, 0, 0);
  if (rc != LUA_OK && rc != LUA_ERRMEM) fprintf(stderr, "%s\n", lua_tostring(L, -1));
  lua_close(L);
  return rc;
}

/* A leak or an open statement would show: in the sanitizer, or as a busy store. */
static void sweep(char *dir) {
  int rc = LUA_ERRMEM;
  long n = 0;
  for (; rc == LUA_ERRMEM && n < 100000; n++) {
    left = n;
    rc = run(short_script, dir);
    left = -1;
    CHECK(rc == LUA_OK || rc == LUA_ERRMEM);
  }
  printf("%ld failing allocations\n", n - 1);
  CHECK(rc == LUA_OK && n > 100);
}

int main(void) {
  char *dir = strdup(scratch_new());
  CHECK(run(script, dir) == LUA_OK);
  sweep(dir);
  scratch_remove(dir);
  free(dir);
  return check_report();
}
