/*
** landlock.c - Landlock: which files a jail may touch, whatever mounts and modes
** say. With namespaces it is a second lock; without them it is the one there is, and a
** kernel without it cannot keep a candidate from the judge's files. The system calls have
** no wrappers, and older headers not all the names: linux/landlock.h has the numbers.
*/
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "judge/jail/jail.h"

enum { CREATE = 444, ADD_RULE = 445, RESTRICT_SELF = 446, PATH_BENEATH = 1 };
enum {
  EXECUTE = 1 << 0, WRITE_FILE = 1 << 1, READ_FILE = 1 << 2, READ_DIR = 1 << 3,
  ALL_OF_1 = (1 << 13) - 1, REFER = 1 << 13, TRUNCATE = 1 << 14, IOCTL_DEV = 1 << 15,
  OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV,
  LOOK = EXECUTE | READ_FILE | READ_DIR, USE = READ_FILE | WRITE_FILE | IOCTL_DEV
};

struct ruleset { uint64_t files, ports, scoped; };
struct path_beneath { uint64_t allowed; int32_t parent; } __attribute__((packed));

int cawb_jail_landlock_abi(void) {
  long abi = syscall(CREATE, NULL, 0, 1 /* the version */);
  return abi < 0 ? 0 : (int)abi;
}

static uint64_t files_of(int abi) {
  return ALL_OF_1 | (abi >= 2 ? REFER : 0) | (abi >= 3 ? TRUNCATE : 0) | (abi >= 5 ? IOCTL_DEV : 0);
}

/* 0, or -1 and errno; what is not there needs no rule. */
static int allow(int set, const char *path, uint64_t allowed) {
  struct stat st;
  struct path_beneath rule = { allowed, open(path, O_PATH | O_CLOEXEC) };
  if (rule.parent < 0) return errno == ENOENT ? 0 : -1;
  if (fstat(rule.parent, &st) == 0 && !S_ISDIR(st.st_mode)) rule.allowed &= OF_FILES;
  long rc = syscall(ADD_RULE, set, PATH_BENEATH, &rule, 0);
  int saved = errno;
  close(rule.parent);
  errno = saved;
  return rc == 0 ? 0 : -1;
}

static int allow_each(int set, const char *const *paths, size_t n, uint64_t allowed) {
  for (size_t i = 0; i < n; i++)
    if (allow(set, paths[i], allowed) != 0) return -1;
  return 0;
}

/* A root of its own: all that is in it may be read. */
static int allow_inside(int set, const cawb_jail *j, uint64_t all) {
  static const char *const written[] = { "/tmp", "/dev/shm" };
  if (allow_each(set, j->written, j->nwritten, all & ~(uint64_t)IOCTL_DEV) != 0) return -1;
  if (j->names_threads && allow(set, "/proc", (LOOK | WRITE_FILE | TRUNCATE) & all) != 0) return -1;
  return allow(set, "/", LOOK) == 0 && allow(set, "/dev", (LOOK | USE) & all) == 0 &&
         allow_each(set, written, 2, all & ~(uint64_t)IOCTL_DEV) == 0 ? 0 : -1;
}

/* The machine's root: what is shown, and of /proc the process itself. */
static int allow_among(int set, const cawb_jail *j, uint64_t all) {
  static const char *const known[] = { "/proc/self", "/proc/cpuinfo", "/proc/meminfo",
    "/proc/stat", "/proc/devices", "/proc/driver", "/proc/sys/vm" };
  static const char *const used[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                      "/dev/urandom" };
  if (allow_each(set, j->written, j->nwritten, all & ~(uint64_t)IOCTL_DEV) != 0) return -1;
  if (j->names_threads && allow(set, "/proc/self", (LOOK | WRITE_FILE | TRUNCATE) & all) != 0) return -1;
  if (j->folder != NULL && allow(set, j->folder, all & ~(uint64_t)IOCTL_DEV) != 0) return -1;
  return allow_each(set, j->shown, j->nshown, LOOK) == 0 &&
         allow_each(set, known, sizeof known / sizeof *known, LOOK) == 0 &&
         allow_each(set, used, sizeof used / sizeof *used, USE & all) == 0 &&
         allow_each(set, j->devices, j->ndevices, (LOOK | USE) & all) == 0 ? 0 : -1;
}

cawb_status cawb_jail_files(const cawb_jail *j, cawb_err *err) {
  int abi = cawb_jail_landlock_abi();
  if (abi == 0 && j->namespaces) return CAWB_OK;
  if (abi == 0)
    return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "jail: the kernel has neither namespaces nor Landlock");
  struct ruleset rules = { files_of(abi), abi >= 4 ? 3 : 0, abi >= 6 ? 3 : 0 };
  size_t size = abi >= 6 ? sizeof rules : abi >= 4 ? 2 * sizeof rules.files : sizeof rules.files;
  int set = (int)syscall(CREATE, &rules, size, 0);
  if (set < 0) return cawb_fail_errno(err, CAWB_ERR_UNSUPPORTED, "jail: Landlock");
  int rc = j->namespaces ? allow_inside(set, j, rules.files) : allow_among(set, j, rules.files);
  if (rc == 0) rc = (int)syscall(RESTRICT_SELF, set, 0);
  int saved = errno;
  close(set);
  errno = saved;
  return rc == 0 ? CAWB_OK : cawb_fail_errno(err, CAWB_ERR_UNSUPPORTED, "jail: Landlock");
}
