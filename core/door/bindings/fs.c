/* fs.c - the little of the file system that Lua's io library lacks. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process/interrupt.h"
#include "door/bindings/util.h"

#define LOCK "cawb.lock"
typedef struct { int fd; } lock_box;           /* fd == -1: let go */

static int fail(lua_State *L, const char *what, const char *path) {
  cawb_err err;
  cawb_fail_errno(&err, errno == ENOENT ? CAWB_ERR_MISSING : CAWB_ERR_IO, "%s%s", what, path);
  return cawb_lua_fail(L, &err);
}

/* The folder and every missing one above it. */
static int fs_mkdir(lua_State *L) {
  char path[PATH_MAX];
  size_t size;
  const char *given = luaL_checklstring(L, 1, &size);
  luaL_argcheck(L, size > 0 && size < sizeof path, 1, "an empty or overlong path");
  memcpy(path, given, size + 1);
  struct stat st;
  if (!cawb_folders_make(path)) return fail(L, "cannot make ", path);
  if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) return errno = EEXIST, fail(L, "cannot make ", path);
  lua_pushboolean(L, 1);
  return 1;
}

static int fs_realpath(lua_State *L) {
  char path[PATH_MAX];
  const char *given = luaL_checkstring(L, 1);
  if (realpath(given, path) == NULL) return fail(L, "", given);
  lua_pushstring(L, path);
  return 1;
}

/* "file", "folder", "other", or nothing where there is none. */
static int fs_kind(lua_State *L) {
  struct stat st;
  if (stat(luaL_checkstring(L, 1), &st) != 0) return 0;
  lua_pushstring(L, S_ISREG(st.st_mode) ? "file" : S_ISDIR(st.st_mode) ? "folder" : "other");
  return 1;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *d) { return d->d_name[0] != '.'; }

/* The names in a folder, sorted, hidden ones left out. */
static int fs_list(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  struct dirent **names;
  lua_newtable(L);                    /* before the C memory: it may raise */
  int n = scandir(path, &names, visible, by_name);
  if (n < 0) return fail(L, "", path);
  luaL_checkstack(L, 2, NULL);
  for (int i = 0; i < n; i++) {
    lua_pushstring(L, names[i]->d_name);
    lua_rawseti(L, -2, i + 1);
    free(names[i]);
  }
  free(names);
  return 1;
}

enum { DEEPEST = 64, ENTRY = 1024 };

/* Adds what is below `fd`, which it closes. What cannot be looked into, and what lies deeper than
** anybody needs, counts as without end: whoever filled it may have meant to hide it. */
static double add_usage(int fd, int depth) {
  DIR *folder = depth < DEEPEST ? fdopendir(fd) : NULL;
  double total = 0;
  if (folder == NULL) {
    close(fd);
    return HUGE_VAL;
  }
  for (const struct dirent *d; (d = readdir(folder)) != NULL;) {
    struct stat st;
    if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 ||
        fstatat(dirfd(folder), d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
      continue;                       /* removed since */
    total += ENTRY + 512.0 * (double)st.st_blocks;
    if (!S_ISDIR(st.st_mode)) continue;
    int inner = openat(dirfd(folder), d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner >= 0) total += add_usage(inner, depth + 1);
    else if (errno != ENOENT) total = HUGE_VAL;
  }
  closedir(folder);
  return total;
}

/* fs.usage(folder): bytes of disk that it takes with all that is in it, and 1024 for each name;
** links are not followed. Infinite where a part of it cannot be looked into. */
static int fs_usage(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail(L, "", path);
  lua_pushnumber(L, add_usage(fd, 0));
  return 1;
}

/* Columns of the terminal behind standard output (1) or error (2), or nothing. */
static int fs_columns(lua_State *L) {
  struct winsize w;
  int fd = (int)luaL_checkinteger(L, 1);
  if (!isatty(fd)) return 0;
  lua_pushinteger(L, ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80);
  return 1;
}

static int is_program(const char *path) {
  struct stat st;
  return access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Executable on PATH, as the shell would find it, or nothing. */
static int fs_which(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const char *path = getenv("PATH");
  if (strchr(name, '/') != NULL) {
    if (!is_program(name)) return 0;
    lua_pushstring(L, name);
    return 1;
  }
  for (const char *p = path; p != NULL && *p != '\0';) {
    size_t n = strcspn(p, ":");
    lua_pushlstring(L, p, n);
    lua_pushfstring(L, "%s/%s", n > 0 ? lua_tostring(L, -1) : ".", name);
    if (is_program(lua_tostring(L, -1))) return 1;
    lua_pop(L, 2);
    p += n + (p[n] == ':');
  }
  return 0;
}

/* Another user may have made it, in a folder where only its owner may open it to write. */
static int open_lock(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  return fd >= 0 ? fd : open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
}

/*
** fs.lock(path[, wait = true]): a handle that holds the lock until it is closed or its
** process ends, however that comes about. Without waiting, a lock that another has is
** nil, message, "busy".
*/
static int fs_lock(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  int wait = lua_isnoneornil(L, 2) || lua_toboolean(L, 2), rc;
  lock_box *b = lua_newuserdatauv(L, sizeof *b, 0);
  b->fd = -1;
  luaL_setmetatable(L, LOCK);
  b->fd = open_lock(path);
  if (b->fd < 0) return fail(L, "cannot open ", path);
  do rc = flock(b->fd, LOCK_EX | (wait ? 0 : LOCK_NB));
  while (rc != 0 && errno == EINTR && !cawb_interrupted());
  if (rc == 0) return 1;
  if (errno != EWOULDBLOCK && errno != EINTR) return fail(L, "cannot lock ", path);
  lua_pushnil(L);
  lua_pushfstring(L, errno == EINTR ? "interrupted" : "another process has locked %s", path);
  lua_pushstring(L, errno == EINTR ? "interrupted" : "busy");
  return 3;
}

static int lock_close(lua_State *L) {
  lock_box *b = luaL_checkudata(L, 1, LOCK);
  if (b->fd >= 0) close(b->fd);
  b->fd = -1;
  return 0;
}

int luaopen_cawb_fs(lua_State *L) {
  static const luaL_Reg lib[] = {
    { "mkdir", fs_mkdir }, { "realpath", fs_realpath }, { "kind", fs_kind },
    { "list", fs_list }, { "columns", fs_columns }, { "which", fs_which },
    { "lock", fs_lock }, { "usage", fs_usage }, { NULL, NULL }
  };
  static const luaL_Reg methods[] = { { "close", lock_close }, { NULL, NULL } };
  static const luaL_Reg metas[] = {
    { "__gc", lock_close }, { "__close", lock_close }, { NULL, NULL }
  };
  cawb_lua_class(L, LOCK, methods, metas);
  luaL_newlib(L, lib);
  return 1;
}
