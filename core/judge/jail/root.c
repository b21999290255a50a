/*
** root.c - the root file system of a jail: an empty one in memory, with what is to
** be shown bound into it read-only, /proc of its own processes, a few devices, and
** nothing to write to but the folders named for it, and /tmp and /dev/shm, which are of a
** limited size and go with it.
*/
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "judge/jail/jail.h"

static const char *const usual_devices[] = { "/dev/null", "/dev/zero", "/dev/full",
                                             "/dev/random", "/dev/urandom" };

static cawb_status fail(cawb_err *err, const char *what, const char *path) {
  return cawb_fail_errno(err, CAWB_ERR_UNSUPPORTED, "jail: cannot %s %s", what, path);
}

/* As `struct mount_attr` of linux/mount.h, which does not go together with sys/mount.h. */
static int make_read_only(const char *path) {
#ifdef SYS_mount_setattr
  struct { uint64_t set, clear, propagation, userns; } attr = { 1 | 2, 0, 0, 0 };  /* RDONLY, NOSUID */
  if (syscall(SYS_mount_setattr, -1, path, 0x8000 /* AT_RECURSIVE */, &attr, sizeof attr) == 0)
    return 0;
#endif
  return mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID, NULL);
}

/* The folders above a path, and with `last` it too. */
static int make_folders(const char *path, int last) {
  char part[PATH_MAX];
  size_t n = strlen(path);
  if (n >= sizeof part) return -1;
  for (size_t i = 1; i <= n; i++) {
    if (path[i] != '/' && !(last && i == n)) continue;
    memcpy(part, path, i);
    part[i] = '\0';
    if (mkdir(part, 0755) != 0 && errno != EEXIST) return -1;
  }
  return 0;
}

static int make_file(const char *path) {
  int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  return fd < 0 ? -1 : close(fd);
}

static int copy_link(const char *from, const char *to) {
  char target[PATH_MAX];
  ssize_t n = readlink(from, target, sizeof target - 1);
  if (n < 0) return -1;
  target[n] = '\0';
  return symlink(target, to);
}

/* /old PATH appears as /new PATH. What is not there, or is there already, is left out. */
static cawb_status show(const char *path, int device, cawb_err *err) {
  char from[PATH_MAX + 8], to[PATH_MAX + 8];
  struct stat st, already;
  snprintf(from, sizeof from, "/old%s", path);
  snprintf(to, sizeof to, "/new%s", path);
  if (lstat(from, &st) != 0 || lstat(to, &already) == 0) return CAWB_OK;
  int folder = S_ISDIR(st.st_mode);
  if (make_folders(to, folder) != 0) return fail(err, "make a place for", path);
  if (S_ISLNK(st.st_mode)) return copy_link(from, to) == 0 ? CAWB_OK : fail(err, "link", path);
  if (!folder && make_file(to) != 0) return fail(err, "make a place for", path);
  if (mount(from, to, NULL, MS_BIND | MS_REC, NULL) != 0) return fail(err, "show", path);
  if (!device && make_read_only(to) != 0) return fail(err, "protect", path);
  return CAWB_OK;
}

/* /old PATH appears as /new PATH, whatever is shown or made there already. */
static cawb_status open_to_write(const char *path, cawb_err *err) {
  char from[PATH_MAX + 8], to[PATH_MAX + 8];
  const unsigned long how = MS_BIND | MS_NOSUID | MS_NODEV;
  snprintf(from, sizeof from, "/old%s", path);
  snprintf(to, sizeof to, "/new%s", path);
  if (make_folders(to, 1) != 0) return fail(err, "make a place for", path);
  if (mount(from, to, NULL, MS_BIND, NULL) != 0 || mount(NULL, to, NULL, MS_REMOUNT | how, NULL) != 0)
    return fail(err, "open", path);
  return CAWB_OK;
}

static cawb_status memory_at(const char *path, unsigned long long size, const char *mode,
                             cawb_err *err) {
  char options[64];
  snprintf(options, sizeof options, "size=%llu,mode=%s", size, mode);
  if (make_folders(path, 1) != 0 ||
      mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) != 0)
    return fail(err, "make a file system in memory at", path);
  return CAWB_OK;
}

/* Some containers hide parts of /proc, and forbid a whole one: then a few of its files. */
static cawb_status show_processes(int writable, cawb_err *err) {
  static const char *const enough[] = { "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
                                        "/proc/devices", "/proc/driver" };
  const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC | (writable ? 0 : MS_RDONLY);
  if (make_folders("/new/proc", 1) != 0) return fail(err, "make", "/proc");
  if (mount("proc", "/new/proc", "proc", flags, NULL) == 0)
    return CAWB_OK;
  for (size_t i = 0; i < sizeof enough / sizeof *enough; i++) {
    cawb_status rc = show(enough[i], 0, err);
    if (rc != CAWB_OK) return rc;
  }
  return CAWB_OK;
}

static cawb_status furnish(const cawb_jail *j, cawb_err *err) {
  cawb_status rc = memory_at("/new/tmp", j->disk, "1777", err);    /* first: what follows may lie below */
  if (rc == CAWB_OK) rc = memory_at("/new/dev/shm", j->disk, "1777", err);
  for (size_t i = 0; i < j->nshown && rc == CAWB_OK; i++) rc = show(j->shown[i], 0, err);
  for (size_t i = 0; i < sizeof usual_devices / sizeof *usual_devices && rc == CAWB_OK; i++)
    rc = show(usual_devices[i], 1, err);
  for (size_t i = 0; i < j->ndevices && rc == CAWB_OK; i++) rc = show(j->devices[i], 1, err);
  if (rc == CAWB_OK) rc = show_processes(j->names_threads, err);
  for (size_t i = 0; i < j->nwritten && rc == CAWB_OK; i++) rc = open_to_write(j->written[i], err);
  return rc;
}

/* The old root at /old, a new one at /new, and nothing else. */
static cawb_status begin(cawb_err *err) {
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return fail(err, "part", "mounts");
  if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") != 0)
    return fail(err, "make a file system in memory at", "/tmp");
  if (mkdir("/tmp/old", 0755) != 0 || mkdir("/tmp/new", 0755) != 0) return fail(err, "make", "folders");
  if (syscall(SYS_pivot_root, "/tmp", "/tmp/old") != 0 || chdir("/") != 0)
    return fail(err, "leave", "the root");
  if (mount("/new", "/new", NULL, MS_BIND, NULL) != 0) return fail(err, "make", "a root");
  return CAWB_OK;
}

static cawb_status finish(cawb_err *err) {
  if (umount2("/old", MNT_DETACH) != 0 || chdir("/new") != 0 ||
      syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
    return fail(err, "leave", "the old root");
  if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) != 0)
    return fail(err, "protect", "the root");
  if (sethostname("jail", 4) != 0 || chdir("/tmp") != 0) return fail(err, "enter", "/tmp");
  return CAWB_OK;
}

cawb_status cawb_jail_root(const cawb_jail *j, cawb_err *err) {
  umask(022);
  cawb_status rc = begin(err);
  if (rc == CAWB_OK) rc = furnish(j, err);
  if (rc == CAWB_OK) rc = finish(err);
  return rc;
}
