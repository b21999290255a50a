/* jail.c - see jail.h: the description, the processes, privileges and limits. */
#include "judge/jail/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the description ---- */

static const struct { const char *name; int what; } limit_names[] = {
  { "memory", RLIMIT_AS }, { "data", RLIMIT_DATA }, { "seconds", RLIMIT_CPU },
  { "processes", RLIMIT_NPROC }, { "file", RLIMIT_FSIZE }, { "files", RLIMIT_NOFILE },
  { "locked", RLIMIT_MEMLOCK }
};

static int read_limit(cawb_jail *j, const char *value) {
  char name[16];
  unsigned long long most;
  if (j->nlimits == CAWB_JAIL_LIMITS || sscanf(value, "%15s %llu", name, &most) != 2) return 0;   /* NOLINT: cawb wrote it */
  for (size_t i = 0; i < sizeof limit_names / sizeof *limit_names; i++)
    if (strcmp(name, limit_names[i].name) == 0) {
      j->limits[j->nlimits].what = limit_names[i].what;
      j->limits[j->nlimits++].most = most;
      return 1;
    }
  return 0;
}

static int add_path(const char **list, size_t *count, const char *path) {
  if (*count == CAWB_JAIL_PATHS || path[0] != '/' || strstr(path, "/..") != NULL) return 0;
  list[(*count)++] = path;
  return 1;
}

static int read_line(cawb_jail *j, char *line) {
  char *value = strchr(line, ' ');
  if (value != NULL) *value++ = '\0';
  if (strcmp(line, "namespaces") == 0) return (j->namespaces = value == NULL);
  if (strcmp(line, "threads") == 0) return (j->names_threads = value == NULL);
  if (strcmp(line, "listen") == 0) return (j->listens = value == NULL);
  if (value == NULL || *value == '\0') return 0;
  if (strcmp(line, "show") == 0) return add_path(j->shown, &j->nshown, value);
  if (strcmp(line, "device") == 0) return add_path(j->devices, &j->ndevices, value);
  if (strcmp(line, "write") == 0) return add_path(j->written, &j->nwritten, value);
  if (strcmp(line, "limit") == 0) return read_limit(j, value);
  if (strcmp(line, "disk") == 0) return sscanf(value, "%llu", &j->disk) == 1;      /* NOLINT: the same */
  if (strcmp(line, "folder") == 0) return (j->folder = value)[0] == '/';
  return 0;
}

