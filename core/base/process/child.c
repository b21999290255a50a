/* child.c - see child.h. */
#include "base/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"

/* They map terabytes: with one, there is no limit to addresses. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZER 1
#endif
#endif
#ifndef SANITIZER
#define SANITIZER 0
#endif

struct cawb_child {
  char label[32];
  pid_t pid;          /* 0: reaped */
  int status;         /* of waitpid, once reaped */
  int sock;
  int output;         /* a memfd behind its stdout and stderr */
  size_t most;        /* bytes of a reply */
  cawb_err gone;      /* why it was given up, for whoever asks it again */
};

/*
** Nothing of the judge but 0 to 3 may reach the new program: Lua's io library, for
** one, opens files that would be inherited. Marked only: `report` is still needed.
*/
static void seal_descriptors(void) {
  struct rlimit most;
#ifdef SYS_close_range
  enum { MARK = 1 << 2 };                 /* CLOSE_RANGE_CLOEXEC, of Linux 5.11 */
  if (syscall(SYS_close_range, 4u, ~0u, MARK) == 0) return;
#endif
  if (getrlimit(RLIMIT_NOFILE, &most) != 0) return;
  for (rlim_t fd = 4; fd < most.rlim_cur && fd < 65536; fd++)
    fcntl((int)fd, F_SETFD, FD_CLOEXEC);
}

static int limit(int what, rlim_t most) {
  struct rlimit l;
  if (getrlimit(what, &l) != 0) return -1;
  if (l.rlim_max < most) most = l.rlim_max;   /* RLIM_INFINITY is the largest of all */
  l.rlim_cur = l.rlim_max = most;
  return setrlimit(what, &l);
}

/* A program and what it is started with. */
typedef struct recipe {
  char *const *argv;
  char **env;
  const char *dir;
  size_t memory;
} recipe;

/* The environment without what secrets are drawn from; NULL: no memory. The strings are the judge's. */
static char **environment_for_children(void) {
  static const char secret[] = "CAWB_SEED=";
  size_t n = 0, kept = 0;
  while (environ[n] != NULL) n++;
  char **env = malloc((n + 1) * sizeof *env);
  if (env == NULL) return NULL;
  for (size_t i = 0; i < n; i++)
    if (strncmp(environ[i], secret, sizeof secret - 1) != 0) env[kept++] = environ[i];
  env[kept] = NULL;
  return env;
}

/* In the new process: never returns. Only async-signal-safe calls. */
static void become(const recipe *r, pid_t judge, int sock, int output, int report) {
  int null = open("/dev/null", O_RDONLY); /* sealed below if it is not 0 to 3 */
  setpgid(0, 0);                          /* Ctrl-C is the judge's to handle */
  prctl(PR_SET_PDEATHSIG, SIGKILL);       /* when the thread that called fork ends */
  if (getppid() != judge) _exit(127);     /* it ended before the line above */
  int failed = dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0 ||
               dup2(sock, 3) < 0 || (r->dir != NULL && chdir(r->dir) != 0) ||
               limit(RLIMIT_CORE, 0) != 0 ||
               (r->memory > 0 && !SANITIZER && limit(RLIMIT_AS, r->memory) != 0);
  if (!failed) {
    seal_descriptors();
    execvpe(r->argv[0], r->argv, r->env);
  }
  int code = errno;
  ssize_t ignored = write(report, &code, sizeof code);
  (void)ignored;
  _exit(127);
}

/* Lift a descriptor above those that `become` overwrites; -1 and errno: no room. */
static int lift(int fd) {
  int high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
  int saved = errno;
  close(fd);
  errno = saved;
  return high;
}

static cawb_status start(cawb_child *c, int theirs, const recipe *r, cawb_err *err) {
  int report[2];                          /* closes on exec, else carries errno */
  if (pipe2(report, O_CLOEXEC) != 0) return cawb_fail_errno(err, CAWB_ERR_IO, "pipe");
  report[1] = lift(report[1]);
  if (report[1] < 0) {
    close(report[0]);
    return cawb_fail_errno(err, CAWB_ERR_IO, "a descriptor for the %s", c->label);
  }
  pid_t judge = getpid();
  pid_t pid = fork();
  if (pid == 0) become(r, judge, theirs, c->output, report[1]);
  close(report[1]);
  int code = 0;
  ssize_t got = 0;
  if (pid > 0) do got = read(report[0], &code, sizeof code); while (got < 0 && errno == EINTR);
  close(report[0]);
  if (pid < 0) return cawb_fail_errno(err, CAWB_ERR_IO, "fork for the %s", c->label);
  c->pid = pid;
  if (got == sizeof code)
    return cawb_fail(err, CAWB_ERR_MISSING, "cannot start the %s '%s': %s", c->label,
                     r->argv[0], strerror(code));
  return CAWB_OK;
}

