/*
** test_store_kill.c - a writer killed in the middle of its turns loses at most
** the turn in progress, and several writers of one store all get through.
*/
#include "check.h"

#include <signal.h>
#include <sys/wait.h>

#include "store_scratch.h"

#define ROUNDS 6
#define WRITERS 4
#define TURNS 40

static char *dir;

/* What a writer says through its pipe while it goes on: each step of each turn. */
enum { WROTE_ARTIFACT, ADDED_CANDIDATE, ADDED_TURN, ADDED_SAMPLES, COMMITTED, STEPS };
typedef struct { int number, step; } progress;

static void say(int fd, int number, int step) {
  progress p = { number, step };
  if (fd >= 0 && write(fd, &p, sizeof p) != sizeof p) _exit(1);
}

static cawb_status add_rows(cawb_store *s, const char *run, int number, const char *hex, int fd,
                            cawb_err *err) {
  char files[128];
  double samples[64] = { number };
  snprintf(files, sizeof files, "{\"kernel.cu\":\"%s\"}", hex);
  cawb_status st = INSERT(s, "candidates", err, TEXT("hash", hex), TEXT("files", files));
  say(fd, number, ADDED_CANDIDATE);
  if (st == CAWB_OK) st = INSERT(s, "turns", err, TEXT("run", run), INTEGER("number", number),
                                 TEXT("candidate", hex), INTEGER("ok", 1));
  say(fd, number, ADDED_TURN);
  if (st == CAWB_OK) st = INSERT(s, "samples", err, TEXT("run", run), INTEGER("turn", number),
                                 TEXT("subject", "candidate"), TEXT("unit", "s"),
                                 BLOB("data", samples, sizeof samples));
  say(fd, number, ADDED_SAMPLES);
  return st;
}

/* One turn as a run writes it: artifact first, then its rows at once. */
static cawb_status write_turn(cawb_store *s, const char *run, int number, int fd, cawb_err *err) {
  char source[4096], hex[65];
  int n = snprintf(source, sizeof source, "// %s, turn %d\n%*s", run, number, 3000, "");
  cawb_status st = cawb_store_artifact(s, source, (size_t)n, hex, err);
  say(fd, number, WROTE_ARTIFACT);
  if (st == CAWB_OK) st = cawb_store_begin(s, err);
  if (st != CAWB_OK) return st;
  CHECK(integer_of(s, "SELECT count(*) FROM turns") >= 0);  /* reading first must not lose the lock */
  st = add_rows(s, run, number, hex, fd, err);
  if (st == CAWB_OK) st = cawb_store_commit(s, err);
  else cawb_store_rollback(s);
  if (st == CAWB_OK) say(fd, number, COMMITTED);
  return st;
}

static cawb_store *open_run(const char *run) {
  cawb_store *s = NULL;
  cawb_err err;
  if (cawb_store_open(&s, dir, &err) == CAWB_OK
      && INSERT(s, "runs", &err, TEXT("id", run), REAL("started", 1)) == CAWB_OK) return s;
  fprintf(stderr, "%s\n", err.msg);
  _exit(1);
}

static void write_for_ever(const char *run, int fd) {
  cawb_store *s = open_run(run);
  cawb_err err;
  for (int number = 1; write_turn(s, run, number, fd, &err) == CAWB_OK; number++) continue;
  fprintf(stderr, "%s\n", err.msg);
  _exit(1);
}