cawb_status cawb_jail_parse(cawb_jail *out, const char *text, cawb_err *err) {
  char *rest = NULL;
  *out = (cawb_jail){ .text = strdup(text) };
  if (out->text == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a jail");
  for (char *line = strtok_r(out->text, "\n", &rest); line != NULL;
       line = strtok_r(NULL, "\n", &rest)) {
    if (read_line(out, line)) continue;
    cawb_fail(err, CAWB_ERR_INVALID, "jail: cannot take the line that begins with '%.60s'", line);
    cawb_jail_free(out);
    return CAWB_ERR_INVALID;
  }
  return CAWB_OK;
}

void cawb_jail_free(cawb_jail *j) {
  free(j->text);
  j->text = NULL;
}

/* ---- namespaces ---- */

static int write_proc(pid_t pid, const char *file, const char *text) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = write(fd, text, strlen(text));
  int saved = errno;
  close(fd);
  errno = saved;
  return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* Root's ids need a writer outside: root and nobody, or root alone where that is all. */
static int map_root(pid_t pid) {
  char both[64];
  snprintf(both, sizeof both, "0 0 1\n%d %d 1\n", CAWB_JAIL_NOBODY, CAWB_JAIL_NOBODY);
  if (write_proc(pid, "uid_map", both) == 0) return write_proc(pid, "gid_map", both);
  if (write_proc(pid, "uid_map", "0 0 1\n") != 0) return -1;
  return write_proc(pid, "gid_map", "0 0 1\n");
}

static int map_own(uid_t uid, gid_t gid) {
  char text[32];
  if (write_proc(getpid(), "setgroups", "deny") != 0) return -1;
  snprintf(text, sizeof text, "%u %u 1\n", gid, gid);
  if (write_proc(getpid(), "gid_map", text) != 0) return -1;
  snprintf(text, sizeof text, "%u %u 1\n", uid, uid);
  return write_proc(getpid(), "uid_map", text);
}

enum { NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                    CLONE_NEWUTS };

/* A process that maps its parent's ids once the pipe says so; its status is whether it did. */
static pid_t start_mapper(int go[2]) {
  pid_t pid = pipe2(go, O_CLOEXEC) == 0 ? fork() : -1;
  if (pid != 0) return pid;
  char c;
  close(go[1]);
  _exit(read(go[0], &c, 1) == 1 && map_root(getppid()) == 0 ? 0 : 1);
}

static int mapped_by(pid_t mapper, int go[2]) {
  int status = -1;
  int told = write(go[1], "g", 1) == 1;
  close(go[0]);
  close(go[1]);
  while (waitpid(mapper, &status, 0) < 0 && errno == EINTR) continue;
  errno = EPERM;
  return told && status == 0;
}

static cawb_status leave_namespaces(cawb_err *err) {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  int go[2] = { -1, -1 };
  pid_t mapper = uid == 0 ? start_mapper(go) : 0;
  if (mapper < 0) return cawb_fail_errno(err, CAWB_ERR_IO, "jail: a process that maps ids");
  int apart = unshare(NAMESPACES) == 0, saved = errno;
  if (mapper > 0 && !apart) {
    close(go[1]);                         /* it ends by itself */
    waitpid(mapper, NULL, 0);
    errno = saved;
  }
  if (!apart)
    return cawb_fail_errno(err, CAWB_ERR_UNSUPPORTED, "jail: the kernel forbids new namespaces");
  if (mapper > 0 ? !mapped_by(mapper, go) : map_own(uid, gid) != 0)
    return cawb_fail_errno(err, CAWB_ERR_UNSUPPORTED, "jail: ids cannot be mapped");
  return CAWB_OK;
}

/* ---- the processes ---- */

static void let_go_of_files(int but) {
  for (int fd = 0; fd < 4096; fd++)
    if (fd != but) close(fd);
}

static int status_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Outside: wait for the jail's first process; SIGTERM ends it and so everything inside. */
static _Noreturn void guard(pid_t first, int alive) {
  sigset_t set;
  int status = 0;
  let_go_of_files(alive);
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGCHLD);
  while (waitpid(first, &status, WNOHANG) == 0)
    if (sigwaitinfo(&set, NULL) == SIGTERM) kill(first, SIGKILL);
  _exit(status_of(status));
}

/* Inside: reap what is orphaned until the jailed process ends. */
static _Noreturn void reap(pid_t jailed) {
  int status = 0;
  let_go_of_files(-1);
  for (;;) {
    pid_t pid = waitpid(-1, &status, 0);
    if (pid == jailed || (pid < 0 && errno != EINTR)) _exit(status_of(status));
  }
}

/* Fork; 0 in the child, which dies with its parent. `alive` is held by the parent only. */
static pid_t fork_bound(int alive[2]) {
  if (pipe2(alive, O_CLOEXEC) != 0) return -1;
  pid_t pid = fork();
  if (pid != 0) {
    close(alive[0]);
    return pid;
  }
  struct pollfd gone = { .fd = alive[0], .events = POLLIN };
  close(alive[1]);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (poll(&gone, 1, 0) != 0) _exit(1);    /* it died before the line above */
  close(alive[0]);
  return 0;
}

/* ---- privileges and limits ---- */

static int limit_all(const cawb_jail *j) {
  struct rlimit none = { 0, 0 };
  if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
  for (size_t i = 0; i < j->nlimits; i++) {
    struct rlimit l;
    if (getrlimit(j->limits[i].what, &l) != 0) return -1;
    if (j->limits[i].most < l.rlim_max) l.rlim_max = j->limits[i].most;
    l.rlim_cur = l.rlim_max;
    if (setrlimit(j->limits[i].what, &l) != 0) return -1;
  }
  return 0;
}

/* Where root cannot be nobody it stays, without what makes it root. */
static void become_nobody(void) {
  const gid_t nobody = CAWB_JAIL_NOBODY;
  if (geteuid() != 0) return;
  if (setgroups(0, NULL) == 0 && setresgid(nobody, nobody, nobody) == 0 &&
      setresuid(nobody, nobody, nobody) == 0)
    return;
  errno = 0;
}

