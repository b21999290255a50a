/*
** serve.c - a server of HTTP and WebSockets, for Lua.
**   local s = serve.open{ host =, port =, token_file = PATH or nil, page = true where it has a page of its own,
**     guests = true where other machines may ask without a token, threads =, body = bytes, idle = seconds, session = seconds }
**   s:port()  s:fd()  s:stop()
**   local a = s:take()       { kind = "http", "open", "message" or "closed", connection =, method =, path =,
**                              query =, remote =, headers = { name = value }, body =, handle = }, or nil
**   a.handle:answer{ status =, type =, headers = { "name: value" }, body =, last = true }
** A handle that is forgotten answers 500, so that nobody waits for ever.
*/
#include <string.h>

#include "door/bindings/util.h"
#include "base/server/server.h"

#define SERVER "cawb.server"
#define ASKED "cawb.asked"

typedef struct server_box { cawb_server *s; } server_box;        /* NULL: closed */
typedef struct asked_box { cawb_asked *a; cawb_queue *q; } asked_box;      /* a NULL: answered */

static cawb_server *check_server(lua_State *L) {
  server_box *b = luaL_checkudata(L, 1, SERVER);
  luaL_argcheck(L, b->s != NULL, 1, "it is closed");
  return b->s;
}

static lua_Integer whole(lua_State *L, const char *name, lua_Integer other) {
  lua_getfield(L, 1, name);
  lua_Integer n = luaL_optinteger(L, -1, other);
  lua_pop(L, 1);
  return n;
}

static double seconds(lua_State *L, const char *name, double other) {
  lua_getfield(L, 1, name);
  double n = luaL_optnumber(L, -1, other);
  lua_pop(L, 1);
  return n;
}

static int serve_open(lua_State *L) {
  cawb_server_options o;
  cawb_err err;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  memset(&o, 0, sizeof o);
  lua_getfield(L, 1, "host");
  o.host = luaL_optstring(L, -1, "127.0.0.1");
  lua_getfield(L, 1, "token_file");
  const char *path = luaL_optstring(L, -1, NULL);
  lua_getfield(L, 1, "page");
  o.page = lua_toboolean(L, -1);
  lua_getfield(L, 1, "guests");
  o.guests = lua_toboolean(L, -1);
  o.port = (int)whole(L, "port", 0);
  o.threads = (int)whole(L, "threads", 64);
  o.body = (size_t)whole(L, "body", 8 << 20);
  o.idle = seconds(L, "idle", 30);
  o.session = seconds(L, "session", 1800);
  luaL_argcheck(L, o.port >= 0 && o.port < 65536 && o.threads > 0 && o.threads <= 4096, 1, "port or threads out of range");
  if (path != NULL && (o.token = cawb_lua_secret_file(L, path, &err)) == NULL) return cawb_lua_fail(L, &err);
  server_box *b = lua_newuserdatauv(L, sizeof *b, 0);
  b->s = NULL;
  luaL_setmetatable(L, SERVER);
  if (cawb_server_open(&b->s, &o, &err) != CAWB_OK) return cawb_lua_fail(L, &err);
  return 1;
}

static int server_port(lua_State *L) {
  lua_pushinteger(L, cawb_server_port(check_server(L)));
  return 1;
}

static int server_fd(lua_State *L) {
  lua_pushinteger(L, cawb_queue_fd(cawb_server_queue(check_server(L))));
  return 1;
}

static int server_stop(lua_State *L) {
  cawb_server_stop(check_server(L));
  return 0;
}

/* Its queue is there until the collector has taken every handle. */
static int server_gc(lua_State *L) {
  server_box *b = luaL_checkudata(L, 1, SERVER);
  cawb_server *s = b->s;
  b->s = NULL;
  cawb_server_free(s);
  return 0;
}

/* ---- what was asked */

static void set_text(lua_State *L, const char *name, const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, name);
}