/* A file in memory of a size that nobody can change; -1 and errno. */
static int open_output(void) {
  int fd = memfd_create("cawb-output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;
  if (ftruncate(fd, CAWB_CHILD_OUTPUT) == 0 &&
      fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
    return lift(fd);
  int saved = errno;
  close(fd);
  errno = saved;
  return -1;
}

cawb_status cawb_child_new(cawb_child **out, const char *label, char *const argv[],
                           const char *dir, size_t memory, cawb_err *err) {
  *out = NULL;
  cawb_child *c = calloc(1, sizeof *c);
  const recipe r = { argv, environment_for_children(), dir, memory };
  if (c == NULL || r.env == NULL) {
    free(c);
    free(r.env);
    return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a process");
  }
  snprintf(c->label, sizeof c->label, "%s", label);
  c->sock = c->output = -1;
  c->most = CAWB_MESSAGE_MAX;
  cawb_status rc;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    rc = cawb_fail_errno(err, CAWB_ERR_IO, "socketpair");
    goto fail;
  }
  c->sock = pair[0];
  int theirs = lift(pair[1]);
  if (theirs >= 0) c->output = open_output();
  if (c->output < 0) rc = cawb_fail_errno(err, CAWB_ERR_IO, "descriptors for the %s", c->label);
  else rc = start(c, theirs, &r, err);
  if (theirs >= 0) close(theirs);
  if (rc != CAWB_OK) goto fail;
  *out = c;
  free(r.env);
  return CAWB_OK;
fail:
  cawb_child_free(c);
  free(r.env);
  return rc;
}

void cawb_child_limit(cawb_child *c, size_t most) { c->most = most; }

void cawb_child_kill(cawb_child *c) {
  if (c->pid == 0) return;
  kill(-c->pid, SIGKILL);
  kill(c->pid, SIGKILL);                  /* it may not have a group yet */
  while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR) continue;
  c->pid = 0;
}

int cawb_child_alive(cawb_child *c) {
  siginfo_t how = { 0 };
  if (c->pid == 0) return 0;
  if (waitid(P_PID, (id_t)c->pid, &how, WEXITED | WNOHANG | WNOWAIT) == 0 && how.si_pid == 0)
    return 1;
  cawb_child_kill(c);                     /* reaps it, and ends what it left behind */
  return 0;
}

int cawb_child_status(const cawb_child *c) {
  return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}

pid_t cawb_child_pid(const cawb_child *c) { return c->pid; }

void cawb_child_free(cawb_child *c) {
  if (c == NULL) return;
  cawb_child_kill(c);
  if (c->sock >= 0) close(c->sock);
  if (c->output >= 0) close(c->output);
  free(c);
}

/* Where it writes next: the offset is shared. */
static off_t printed(const cawb_child *c) {
  off_t at = lseek(c->output, 0, SEEK_CUR);
  return at < 0 ? 0 : at > CAWB_CHILD_OUTPUT ? CAWB_CHILD_OUTPUT : at;
}

void cawb_child_output(const cawb_child *c, char *out, size_t size) {
  static const char cut[] = "\n[it printed more, which is lost]";
  static const off_t LAST = 1 << 14;      /* a write fails as a whole; more than stdio's buffers */
  off_t end = printed(c);
  size_t note = end > CAWB_CHILD_OUTPUT - LAST && size > sizeof cut ? sizeof cut - 1 : 0;
  off_t room = (off_t)(size - 1 - note);
  ssize_t n = pread(c->output, out, (size_t)(end < room ? end : room), end < room ? 0 : end - room);
  if (n < 0) n = 0;
  while (n > 0 && (out[n - 1] == '\n' || out[n - 1] == '\0')) n--;
  memcpy(out + n, cut, note);
  out[(size_t)n + note] = '\0';
  cawb_utf8_clean(out);
}

size_t cawb_child_printed(const cawb_child *c) { return (size_t)printed(c); }