static cawb_status drop_privileges(cawb_err *err) {
  struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
  struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
  for (int cap = 0; cap < 64; cap++) prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (syscall(SYS_capset, &head, none) != 0)
    return cawb_fail_errno(err, CAWB_ERR_IO, "jail: cannot drop privileges");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return cawb_fail_errno(err, CAWB_ERR_UNSUPPORTED, "jail: no_new_privs");
  return CAWB_OK;
}

/*
** Whether nobody could work here: without a root of its own a jail sees the real one, and the folders above
** a path may be closed to all but root. Of the folders to be written it has to reach the place: it gets them.
*/
static int open_to_nobody(const cawb_jail *j) {
  int fine = 1;
  if (geteuid() != 0 || setegid(CAWB_JAIL_NOBODY) != 0) return 0;
  if (seteuid(CAWB_JAIL_NOBODY) != 0) fine = 0;
  for (size_t i = 0; fine && i < j->nshown; i++)
    fine = faccessat(AT_FDCWD, j->shown[i], R_OK, AT_EACCESS) == 0 || errno == ENOENT;
  for (size_t i = 0; fine && i < j->nwritten; i++)
    fine = faccessat(AT_FDCWD, j->written[i], F_OK, AT_EACCESS) == 0;
  fine = fine && (j->folder == NULL || faccessat(AT_FDCWD, j->folder, W_OK, AT_EACCESS) == 0);
  if (seteuid(0) != 0 || setegid(0) != 0) _exit(127);
  return fine;
}

static cawb_status confine(const cawb_jail *j, int as_nobody, cawb_err *err) {
  if (limit_all(j) != 0) return cawb_fail_errno(err, CAWB_ERR_IO, "jail: resource limits");
  if (as_nobody) become_nobody();
  cawb_status rc = drop_privileges(err);
  if (rc == CAWB_OK) rc = cawb_jail_files(j, err);
  if (rc == CAWB_OK) rc = cawb_jail_calls(j, err);
  return rc;
}

/* The jail's first process: it makes the root, confines itself, and forks who works. */
static cawb_status begin_inside(const cawb_jail *j, cawb_err *err) {
  cawb_status rc = cawb_jail_root(j, err);
  if (rc == CAWB_OK) rc = confine(j, 1, err);
  if (rc != CAWB_OK) return rc;
  prctl(PR_SET_PDEATHSIG, SIGKILL);        /* with its guard: a change of ids took it */
  prctl(PR_SET_DUMPABLE, 0);               /* its /proc/1 is nobody's */
  pid_t pid = fork();
  if (pid < 0) return cawb_fail_errno(err, CAWB_ERR_IO, "jail: fork");
  if (pid > 0) reap(pid);
  prctl(PR_SET_DUMPABLE, 1);               /* a change of ids took it; /proc/self is needed */
  return CAWB_OK;
}

/* A change of ids or of namespaces takes what its parent had asked for. */
static void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
}

static cawb_status enter(const cawb_jail *j, cawb_err *err) {
  int alive[2];
  sigset_t set;
  pid_t host = getppid();
  int as_nobody = j->namespaces || open_to_nobody(j);
  cawb_status rc = cawb_jail_give(j, as_nobody ? CAWB_JAIL_NOBODY : 0, err);
  if (rc == CAWB_OK && !j->namespaces) {
    rc = confine(j, as_nobody, err);
    prctl(PR_SET_DUMPABLE, 1);
    die_with(host);
    return rc;
  }
  if (rc == CAWB_OK) rc = leave_namespaces(err);
  if (rc != CAWB_OK) return rc;
  die_with(host);
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, NULL);
  pid_t pid = fork_bound(alive);
  if (pid < 0) return cawb_fail_errno(err, CAWB_ERR_IO, "jail: fork");
  if (pid > 0) guard(pid, alive[1]);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  return begin_inside(j, err);
}

cawb_status cawb_jail_enter(const char *text, cawb_err *err) {
  cawb_jail j;
  cawb_status rc = cawb_jail_parse(&j, text, err);
  if (rc != CAWB_OK) return rc;
  rc = enter(&j, err);
  cawb_jail_free(&j);
  return rc;
}
