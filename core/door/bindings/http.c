/*
** http.c - HTTP requests, for Lua.
**   local h = http.open()
**   local t = h:start{ url =, headers = {"name: value"}, body =, connect = seconds, limit =
**     bytes, ca = path, auth = { header =, prefix =, env = NAME or file = PATH } }
**   h:wait(seconds, fds)    t:read()    t:ending()    t:status()    t:header(name)    t:close()
** Keys stay on this side: a request names where its key is, and never sees it.
*/
#include <stdlib.h>
#include <string.h>

#include "base/http/http.h"
#include "door/bindings/util.h"
#include "base/http/secret.h"

#define HTTP "cawb.http"
#define TRANSFER "cawb.transfer"
#define SECRETS "cawb.secrets"

enum { FDS = 64 };        /* children that are waited for at once */

typedef struct http_box { cawb_http *h; } http_box;              /* NULL: closed */
typedef struct transfer_box { cawb_transfer *t; } transfer_box;
typedef struct secrets_box { cawb_secrets *s; } secrets_box;
typedef struct bytes_box { cawb_bytes b; } bytes_box;

static cawb_http *check_http(lua_State *L) {
  http_box *b = luaL_checkudata(L, 1, HTTP);
  luaL_argcheck(L, b->h != NULL, 1, "it is closed");
  return b->h;
}

static cawb_transfer *check_transfer(lua_State *L) {
  transfer_box *b = luaL_checkudata(L, 1, TRANSFER);
  luaL_argcheck(L, b->t != NULL, 1, "the transfer is closed");
  return b->t;
}

static cawb_secrets *secrets_of(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, SECRETS);
  secrets_box *b = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return b->s;
}

const char *cawb_lua_secret_file(lua_State *L, const char *path, cawb_err *err) {
  return cawb_secrets_file(secrets_of(L), path, err);
}

static int http_open(lua_State *L) {
  http_box *b = lua_newuserdatauv(L, sizeof *b, 0);
  cawb_err err;
  b->h = NULL;
  luaL_setmetatable(L, HTTP);
  if (cawb_http_open(&b->h, &err) != CAWB_OK) return cawb_lua_fail(L, &err);
  return 1;
}

static int http_close(lua_State *L) {
  http_box *b = luaL_checkudata(L, 1, HTTP);
  cawb_http *h = b->h;
  b->h = NULL;
  cawb_http_close(h);
  return 0;
}

static int http_version(lua_State *L) {
  lua_pushstring(L, cawb_http_version(check_http(L)));
  return 1;
}

/* ---- starting ---- */

static const char *field(lua_State *L, int index, const char *name) {
  lua_getfield(L, index, name);          /* stays on the stack: the text lives as long */
  return luaL_optstring(L, -1, NULL);
}

/* Text with a line end in it would become two headers. */
static void check_header(lua_State *L, const char *text) {
  if (text[strcspn(text, "\r\n")] != '\0') luaL_error(L, "a header has a line end in it");
}

/* The key that `auth` names, or NULL and `err`. */
static const char *find_key(lua_State *L, int auth, cawb_err *err) {
  const char *env = field(L, auth, "env"), *file = field(L, auth, "file");
  if (file != NULL) return cawb_secrets_file(secrets_of(L), file, err);
  luaL_argcheck(L, env != NULL, 2, "auth needs env or file");
  const char *key = cawb_secrets_env(secrets_of(L), env);
  if (key == NULL)
    cawb_fail(err, CAWB_ERR_MISSING, "the environment has no %s: set it, or name a file with the key", env);
  return key;
}

/* Where the header with the key is composed: freed, and overwritten, by the collector. */
static int bytes_gc(lua_State *L) {
  bytes_box *b = lua_touserdata(L, 1);
  if (b->b.data != NULL) memset(b->b.data, 0, b->b.size);
  cawb_bytes_free(&b->b);
  return 0;
}