void cawb_child_piece(const cawb_child *c, size_t at, char *out, size_t size) {
  size_t end = cawb_child_printed(c), left = at < end ? end - at : 0;
  ssize_t n = pread(c->output, out, left < size - 1 ? left : size - 1, (off_t)at);
  if (n < 0) n = 0;
  for (ssize_t i = 0; i < n; i++)
    if (out[i] == '\0') out[i] = '?';
  out[n] = '\0';
  cawb_utf8_clean(out);
}

/* Make room before a call: only the end of what was printed so far stays. */
static void forget_output(cawb_child *c) {
  char kept[1 << 16];                     /* more than anyone asks for */
  off_t end = printed(c);
  if (end <= 2 * (off_t)sizeof kept) return;
  ssize_t n = pread(c->output, kept, sizeof kept, end - (off_t)sizeof kept);
  if (n < 0 || pwrite(c->output, kept, (size_t)n, 0) != n) return;
  lseek(c->output, n, SEEK_SET);
  fallocate(c->output, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, n, CAWB_CHILD_OUTPUT - n);
}

/* "killed by signal 11 (Segmentation fault); it last said: ..." */
static cawb_status tell_death(cawb_child *c, cawb_err *err) {
  if (c->gone.code != CAWB_OK) {
    *err = c->gone;
    return c->gone.code;
  }
  char last[400], how[96];
  cawb_child_kill(c);                     /* a closed socket: it is going anyway */
  if (WIFSIGNALED(c->status))
    snprintf(how, sizeof how, "was killed by signal %d (%s)", WTERMSIG(c->status),
             strsignal(WTERMSIG(c->status)));
  else
    snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(c->status));
  cawb_child_output(c, last, sizeof last);
  return cawb_fail(err, CAWB_ERR_DIED, "the %s %s%s%s", c->label, how,
                   *last ? "; it last printed: " : "", last);
}

/* Give a process that closed its socket a moment to leave its own exit status. */
static void reap_soon(cawb_child *c) {
  double deadline = cawb_clock_now() + 1.0;
  while (cawb_child_alive(c) && cawb_clock_left_ms(deadline) > 0) usleep(1000);
}

/* What is left of a call that went wrong. */
static cawb_status give_up(cawb_child *c, cawb_status rc, double timeout, cawb_err *err) {
  if (rc == CAWB_ERR_DIED) {
    reap_soon(c);
    return tell_death(c, err);
  }
  cawb_child_kill(c);                     /* its next reply would answer this call */
  if (rc == CAWB_ERR_TIMEOUT)
    cawb_fail(err, rc, "the %s did not answer within %g s", c->label, timeout);
  if (err != NULL && c->gone.code == CAWB_OK) c->gone = *err;
  return rc;
}

cawb_status cawb_child_send(cawb_child *c, const cJSON *request, const int *fds, size_t nfds,
                            double timeout, cawb_err *err) {
  forget_output(c);
  cawb_status rc = cawb_message_send(c->sock, request, fds, nfds, cawb_clock_now() + timeout, err);
  return rc == CAWB_OK ? rc : give_up(c, rc, timeout, err);
}

cawb_status cawb_child_receive(cawb_child *c, double timeout, double left, cawb_message *reply,
                               cawb_err *err) {
  memset(reply, 0, sizeof *reply);
  cawb_status rc = cawb_message_receive(c->sock, reply, c->most, cawb_clock_now() + left, err);
  return rc == CAWB_OK ? rc : give_up(c, rc, timeout, err);
}

cawb_status cawb_child_call(cawb_child *c, const cJSON *request, const int *fds, size_t nfds,
                            double timeout, cawb_message *reply, cawb_err *err) {
  double deadline = cawb_clock_now() + timeout;
  memset(reply, 0, sizeof *reply);
  cawb_status rc = cawb_child_send(c, request, fds, nfds, timeout, err);
  if (rc != CAWB_OK) return rc;
  return cawb_child_receive(c, timeout, deadline - cawb_clock_now(), reply, err);
}

int cawb_child_ready(const cawb_child *c) {
  struct pollfd p = { .fd = c->sock, .events = POLLIN };
  return poll(&p, 1, 0) != 0;
}

int cawb_child_unasked(const cawb_child *c) {
  char one;
  return recv(c->sock, &one, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

int cawb_child_fd(const cawb_child *c) { return c->sock; }
