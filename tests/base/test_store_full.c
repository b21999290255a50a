/*
** test_store_full.c - a disk that takes no more and a folder that may not be
** written: a message with the file and the reason, and nothing half done.
*/
#include "check.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store_scratch.h"

static char *dir;

static int says(const cawb_err *err, const char *text) {
  if (strstr(err->msg, text) != NULL) return 1;
  fprintf(stderr, "message: %s\n", err->msg);
  return 0;
}

/* A file-size limit stands in for the full disk: writes past it fail. */
static void limit_files(rlim_t size) {
  struct rlimit limit = { size, RLIM_INFINITY };
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void test_full_disk(void) {
  static char big[1 << 20];
  cawb_store *s;
  cawb_err err;
  char hex[65];
  CHECK(cawb_store_open(&s, dir, &err) == CAWB_OK);
  CHECK(cawb_store_begin(s, &err) == CAWB_OK);
  CHECK(INSERT(s, "runs", &err, TEXT("id", "kept"), REAL("started", 1)) == CAWB_OK);
  CHECK(cawb_store_commit(s, &err) == CAWB_OK);
  limit_files(256 << 10);
  CHECK(cawb_store_artifact(s, big, sizeof big, hex, &err) == CAWB_ERR_IO);
  CHECK(says(&err, dir) && says(&err, "File too large"));
  CHECK(cawb_store_begin(s, &err) == CAWB_OK);
  memset(big, ' ', sizeof big);
  CHECK(INSERT(s, "runs", &err, TEXT("id", "lost"), REAL("started", 2),
               { .name = "strategy", .type = CAWB_VALUE_TEXT, .data = big, .size = sizeof big })
        == CAWB_OK);
  CHECK(cawb_store_commit(s, &err) == CAWB_ERR_IO);
  CHECK(says(&err, "store.sqlite: cannot commit: disk I/O error (is the disk full"));
  limit_files(RLIM_INFINITY);
  CHECK(integer_of(s, "SELECT count(*) FROM runs") == 1);
  CHECK(INSERT(s, "runs", &err, TEXT("id", "later"), REAL("started", 3)) == CAWB_OK);
  cawb_store_close(s);
}

static int count_left_over(const char *path, const struct stat *st, int type, struct FTW *w) {
  (void)st, (void)type;
  CHECK(strncmp(path + w->base, ".new-", 5) != 0);
  return 0;
}

static int become_nobody(void) {
  return geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
}

/* In a child, because root may write everywhere. */
static void test_forbidden_folder(void) {
  CHECK(chmod(dir, 0555) == 0);
  pid_t pid = fork();
  if (pid == 0) {
    cawb_store *s;
    cawb_err err;
    char inside[PATH_MAX];
    snprintf(inside, sizeof inside, "%s/inside", dir);
    check_failed = 0;
    CHECK(become_nobody());
    CHECK(cawb_store_open(&s, inside, &err) == CAWB_ERR_IO && s == NULL);
    CHECK(says(&err, inside) && says(&err, "Permission denied"));
    CHECK(cawb_store_open(&s, dir, &err) == CAWB_ERR_IO && s == NULL);
    CHECK(says(&err, dir) && says(&err, "choose a folder that you can write to"));
    _exit(check_failed != 0);
  }
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(chmod(dir, 0755) == 0);
}

int main(void) {
  signal(SIGXFSZ, SIG_IGN);
  dir = strdup(scratch_new());
  test_full_disk();
  nftw(dir, count_left_over, 16, FTW_PHYS);
  test_forbidden_folder();
  scratch_remove(dir);
  free(dir);
  return check_report();
}
