/*
** child.c - child processes for Lua.
**   local c = child.new("worker", {argv...}, { dir =, memory = bytes, most = bytes of a reply })
**   local reply, message, name = c:call(request, { timeout = seconds, fds = {fd,...} })
** or in two halves, for one who waits for other things too: c:send(request, { timeout =,
** fds = }), c:ready(), c:receive(timeout, left); c:unasked() says whether it sent something that no request was sent
** for. A reply with "ok":false comes back as nil, message, name, reply. Descriptors in
** a reply are in reply.fds, as handles that close themselves.
*/
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process/child.h"
#include "door/bindings/util.h"

#define CHILD "cawb.child"
#define FD "cawb.fd"

typedef struct child_box { cawb_child *c; } child_box;    /* c == NULL: closed */
typedef struct fd_box { int fd; } fd_box;                 /* fd == -1: closed */

static cawb_child *check_child(lua_State *L, int arg) {
  child_box *b = luaL_checkudata(L, arg, CHILD);
  luaL_argcheck(L, b->c != NULL, arg, "the process is closed");
  return b->c;
}

static int check_fd(lua_State *L, int arg) {
  fd_box *b = luaL_checkudata(L, arg, FD);
  luaL_argcheck(L, b->fd >= 0, arg, "the descriptor is closed");
  return b->fd;
}

/* A NULL-terminated argv in a userdata; its strings stay alive in the table. */
static char **read_argv(lua_State *L, int index) {
  lua_Integer n = luaL_len(L, index);
  luaL_argcheck(L, n > 0 && n < 1 << 16, index, "a command has 1 to 65535 words");
  char **argv = lua_newuserdatauv(L, (size_t)(n + 1) * sizeof *argv, 0);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, index, i);
    luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, index, "arguments must be strings");
    luaL_argcheck(L, strlen(lua_tostring(L, -1)) == lua_rawlen(L, -1), index,
                  "a NUL in an argument");
    argv[i - 1] = (char *)lua_tostring(L, -1);
    lua_pop(L, 1);
  }
  argv[n] = NULL;
  return argv;
}

static int child_new(lua_State *L) {
  const char *label = luaL_checkstring(L, 1), *dir = NULL;
  lua_Integer memory = 0, most = CAWB_MESSAGE_MAX;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 3);
  char **argv = read_argv(L, 2);
  if (lua_istable(L, 3)) {
    lua_getfield(L, 3, "dir");
    dir = luaL_optstring(L, -1, NULL);
    lua_getfield(L, 3, "memory");
    memory = luaL_optinteger(L, -1, 0);
    luaL_argcheck(L, memory >= 0, 3, "memory cannot be negative");
    lua_getfield(L, 3, "most");
    most = luaL_optinteger(L, -1, most);
    luaL_argcheck(L, most > 0, 3, "a reply has one byte or more");
  }
  child_box *b = lua_newuserdatauv(L, sizeof *b, 0);
  b->c = NULL;
  luaL_setmetatable(L, CHILD);
  cawb_err err;
  if (cawb_child_new(&b->c, label, argv, dir, (size_t)memory, &err) != CAWB_OK)
    return cawb_lua_fail(L, &err);
  cawb_child_limit(b->c, (size_t)most);
  return 1;
}

static int child_close(lua_State *L) {
  child_box *b = luaL_checkudata(L, 1, CHILD);
  cawb_child *c = b->c;
  b->c = NULL;
  cawb_child_free(c);
  return 0;
}

