/*
** main.c - the program. `cawb --worker`, `cawb --compiler` and `cawb --jail` are the
** processes that the judge starts; everything else is the judge, whose main program is
** lua/cawb/door/main.lua. All Lua runs inside one protected call.
*/
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/compile/compiler.h"
#include "judge/jail/confined.h"
#include "base/process/interrupt.h"
#include "door/bindings/util.h"
#include "judge/worker/worker.h"

enum { CHILD_SOCKET = 3 };      /* where process/child.c puts it */

typedef struct arguments { int argc; char **argv; } arguments;

static int has_library(const char *root, const char *sub) {
  char path[PATH_MAX + 64];
  snprintf(path, sizeof path, "%s%s/lua/cawb/init.lua", root, sub);
  return access(path, R_OK) == 0;
}

/*
** The folder that holds lua/, strategies/, kernels/...: $CAWB_HOME, or of the
** folders above the program the first that has them, itself (a checkout) or in
** share/cawb (an install tree). Nothing is compiled in, so the tree can be moved.
*/
static int find_home(char home[PATH_MAX], char exe[PATH_MAX]) {
  const char *given = getenv("CAWB_HOME");
  ssize_t n = readlink("/proc/self/exe", exe, PATH_MAX - 1);
  if (n < 0) return 0;
  exe[n] = '\0';
  if (given != NULL) {
    snprintf(home, PATH_MAX, "%s", given);
    return has_library(home, "");
  }
  snprintf(home, PATH_MAX, "%s", exe);
  for (char *slash; (slash = strrchr(home, '/')) != NULL && slash != home;) {
    *slash = '\0';
    if (has_library(home, "/share/cawb")) {
      snprintf(home + strlen(home), PATH_MAX - strlen(home), "/share/cawb");
      return 1;
    }
    if (has_library(home, "")) return 1;
  }
  return 0;
}

/* Only our own folder: a relative entry would make a candidate's files importable. */
static void set_path(lua_State *L, const char *home) {
  lua_getglobal(L, "package");
  lua_pushfstring(L, "%s/lua/?.lua;%s/lua/?/init.lua", home, home);
  lua_setfield(L, -2, "path");
  lua_pushliteral(L, "");
  lua_setfield(L, -2, "cpath");
  lua_pop(L, 1);
}

static void push_args(lua_State *L, const arguments *a) {
  lua_createtable(L, a->argc, 1);
  for (int i = 0; i < a->argc; i++) {
    lua_pushstring(L, a->argv[i]);
    lua_rawseti(L, -2, i);
  }
}

/* An unexpected error: its text and the traceback, as one string. */
static int on_error(lua_State *L) {
  const char *msg = luaL_tolstring(L, 1, NULL);
  luaL_traceback(L, L, msg, 1);
  return 1;
}

static int judge(lua_State *L) {
  const arguments *a = lua_touserdata(L, 1);
  char home[PATH_MAX], exe[PATH_MAX];
  if (!find_home(home, exe))
    return luaL_error(L, "cawb cannot find its Lua library: set CAWB_HOME to the folder "
                         "that holds lua/cawb/init.lua");
  luaL_openlibs(L);
  set_path(L, home);
  luaL_requiref(L, "cawb.core", luaopen_cawb_core, 0);
  lua_pushstring(L, home);
  lua_setfield(L, -2, "home");
  lua_pushstring(L, exe);
  lua_setfield(L, -2, "program");
  lua_pop(L, 1);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "cawb.door.main");
  lua_call(L, 1, 1);
  push_args(L, a);
  lua_call(L, 1, 1);
  return 1;
}

/* A full disk or a closed pipe may show only when the last buffer is written. */
static int flush_output(int status) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  fprintf(stderr, "cawb: what was printed could not all be written%s%s; what was recorded is kept\n",
          errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
  return status == 0 ? 3 : status;
}

static int run_judge(int argc, char **argv) {
  arguments a = { argc, argv };
  lua_State *L = luaL_newstate();
  if (L == NULL) {
    fputs("cawb: out of memory\n", stderr);
    return 3;
  }
  cawb_interrupt_install();
  lua_pushcfunction(L, on_error);
  lua_pushcfunction(L, judge);
  lua_pushlightuserdata(L, &a);
  int status = 3;
  if (lua_pcall(L, 1, 1, 1) == LUA_OK) status = (int)lua_tointeger(L, -1);
  else fprintf(stderr, "cawb: %s\n", lua_tostring(L, -1));
  lua_close(L);
  return flush_output(status);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--worker") == 0) return cawb_worker_main(CHILD_SOCKET);
  if (argc == 2 && strcmp(argv[1], "--jail") == 0) return cawb_confined_main(CHILD_SOCKET);
  if (argc >= 2 && strcmp(argv[1], "--compiler") == 0)
    return cawb_compiler_main(CHILD_SOCKET, argc - 2, argv + 2);
  return run_judge(argc, argv);
}
