/* clock.c - the clocks, randomness and interruption, for Lua. */
#include <errno.h>
#include <poll.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "base/process/interrupt.h"
#include "door/bindings/util.h"

static int clock_now(lua_State *L) {
  lua_pushnumber(L, cawb_clock_now());
  return 1;
}

static int clock_wall(lua_State *L) {
  lua_pushnumber(L, cawb_clock_wall());
  return 1;
}

/* `n` bytes (default 8) from the kernel's generator. */
static int clock_random(lua_State *L) {
  lua_Integer n = luaL_optinteger(L, 1, 8);
  unsigned char bytes[256];
  luaL_argcheck(L, n > 0 && n <= (lua_Integer)sizeof bytes, 1, "1 to 256 bytes");
  if (getrandom(bytes, (size_t)n, 0) != (ssize_t)n) {
    cawb_err err;
    cawb_fail_errno(&err, CAWB_ERR_IO, "getrandom");
    return cawb_lua_fail(L, &err);
  }
  lua_pushlstring(L, (const char *)bytes, (size_t)n);
  return 1;
}

/* sleep(seconds, { fd, ... }): or until a signal, or one of these can be read: an hour at most. */
static int clock_sleep(lua_State *L) {
  enum { FDS = 256 };
  struct pollfd fds[FDS];
  nfds_t n = 0;
  lua_Number s = luaL_checknumber(L, 1);
  s = !(s > 0) ? 0 : s > 3600 ? 3600 : s;
  struct timespec t = { .tv_sec = (time_t)s, .tv_nsec = (long)((s - (lua_Number)(time_t)s) * 1e9) };
  for (; lua_istable(L, 2) && n < FDS && lua_rawgeti(L, 2, (lua_Integer)n + 1) == LUA_TNUMBER; lua_pop(L, 1))
    fds[n++] = (struct pollfd){ .fd = (int)lua_tointeger(L, -1), .events = POLLIN };
  ppoll(fds, n, &t, NULL);
  return 0;
}

static int clock_interrupted(lua_State *L) {
  lua_pushboolean(L, cawb_interrupted());
  return 1;
}

/* patient(true): from now on a first Ctrl-C only asks. */
static int clock_patient(lua_State *L) {
  luaL_checktype(L, 1, LUA_TBOOLEAN);
  cawb_interrupt_patient(lua_toboolean(L, 1));
  return 0;
}

static int clock_asked(lua_State *L) {
  lua_pushboolean(L, cawb_interrupt_asked());
  return 1;
}

int luaopen_cawb_clock(lua_State *L) {
  static const luaL_Reg lib[] = {
    { "now", clock_now }, { "wall", clock_wall }, { "random", clock_random },
    { "sleep", clock_sleep }, { "interrupted", clock_interrupted }, { "patient", clock_patient },
    { "asked", clock_asked }, { NULL, NULL }
  };
  luaL_newlib(L, lib);
  return 1;
}