/* Kill the writer once it has said `until`; the last turn that it saw committed. */
static int kill_at(const char *run, progress until) {
  int fds[2], committed = 0, killed = 0;
  progress p;
  if (pipe(fds) != 0) return -1;
  pid_t pid = fork();
  if (pid == 0) {
    close(fds[0]);
    write_for_ever(run, fds[1]);
  }
  close(fds[1]);
  while (read(fds[0], &p, sizeof p) == sizeof p) {
    if (!killed && p.number == until.number && p.step == until.step)
      killed = kill(pid, SIGKILL) == 0;
    if (p.step == COMMITTED) committed = p.number;
  }
  close(fds[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK(killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  return committed;
}

static int64_t count(cawb_store *s, const char *sql, const char *run) {
  int64_t value = -1;
  cawb_err err;
  cawb_value id = TEXT("", run);
  CHECK(cawb_store_query(s, sql, &id, 1, keep_integer, &value, &err) == CAWB_OK);
  return value;
}

static int check_artifact(void *context, const cawb_value *row, size_t n) {
  char hex[65];
  void *data;
  size_t size;
  cawb_err err;
  (void)n;
  snprintf(hex, sizeof hex, "%.*s", (int)row[0].size, (const char *)row[0].data);
  CHECK(cawb_store_read(context, hex, &data, &size, &err) == CAWB_OK && size > 3000);
  free(data);
  return 0;
}

static void check_whole(cawb_store *s) {
  cawb_err err;
  CHECK(integer_of(s, "SELECT integrity_check = 'ok' FROM pragma_integrity_check") == 1);
  CHECK(integer_of(s, "SELECT count(*) FROM pragma_foreign_key_check") == 0);
  CHECK(cawb_store_query(s, "SELECT f.value FROM candidates, json_each(files) f", NULL, 0,
                         check_artifact, s, &err) == CAWB_OK);
}

static void check_after_kill(const char *run, int committed) {
  cawb_store *s;
  cawb_err err;
  CHECK(cawb_store_open(&s, dir, &err) == CAWB_OK);
  int64_t turns = count(s, "SELECT count(*) FROM turns WHERE run = ?1", run);
  CHECK(turns == committed || turns == committed + 1);
  CHECK(count(s, "SELECT coalesce(max(number), 0) FROM turns WHERE run = ?1", run) == turns);
  CHECK(count(s, "SELECT count(*) FROM samples WHERE run = ?1", run) == turns);
  check_whole(s);
  CHECK(write_turn(s, run, (int)turns + 1, -1, &err) == CAWB_OK);  /* and life goes on */
  cawb_store_close(s);
}

/* At every step of the first turn and of a later one, several times: the kill
** lands wherever the writer has got to by then. */
static void test_killed_writer(void) {
  char run[32];
  for (int i = 0; i < ROUNDS * STEPS; i++) {
    snprintf(run, sizeof run, "run-%d", i);
    progress until = { i % 2 == 0 ? 1 : 4, i % STEPS };
    int committed = kill_at(run, until);
    CHECK(committed >= until.number - (until.step < COMMITTED));
    check_after_kill(run, committed);
  }
}

/* All writers leave the gate at once, opening the store for the first time. */
static void write_some(int writer, const int gate[2]) {
  char run[32], byte;
  cawb_err err;
  close(gate[1]);
  if (read(gate[0], &byte, 1) != 0) _exit(1);
  snprintf(run, sizeof run, "writer-%d", writer);
  cawb_store *s = open_run(run);
  for (int number = 1; number <= TURNS; number++)
    if (write_turn(s, run, number, -1, &err) != CAWB_OK) {
      fprintf(stderr, "%s\n", err.msg);
      _exit(1);
    }
  cawb_store_close(s);
  _exit(0);
}

static void test_concurrent_writers(void) {
  int gate[2], status;
  pid_t pids[WRITERS];
  CHECK(pipe(gate) == 0);
  for (int i = 0; i < WRITERS; i++)
    if ((pids[i] = fork()) == 0) write_some(i, gate);
  close(gate[0]);
  close(gate[1]);
  for (int i = 0; i < WRITERS; i++)
    CHECK(waitpid(pids[i], &status, 0) == pids[i] && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  cawb_store *s;
  cawb_err err;
  CHECK(cawb_store_open(&s, dir, &err) == CAWB_OK);
  CHECK(integer_of(s, "SELECT count(*) FROM turns") == WRITERS * TURNS);
  check_whole(s);
  cawb_store_close(s);
}

static void in_new_folder(void (*test)(void)) {
  dir = strdup(scratch_new());
  test();
  scratch_remove(dir);
  free(dir);
}

int main(void) {
  in_new_folder(test_killed_writer);
  in_new_folder(test_concurrent_writers);
  return check_report();
}
