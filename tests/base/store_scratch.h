/* store_scratch.h - a folder of its own for a store test, and short cuts for rows. */
#ifndef CAWB_TESTS_STORE_SCRATCH_H
#define CAWB_TESTS_STORE_SCRATCH_H

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/store/store.h"

#define TEXT(n, t) { .name = n, .type = CAWB_VALUE_TEXT, .data = t, .size = strlen(t) }
#define INTEGER(n, i) { .name = n, .type = CAWB_VALUE_INTEGER, .integer = i }
#define REAL(n, r) { .name = n, .type = CAWB_VALUE_REAL, .real = r }
#define BLOB(n, p, s) { .name = n, .type = CAWB_VALUE_BLOB, .data = p, .size = s }
#define INSERT(s, table, err, ...) \
  cawb_store_insert(s, table, (const cawb_value[]){ __VA_ARGS__ }, \
    sizeof (cawb_value[]){ __VA_ARGS__ } / sizeof(cawb_value), err)

static inline char *scratch_new(void) {
  const char *base = getenv("TMPDIR");
  static char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/cawb-store-XXXXXX", base != NULL ? base : "/tmp");
  return mkdtemp(path);
}

static inline int scratch_entry(const char *path, const struct stat *st, int type, struct FTW *w) {
  (void)st, (void)type, (void)w;
  return remove(path);
}

static inline void scratch_remove(const char *path) {
  nftw(path, scratch_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline int keep_integer(void *context, const cawb_value *row, size_t n) {
  (void)n;
  *(int64_t *)context = row[0].integer;
  return 1;
}

/* The first integer of a query; -1 when there is none. */
static inline int64_t integer_of(cawb_store *s, const char *sql) {
  int64_t value = -1;
  cawb_err err = {0};
  if (cawb_store_query(s, sql, NULL, 0, keep_integer, &value, &err) != CAWB_OK)
    fprintf(stderr, "%s\n", err.msg);
  return value;
}

#endif
