/*
** test_store_memory.c - every allocation of cawb_store_open, and of one turn,
** fails once: each time an error, no leak, and the store as it was.
*/
#include "check.h"

#include <sqlite3.h>

#include "store_scratch.h"

static sqlite3_mem_methods real;
static long left = -1, live;     /* -1: never fail */

static void *counted(void *p) {
  live += p != NULL;
  return p;
}

static int refuse(void) { return left >= 0 && left-- == 0; }
static void *take(int size) { return refuse() ? NULL : counted(real.xMalloc(size)); }
static void *retake(void *p, int size) { return refuse() ? NULL : real.xRealloc(p, size); }

static void give(void *p) {
  live -= p != NULL;
  real.xFree(p);
}

static void install(void) {
  CHECK(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real) == SQLITE_OK);
  sqlite3_mem_methods m = real;
  m.xMalloc = take;
  m.xRealloc = retake;
  m.xFree = give;
  CHECK(sqlite3_config(SQLITE_CONFIG_MALLOC, &m) == SQLITE_OK);
}

static cawb_status add_turn(cawb_store *s, int number, cawb_err *err) {
  cawb_status st = cawb_store_begin(s, err);
  if (st == CAWB_OK) st = INSERT(s, "turns", err, TEXT("run", "r"), INTEGER("number", number));
  if (st == CAWB_OK) return cawb_store_commit(s, err);
  cawb_store_rollback(s);
  return st;
}

/* Whether the armed failure happened; disarms it. */
static int disarm(void) {
  int happened = left == -1;
  left = -1;
  return happened;
}

/* Fail every `stride`th allocation in turn until there is none left to fail. SQLite
** does without some (its page cache): then the opening succeeds. */
static void sweep_open(const char *dir, int fresh, int stride) {
  int failed = 1, errors = 0;
  long n = 0;
  for (; failed && n < 100000; n += stride) {
    cawb_store *s = (cawb_store *)dir;
    cawb_err err = {0};
    if (fresh) scratch_remove(dir);
    long before = live;
    left = n;
    cawb_status st = cawb_store_open(&s, dir, &err);
    failed = disarm();
    if (st != CAWB_OK) {
      CHECK(failed && s == NULL && err.code == CAWB_ERR_MEMORY && err.msg[0] != '\0');
      errors++;
    }
    cawb_store_close(s);
    CHECK(live == before);
  }
  printf("opening%s: %d of about %ld allocations failed it\n", fresh ? " a new store" : "", errors,
         n);
  CHECK(!failed && errors > 50);
}

static void sweep_turn(const char *dir) {
  cawb_store *s;
  cawb_err err;
  CHECK(cawb_store_open(&s, dir, &err) == CAWB_OK);
  CHECK(INSERT(s, "runs", &err, TEXT("id", "r"), REAL("started", 1)) == CAWB_OK);
  int failed = 1, number = 0;
  for (long n = 0; failed && n < 100000; n++) {
    left = n;
    cawb_status st = add_turn(s, number, &err);
    failed = disarm();
    CHECK(st == CAWB_OK || (failed && st == CAWB_ERR_MEMORY));
    number += st == CAWB_OK;
    CHECK(integer_of(s, "SELECT count(*) FROM turns") == number);
  }
  CHECK(!failed);
  cawb_store_close(s);
}

int main(void) {
  install();
  char *dir = strdup(scratch_new());
  CHECK(sqlite3_initialize() == SQLITE_OK);
  sweep_open(dir, 1, 23);  /* nine tables: thousands, much alike */
  sweep_open(dir, 0, 1);
  sweep_turn(dir);
  scratch_remove(dir);
  free(dir);
  return check_report();
}