static double read_options(lua_State *L, int fds[], size_t *nfds) {
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_getfield(L, 3, "timeout");
  double timeout = luaL_checknumber(L, -1);
  luaL_argcheck(L, timeout > 0, 3, "timeout must be positive");
  lua_pop(L, 1);
  if (lua_getfield(L, 3, "fds") == LUA_TTABLE) {
    lua_Integer n = luaL_len(L, -1);
    luaL_argcheck(L, n <= CAWB_MESSAGE_FDS, 3, "too many descriptors");
    for (lua_Integer i = 1; i <= n; i++) {
      lua_rawgeti(L, -1, i);
      fds[(*nfds)++] = check_fd(L, lua_gettop(L));
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
  return timeout;
}

/* A message whose parts are freed by the collector, should a push below raise. */
static int message_gc(lua_State *L) {
  cawb_message_free(lua_touserdata(L, 1));
  return 0;
}

static cawb_message *new_message(lua_State *L) {
  cawb_message *m = lua_newuserdatauv(L, sizeof *m, 0);
  memset(m, 0, sizeof *m);
  if (luaL_newmetatable(L, "cawb.message")) {
    lua_pushcfunction(L, message_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return m;
}

static void push_fds(lua_State *L, cawb_message *m) {
  lua_createtable(L, (int)m->nfds, 0);
  for (size_t i = 0; i < m->nfds; i++) {
    fd_box *b = lua_newuserdatauv(L, sizeof *b, 0);
    b->fd = -1;
    luaL_setmetatable(L, FD);
    b->fd = m->fds[i];
    m->fds[i] = -1;                      /* it has a new owner */
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* A text of the reply at `index`, or what stands for it. */
static void push_text(lua_State *L, int index, const char *key, const char *otherwise) {
  if (lua_getfield(L, index, key) == LUA_TSTRING) return;
  lua_pop(L, 1);
  lua_pushstring(L, otherwise);
}

static int push_reply(lua_State *L, cawb_message *m) {
  cawb_lua_push_json(L, m->json);
  int reply = lua_gettop(L);
  if (m->nfds > 0) push_fds(L, m);
  else lua_pushnil(L);                   /* whatever it says itself */
  lua_setfield(L, reply, "fds");
  int ok = lua_getfield(L, reply, "ok") == LUA_TBOOLEAN && lua_toboolean(L, -1);
  lua_settop(L, reply);
  if (ok) return 1;
  lua_pushnil(L);
  push_text(L, reply, "message", "it failed without a reason");
  push_text(L, reply, "name", "invalid");
  lua_pushvalue(L, reply);
  return 4;                              /* nil, message, name, reply */
}

static int child_call(lua_State *L) {
  cawb_child *c = check_child(L, 1);
  int fds[CAWB_MESSAGE_FDS];
  size_t nfds = 0;
  lua_settop(L, 3);
  luaL_checktype(L, 2, LUA_TTABLE);
  double timeout = read_options(L, fds, &nfds);
  cawb_message *reply = new_message(L), *request = new_message(L);
  request->json = cawb_lua_to_json(L, 2);
  cawb_err err;
  if (cawb_child_call(c, request->json, fds, nfds, timeout, reply, &err) != CAWB_OK)
    return cawb_lua_fail(L, &err);
  return push_reply(L, reply);
}

/* c:send(request, { timeout =, fds = }): true, or nil, message, name. A reply is due then. */
static int child_send(lua_State *L) {
  cawb_child *c = check_child(L, 1);
  int fds[CAWB_MESSAGE_FDS];
  size_t nfds = 0;
  lua_settop(L, 3);
  luaL_checktype(L, 2, LUA_TTABLE);
  double timeout = read_options(L, fds, &nfds);
  cawb_message *request = new_message(L);
  request->json = cawb_lua_to_json(L, 2);
  cawb_err err;
  if (cawb_child_send(c, request->json, fds, nfds, timeout, &err) != CAWB_OK) return cawb_lua_fail(L, &err);
  lua_pushboolean(L, 1);
  return 1;
}

/* c:receive(timeout, left): as c:call. */
static int child_receive(lua_State *L) {
  cawb_child *c = check_child(L, 1);
  double timeout = luaL_checknumber(L, 2), left = luaL_checknumber(L, 3);
  cawb_message *reply = new_message(L);
  cawb_err err;
  if (cawb_child_receive(c, timeout, left, reply, &err) != CAWB_OK) return cawb_lua_fail(L, &err);
  return push_reply(L, reply);
}

static int child_ready(lua_State *L) {
  lua_pushboolean(L, cawb_child_ready(check_child(L, 1)));
  return 1;
}

static int child_unasked(lua_State *L) {
  lua_pushboolean(L, cawb_child_unasked(check_child(L, 1)));
  return 1;
}

static int child_fd(lua_State *L) {
  lua_pushinteger(L, cawb_child_fd(check_child(L, 1)));
  return 1;
}

static int child_pid(lua_State *L) {
  lua_pushinteger(L, cawb_child_pid(check_child(L, 1)));
  return 1;
}

static int child_alive(lua_State *L) {
  child_box *b = luaL_checkudata(L, 1, CHILD);
  lua_pushboolean(L, b->c != NULL && cawb_child_alive(b->c));
  return 1;
}

static int child_output(lua_State *L) {
  char text[8192];
  cawb_child_output(check_child(L, 1), text, sizeof text);
  lua_pushstring(L, text);
  return 1;
}

static int child_kill(lua_State *L) {
  cawb_child_kill(check_child(L, 1));
  return 0;
}

static int child_status(lua_State *L) {
  lua_pushinteger(L, cawb_child_status(check_child(L, 1)));
  return 1;
}

/* c:printed(): how many bytes; c:printed(at, size): these of them. */
static int child_printed(lua_State *L) {
  char text[1 << 16];
  cawb_child *c = check_child(L, 1);
  if (lua_isnoneornil(L, 2)) {
    lua_pushinteger(L, (lua_Integer)cawb_child_printed(c));
    return 1;
  }
  lua_Integer at = luaL_checkinteger(L, 2), size = luaL_checkinteger(L, 3);
  luaL_argcheck(L, at >= 0, 2, "a place is not negative");
  luaL_argcheck(L, size >= 0 && size < (lua_Integer)sizeof text, 3, "0 to 65535 bytes");
  cawb_child_piece(c, (size_t)at, text, (size_t)size + 1);
  lua_pushstring(L, text);
  return 1;
}

static int child_tostring(lua_State *L) {
  child_box *b = luaL_checkudata(L, 1, CHILD);
  if (b->c == NULL) lua_pushliteral(L, "cawb.child (closed)");
  else lua_pushfstring(L, "cawb.child (pid %d)", (int)cawb_child_pid(b->c));
  return 1;
}

static int fd_close(lua_State *L) {
  fd_box *b = luaL_checkudata(L, 1, FD);
  if (b->fd >= 0) close(b->fd);
  b->fd = -1;
  return 0;
}

int luaopen_cawb_child(lua_State *L) {
  static const luaL_Reg lib[] = { { "new", child_new }, { NULL, NULL } };
  static const luaL_Reg methods[] = {
    { "call", child_call }, { "send", child_send }, { "receive", child_receive },
    { "ready", child_ready }, { "unasked", child_unasked }, { "fd", child_fd }, { "close", child_close }, { "pid", child_pid },
    { "alive", child_alive }, { "kill", child_kill }, { "status", child_status },
    { "output", child_output }, { "printed", child_printed }, { NULL, NULL }
  };
  static const luaL_Reg metas[] = {
    { "__gc", child_close }, { "__close", child_close }, { "__tostring", child_tostring },
    { NULL, NULL }
  };
  static const luaL_Reg fd_methods[] = { { "close", fd_close }, { NULL, NULL } };
  static const luaL_Reg fd_metas[] = {
    { "__gc", fd_close }, { "__close", fd_close }, { NULL, NULL }
  };
  cawb_lua_class(L, CHILD, methods, metas);
  cawb_lua_class(L, FD, fd_methods, fd_metas);
  luaL_newlib(L, lib);
  return 1;
}