/* "name: value\n" lines as a table; of one that comes twice the last counts. */
static void set_headers(lua_State *L, const cawb_bytes *lines) {
  const char *at = lines->data != NULL ? lines->data : "", *end;
  lua_newtable(L);
  for (; (end = strchr(at, '\n')) != NULL; at = end + 1) {
    const char *colon = strstr(at, ": ");
    if (colon == NULL || colon > end) continue;
    lua_pushlstring(L, at, (size_t)(colon - at));
    lua_pushlstring(L, colon + 2, (size_t)(end - colon - 2));
    lua_rawset(L, -3);
  }
  lua_setfield(L, -2, "headers");
}

static void push_asked(lua_State *L, const cawb_asked *a) {
  static const char *const kinds[] = { "http", "open", "message", "closed" };
  lua_createtable(L, 0, 9);
  set_text(L, "kind", kinds[a->kind]);
  set_text(L, "method", a->method);
  set_text(L, "path", a->path);
  set_text(L, "query", a->query);
  set_text(L, "remote", a->remote);
  lua_pushinteger(L, (lua_Integer)a->connection);
  lua_setfield(L, -2, "connection");
  lua_pushlstring(L, a->body.size > 0 ? a->body.data : "", a->body.size);
  lua_setfield(L, -2, "body");
  set_headers(L, &a->headers);
}

static int server_take(lua_State *L) {
  cawb_queue *q = cawb_server_queue(check_server(L));
  asked_box *b = lua_newuserdatauv(L, sizeof *b, 1);
  b->q = q;
  b->a = NULL;
  luaL_setmetatable(L, ASKED);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);           /* it needs its server */
  if ((b->a = cawb_queue_take(q)) == NULL) return 0;
  push_asked(L, b->a);
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, "handle");
  return 1;
}

/* ---- answers */

static void take_text(lua_State *L, const char *name, cawb_bytes *to) {
  size_t size;
  lua_getfield(L, 2, name);
  const char *text = luaL_optlstring(L, -1, "", &size);
  cawb_bytes_add(to, text, size);
  lua_pop(L, 1);
}

static void take_headers(lua_State *L, cawb_bytes *to) {
  if (lua_getfield(L, 2, "headers") == LUA_TTABLE) {
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) == LUA_TSTRING; i++, lua_pop(L, 1)) {
      const char *line = lua_tostring(L, -1);
      luaL_argcheck(L, line[strcspn(line, "\r\n")] == '\0', 2, "a header has a line end in it");
      cawb_bytes_print(to, "%s\r\n", line);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static int asked_answer(lua_State *L) {
  asked_box *b = luaL_checkudata(L, 1, ASKED);
  luaL_argcheck(L, b->a != NULL, 1, "it is answered");
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  cawb_asked *a = b->a;
  take_text(L, "type", &a->type);
  take_text(L, "body", &a->answer);
  take_headers(L, &a->extra);
  lua_getfield(L, 2, "last");
  a->last = lua_toboolean(L, -1);
  lua_getfield(L, 2, "status");
  int status = (int)luaL_optinteger(L, -1, 200);
  luaL_argcheck(L, status >= 100 && status < 600, 2, "no status of HTTP");
  b->a = NULL;
  cawb_queue_answer(b->q, a, status);
  cawb_asked_drop(a);
  return 0;
}

static int asked_gc(lua_State *L) {
  asked_box *b = luaL_checkudata(L, 1, ASKED);
  cawb_asked *a = b->a;
  b->a = NULL;
  if (a == NULL) return 0;
  cawb_queue_answer(b->q, a, 500);
  cawb_asked_drop(a);
  return 0;
}

int luaopen_cawb_serve(lua_State *L) {
  static const luaL_Reg lib[] = { { "open", serve_open }, { NULL, NULL } };
  static const luaL_Reg methods[] = {
    { "port", server_port }, { "fd", server_fd }, { "take", server_take }, { "stop", server_stop },
    { NULL, NULL }
  };
  static const luaL_Reg metas[] = { { "__gc", server_gc }, { "__close", server_stop }, { NULL, NULL } };
  static const luaL_Reg asked_methods[] = { { "answer", asked_answer }, { NULL, NULL } };
  static const luaL_Reg asked_metas[] = { { "__gc", asked_gc }, { NULL, NULL } };
  cawb_lua_class(L, SERVER, methods, metas);
  cawb_lua_class(L, ASKED, asked_methods, asked_metas);
  luaL_newlib(L, lib);
  return 1;
}