static cawb_bytes *new_bytes(lua_State *L) {
  bytes_box *b = lua_newuserdatauv(L, sizeof *b, 0);
  memset(b, 0, sizeof *b);
  if (luaL_newmetatable(L, "cawb.bytes")) {
    lua_pushcfunction(L, bytes_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return &b->b;
}

/* The last header, into a slot; 0 and `err` where the key is missing. */
static int add_auth(lua_State *L, const char **slot, cawb_err *err) {
  if (lua_getfield(L, 2, "auth") != LUA_TTABLE) return 1;
  int auth = lua_gettop(L);
  const char *header = field(L, auth, "header"), *prefix = field(L, auth, "prefix");
  luaL_argcheck(L, header != NULL, 2, "auth needs a header");
  const char *key = find_key(L, auth, err);
  if (key == NULL) return 0;
  cawb_bytes *b = new_bytes(L);
  cawb_bytes_print(b, "%s: %s%s", header, prefix != NULL ? prefix : "", key);
  if (b->failed) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a header"), 0;
  check_header(L, b->data);
  *slot = b->data;
  return 1;
}

/* A NULL-terminated array in a userdata, with a free slot at its end. */
static const char **read_headers(lua_State *L, size_t *n) {
  lua_Integer count = 0;
  if (lua_getfield(L, 2, "headers") == LUA_TTABLE) count = luaL_len(L, -1);
  luaL_argcheck(L, count >= 0 && count < 1000, 2, "too many headers");
  int list = lua_gettop(L);
  const char **headers = lua_newuserdatauv(L, (size_t)(count + 2) * sizeof *headers, 0);
  for (lua_Integer i = 1; i <= count; i++) {
    luaL_argcheck(L, lua_rawgeti(L, list, i) == LUA_TSTRING, 2, "headers are strings");
    headers[i - 1] = lua_tostring(L, -1);
    check_header(L, headers[i - 1]);
    lua_pop(L, 1);                        /* the table keeps it */
  }
  headers[count] = headers[count + 1] = NULL;
  *n = (size_t)count;
  return headers;
}

static int http_start(lua_State *L) {
  cawb_http *h = check_http(L);
  cawb_http_request r = { 0 };
  cawb_err err;
  size_t n;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  r.url = field(L, 2, "url");
  luaL_argcheck(L, r.url != NULL, 2, "a request needs a url");
  r.ca = field(L, 2, "ca");
  lua_getfield(L, 2, "body");
  r.body = luaL_optlstring(L, -1, NULL, &r.size);
  lua_getfield(L, 2, "connect");
  r.connect = luaL_optnumber(L, -1, 10);
  lua_getfield(L, 2, "limit");
  r.limit = (size_t)luaL_optinteger(L, -1, 64 << 20);
  const char **headers = read_headers(L, &n);
  r.headers = headers;
  if (!add_auth(L, &headers[n], &err)) return cawb_lua_fail(L, &err);
  transfer_box *b = lua_newuserdatauv(L, sizeof *b, 1);
  b->t = NULL;
  luaL_setmetatable(L, TRANSFER);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);            /* it needs its http */
  if (cawb_http_start(h, &r, &b->t, &err) != CAWB_OK) return cawb_lua_fail(L, &err);
  return 1;
}

/* h:wait(seconds, { fd, ... }): also until one of these can be read. */
static int http_wait(lua_State *L) {
  cawb_http *h = check_http(L);
  cawb_err err;
  int fds[FDS];
  size_t n = 0;
  lua_Number seconds = luaL_checknumber(L, 2);
  for (; lua_istable(L, 3) && n < FDS && lua_rawgeti(L, 3, (lua_Integer)n + 1) == LUA_TNUMBER; lua_pop(L, 1))
    fds[n++] = (int)lua_tointeger(L, -1);
  if (cawb_http_wait(h, fds, n, seconds, &err) != CAWB_OK) return cawb_lua_fail(L, &err);
  lua_pushboolean(L, 1);
  return 1;
}

/* ---- a transfer ---- */

static int transfer_read(lua_State *L) {
  size_t size;
  const char *bytes = cawb_transfer_take(check_transfer(L), &size);
  lua_pushlstring(L, bytes, size);
  return 1;
}

/* nil while it runs; else how it ended, and libcurl's words. */
static int transfer_ending(lua_State *L) {
  cawb_transfer *t = check_transfer(L);
  if (cawb_transfer_ending(t) == CAWB_RUNNING) return 0;
  lua_pushstring(L, cawb_ending_name(cawb_transfer_ending(t)));
  lua_pushstring(L, cawb_transfer_message(t));
  return 2;
}

static int transfer_status(lua_State *L) {
  lua_pushinteger(L, cawb_transfer_status(check_transfer(L)));
  return 1;
}

static int transfer_header(lua_State *L) {
  char value[1024];
  if (!cawb_transfer_header(check_transfer(L), luaL_checkstring(L, 2), value, sizeof value)) return 0;
  lua_pushstring(L, value);
  return 1;
}

static int transfer_close(lua_State *L) {
  transfer_box *b = luaL_checkudata(L, 1, TRANSFER);
  cawb_transfer *t = b->t;
  b->t = NULL;
  cawb_transfer_close(t);
  return 0;
}

/* ---- secrets ---- */

static int secrets_gc(lua_State *L) {
  secrets_box *b = lua_touserdata(L, 1);
  cawb_secrets_free(b->s);
  b->s = NULL;
  return 0;
}

/* At the start, before any child process: see net/secret.h. */
static void take_secrets(lua_State *L) {
  cawb_err err;
  secrets_box *b = lua_newuserdatauv(L, sizeof *b, 0);
  b->s = NULL;
  lua_newtable(L);
  lua_pushcfunction(L, secrets_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  if (cawb_secrets_new(&b->s, &err) != CAWB_OK) luaL_error(L, "%s", err.msg);
  lua_setfield(L, LUA_REGISTRYINDEX, SECRETS);
}

/* redact(text): the text with every key that is known replaced. */
static int http_redact(lua_State *L) {
  size_t size;
  const char *text = luaL_checklstring(L, 1, &size);
  cawb_bytes *out = new_bytes(L);
  cawb_secrets_redact(secrets_of(L), text, size, out);
  if (out->failed) return luaL_error(L, "out of memory");
  lua_pushlstring(L, out->data, out->size);
  return 1;
}

/* has_key{ env = NAME or file = PATH }: true, or nil, message, name. */
static int http_has_key(lua_State *L) {
  cawb_err err;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  if (find_key(L, 1, &err) == NULL) return cawb_lua_fail(L, &err);
  lua_pushboolean(L, 1);
  return 1;
}

int luaopen_cawb_http(lua_State *L) {
  static const luaL_Reg lib[] = {
    { "open", http_open }, { "redact", http_redact }, { "has_key", http_has_key }, { NULL, NULL }
  };
  static const luaL_Reg methods[] = {
    { "start", http_start }, { "wait", http_wait }, { "version", http_version },
    { "close", http_close }, { NULL, NULL }
  };
  static const luaL_Reg metas[] = { { "__gc", http_close }, { "__close", http_close }, { NULL, NULL } };
  static const luaL_Reg transfer_methods[] = {
    { "read", transfer_read }, { "ending", transfer_ending }, { "status", transfer_status },
    { "header", transfer_header }, { "close", transfer_close }, { NULL, NULL }
  };
  static const luaL_Reg transfer_metas[] = {
    { "__gc", transfer_close }, { "__close", transfer_close }, { NULL, NULL }
  };
  take_secrets(L);
  cawb_lua_class(L, HTTP, methods, metas);
  cawb_lua_class(L, TRANSFER, transfer_methods, transfer_metas);
  luaL_newlib(L, lib);
  return 1;
}
