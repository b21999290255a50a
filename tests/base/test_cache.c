/* test_cache.c - entries on disk: whole, torn, and written by two processes at once. */
#include "base/store/cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static char root[64] = "/tmp/cawb-cache-XXXXXX";
static const char KEY[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

static void put(const char *key, const char *ptx, const char *log) {
  cawb_cache_item items[] = { { "ptx", (void *)ptx, strlen(ptx) }, { "log", (void *)log, strlen(log) } };
  cawb_err err;
  CHECK(cawb_cache_put(root, key, items, 2, &err) == CAWB_OK);
}

/* 1: a hit whose two items agree with each other, 0: a miss, -1: neither. */
static int get(const char *key, const char *expected) {
  cawb_cache_item items[] = { { "ptx", NULL, 0 }, { "log", NULL, 0 } };
  cawb_err err;
  int hit, answer;
  if (cawb_cache_get(root, key, items, 2, &hit, &err) != CAWB_OK) return -1;
  if (!hit) return items[0].data == NULL && items[1].data == NULL ? 0 : -1;
  answer = items[0].size == strlen(items[0].data) && strcmp(items[0].data, expected) == 0 ? 1 : -1;
  free(items[0].data);
  free(items[1].data);
  return answer;
}

static void shorten(const char *name, long size) {
  char path[4096];
  cawb_err err;
  CHECK(cawb_cache_path(path, root, KEY, name, &err) == CAWB_OK);
  CHECK(size >= 0 ? truncate(path, size) == 0 : unlink(path) == 0);
}

static void torn(void) {
  CHECK(get(KEY, "code") == 0);
  put(KEY, "code", "said");
  CHECK(get(KEY, "code") == 1);
  shorten("ptx", 2);
  CHECK(get(KEY, "code") == 0);
  put(KEY, "code", "said");           /* a miss is mended by writing again */
  CHECK(get(KEY, "code") == 1);
  shorten("log", -1);
  CHECK(get(KEY, "code") == 0);
  put(KEY, "code", "said");
  shorten("entry", 70);
  CHECK(get(KEY, "code") == 0);
  put(KEY, "", "");
  CHECK(get(KEY, "") == 1);
}

/* Right size, wrong content: what a power failure can leave. */
static void zeroed(void) {
  put(KEY, "code", "said");
  shorten("ptx", 0);
  shorten("ptx", 4);
  CHECK(get(KEY, "code") == 0);
}

static void misuse(void) {
  cawb_cache_item item = { "ptx", NULL, 0 };
  char key[] = "0011", path[4096];
  cawb_err err;
  int hit;
  CHECK(cawb_cache_path(path, root, key, "ptx", &err) == CAWB_ERR_INVALID);
  CHECK(cawb_cache_get(root, "../../../etc/passwd", &item, 1, &hit, &err) == CAWB_ERR_INVALID);
  CHECK(cawb_cache_put("/proc/nowhere", KEY, &item, 1, &err) == CAWB_ERR_IO);
  CHECK(strstr(err.msg, "/proc/nowhere") != NULL);
}

/* Two processes write one key 100 times while this one reads: the entry appears
** whole and never goes away again. */
static void race(void) {
  static const char key[] = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";
  static char text[20000];
  pid_t pid[2];
  int hits = 0, wrong = 0, gone = 0, left = 2;
  memset(text, 'x', sizeof text - 1);
  for (int i = 0; i < 2; i++) {
    pid[i] = fork();
    if (pid[i] != 0) continue;
    check_failed = 0;
    for (int k = 0; k < 100; k++) put(key, text, "same");
    _exit(check_failed != 0);
  }
  while (left > 0) {
    int status, answer = get(key, text);
    hits += answer == 1;
    wrong += answer == -1;
    gone += answer == 0 && hits > 0;
    for (int i = 0; i < 2; i++)
      if (pid[i] > 0 && waitpid(pid[i], &status, WNOHANG) == pid[i]) {
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        pid[i] = 0;
        left--;
      }
  }
  CHECK(wrong == 0 && gone == 0 && hits > 0);
  CHECK(get(key, text) == 1);
}

/* Nothing of the writing aside is left behind. */
static void tidy(void) {
  char command[256];
  snprintf(command, sizeof command,
           "test $(find %s -type f | grep -vE '/(ptx|log|entry)$' | wc -l) = 0 && rm -rf %s", root, root);
  CHECK(system(command) == 0);
}

int main(void) {
  if (mkdtemp(root) == NULL) return 1;
  torn();
  zeroed();
  misuse();
  race();
  tidy();
  return check_report();
}
