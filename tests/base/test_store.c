/* test_store.c - rows go in and come back, and nothing else is allowed. */
#include "check.h"

#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "store_scratch.h"

static char *dir;

static int says(const cawb_err *err, const char *text) {
  if (strstr(err->msg, text) != NULL) return 1;
  fprintf(stderr, "message: %s\n", err->msg);
  return 0;
}

static void add_run(cawb_store *s, const char *id) {
  cawb_err err;
  CHECK(INSERT(s, "runs", &err, TEXT("id", id), REAL("started", 1.5)) == CAWB_OK);
}

/* A connection of no cawb: what somebody with the sqlite3 shell can do. */
static sqlite3 *stranger(const char *folder) {
  char path[PATH_MAX];
  sqlite3 *db = NULL;
  snprintf(path, sizeof path, "%s/store.sqlite", folder);
  CHECK(sqlite3_open(path, &db) == SQLITE_OK);
  return db;
}

static void test_rows_come_back(cawb_store *s) {
  cawb_err err;
  double samples[3] = { 1e-6, 2e-6, 3e-6 };
  CHECK(cawb_store_begin(s, &err) == CAWB_OK);
  CHECK(INSERT(s, "samples", &err, TEXT("run", "r"), INTEGER("turn", 1), TEXT("subject", "eager"),
               TEXT("unit", "s"), BLOB("data", samples, sizeof samples)) == CAWB_OK);
  CHECK(INSERT(s, "turns", &err, TEXT("run", "r"), INTEGER("number", 1), REAL("reward", NAN),
               INTEGER("ok", 1), TEXT("result", "{\"a\":[1]}")) == CAWB_OK);
  add_run(s, "r");  /* last: references are checked at commit */
  CHECK(cawb_store_commit(s, &err) == CAWB_OK);
  CHECK(integer_of(s, "SELECT length(data) FROM samples WHERE run = 'r'") == 24);
  CHECK(integer_of(s, "SELECT reward IS NULL FROM turns WHERE run = 'r'") == 1);
  CHECK(integer_of(s, "SELECT result ->> '$.a[0]' FROM turns") == 1);
}

static int count_row(void *context, const cawb_value *row, size_t n) {
  CHECK(n == 2 && strcmp(row[0].name, "id") == 0 && row[0].type == CAWB_VALUE_TEXT);
  CHECK(row[0].size == 1 && memcmp(row[0].data, "r", 1) == 0 && row[1].real == 1.5);
  ++*(int *)context;
  return 0;
}

static void test_queries_only_read(cawb_store *s) {
  static const char *const refused[] = {
    "DELETE FROM turns", "INSERT INTO runs(id, started) VALUES ('x', 1)", "DROP TABLE turns",
    "PRAGMA foreign_keys = OFF", "PRAGMA user_version", "ATTACH ':memory:' AS a", "BEGIN",
    "ROLLBACK", "SELECT 1; SELECT 2", "", "SELEC 1", "SELECT nothing FROM runs",
    "SELECT ?1", "UPDATE runs SET id = 'y' RETURNING id",
    "UPDATE sqlite_master SET sql = ''"
  };
  cawb_err err;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    int ok = cawb_store_query(s, refused[i], NULL, 0, keep_integer, &(int64_t){0}, &err)
      == CAWB_ERR_INVALID;
    if (!ok) fprintf(stderr, "accepted: %s\n", refused[i]);
    CHECK(ok);
  }
  int rows = 0;
  cawb_value id = TEXT("", "r");
  CHECK(cawb_store_query(s, "SELECT id, started FROM runs WHERE id = ?1;\n", &id, 1, count_row,
                         &rows, &err) == CAWB_OK);
  CHECK(rows == 1);
  CHECK(integer_of(s, "SELECT sum(value) FROM json_each('[1, 2]')") == 3);
}

static void test_misuse_is_named(cawb_store *s) {
  cawb_err err;
  CHECK(INSERT(s, "run", &err, TEXT("id", "x")) == CAWB_ERR_INVALID);
  CHECK(says(&err, "no table 'run'") && says(&err, "runs, candidates"));
  CHECK(INSERT(s, "runs; DROP TABLE runs", &err, TEXT("id", "x")) == CAWB_ERR_INVALID);
  CHECK(INSERT(s, "runs", &err, TEXT("idd", "x")) == CAWB_ERR_INVALID);
  CHECK(says(&err, "no column 'idd'") && says(&err, "id, started, strategy"));
  CHECK(INSERT(s, "runs", &err, TEXT("id) --", "x")) == CAWB_ERR_INVALID);
  CHECK(cawb_store_insert(s, "runs", NULL, 0, &err) == CAWB_ERR_INVALID);
  CHECK(INSERT(s, "runs", &err, TEXT("id", "x"), TEXT("started", "noon")) == CAWB_ERR_INVALID);
  CHECK(says(&err, "cannot store TEXT value in REAL column runs.started"));
  CHECK(INSERT(s, "runs", &err, TEXT("id", "x"), REAL("started", 1), TEXT("options", "{")) == CAWB_ERR_INVALID);
  CHECK(says(&err, "json_valid"));
  CHECK(INSERT(s, "turns", &err, TEXT("run", "nobody"), INTEGER("number", 1)) == CAWB_ERR_INVALID);
  CHECK(says(&err, "turns") && says(&err, "FOREIGN KEY"));
  CHECK(integer_of(s, "SELECT count(*) FROM runs") == 1);
}

static void test_transactions(cawb_store *s) {
  cawb_err err;
  CHECK(cawb_store_begin(s, &err) == CAWB_OK);
  CHECK(cawb_store_begin(s, &err) == CAWB_ERR_INVALID);
  add_run(s, "gone");
  cawb_store_rollback(s);
  cawb_store_rollback(s);
  CHECK(cawb_store_commit(s, &err) == CAWB_ERR_INVALID);
  CHECK(cawb_store_begin(s, &err) == CAWB_OK);
  CHECK(INSERT(s, "verdicts", &err, TEXT("run", "r"), INTEGER("turn", 77), TEXT("rule", "nan"),
               INTEGER("pass", 0)) == CAWB_OK);
  CHECK(cawb_store_commit(s, &err) == CAWB_ERR_INVALID);
  CHECK(says(&err, "a row of verdicts names a row of turns"));
  CHECK(integer_of(s, "SELECT count(*) FROM verdicts") == 0);
  CHECK(integer_of(s, "SELECT count(*) FROM runs WHERE id = 'gone'") == 0);
}

static void test_hashed_rows_may_repeat(cawb_store *s) {
  cawb_err err;
  for (int i = 0; i < 2; i++) {
    CHECK(INSERT(s, "environments", &err, TEXT("hash", "e"), TEXT("json", "{}")) == CAWB_OK);
    CHECK(INSERT(s, "candidates", &err, TEXT("hash", "c"), TEXT("files", "{}")) == CAWB_OK);
  }
  CHECK(integer_of(s, "SELECT count(*) FROM candidates") == 1);
  CHECK(INSERT(s, "runs", &err, TEXT("id", "r"), REAL("started", 2)) == CAWB_ERR_INVALID);
  CHECK(says(&err, "append-only: a row with this key is there already"));
}

static void fill_every_table(cawb_store *s) {
  cawb_err err;
  CHECK(INSERT(s, "evaluations", &err, TEXT("run", "r"), INTEGER("turn", 1), INTEGER("number", 1)) == CAWB_OK);
  CHECK(INSERT(s, "verdicts", &err, TEXT("run", "r"), INTEGER("turn", 1), INTEGER("evaluation", 1),
               TEXT("rule", "nan"), INTEGER("pass", 1)) == CAWB_OK);
  CHECK(INSERT(s, "baselines", &err, TEXT("run", "r"), TEXT("subject", "eager")) == CAWB_OK);
  CHECK(INSERT(s, "events", &err, TEXT("run", "r"), INTEGER("number", 1), REAL("at", 2), TEXT("kind", "message"),
               TEXT("data", "{}")) == CAWB_OK);
  CHECK(INSERT(s, "run_ends", &err, TEXT("run", "r"), REAL("ended", 2), TEXT("status", "passed"),
               INTEGER("best_turn", 1)) == CAWB_OK);
  CHECK(INSERT(s, "suites", &err, TEXT("id", "s"), TEXT("json", "{}")) == CAWB_OK);
  CHECK(INSERT(s, "suite_sessions", &err, TEXT("suite", "s"), REAL("started", 1), TEXT("json", "{}")) == CAWB_OK);
  CHECK(INSERT(s, "suite_tasks", &err, TEXT("suite", "s"), TEXT("task", "t"), INTEGER("attempt", 1),
               TEXT("name", "t"), TEXT("code", "h"), TEXT("status", "pass"), REAL("started", 1),
               REAL("ended", 2)) == CAWB_OK);
  CHECK(INSERT(s, "synth_sets", &err, TEXT("id", "d"), TEXT("json", "{}")) == CAWB_OK);
  CHECK(INSERT(s, "synth_draws", &err, TEXT("synth", "d"), INTEGER("number", 1), TEXT("status", "kept")) == CAWB_OK);
  CHECK(INSERT(s, "synth_times", &err, TEXT("synth", "d"), INTEGER("number", 1), TEXT("device", "gpu"),
               REAL("started", 1), TEXT("json", "{}")) == CAWB_OK);
  CHECK(INSERT(s, "synth_texts", &err, TEXT("synth", "d"), INTEGER("number", 1), TEXT("json", "{}")) == CAWB_OK);
}

static void check_refused(sqlite3 *db, const char *format, const char *table) {
  char *sql = sqlite3_mprintf(format, table, table), *message = NULL;
  int rc = sqlite3_exec(db, sql, NULL, NULL, &message);
  int ok = rc == SQLITE_CONSTRAINT && message != NULL && strstr(message, "append-only") != NULL;
  if (!ok) fprintf(stderr, "%s: %s\n", sql, message != NULL ? message : "allowed");
  CHECK(ok);
  sqlite3_free(message);
  sqlite3_free(sql);
}

static int check_table(void *db, int n, char **row, char **names) {
  char *columns = NULL;
  (void)n, (void)names;
  check_refused(db, "DELETE FROM %s", row[0]);
  columns = sqlite3_mprintf("UPDATE %s SET %s = NULL", row[0], row[1]);
  check_refused(db, "%s", columns);
  sqlite3_free(columns);
  return 0;
}

/* Every table, through a connection that is not the store's own. */
static void test_append_only(cawb_store *s) {
  fill_every_table(s);
  sqlite3 *db = stranger(dir);
  CHECK(sqlite3_exec(db, "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c"
                     " WHERE m.type = 'table'", check_table, db, NULL) == SQLITE_OK);
  check_refused(db, "REPLACE INTO runs(id, started) VALUES ('r', 9)", "");
  check_refused(db, "REPLACE INTO turns(run, number) VALUES ('r', 1)", "");
  CHECK(sqlite3_exec(db, "REPLACE INTO candidates(hash, files) VALUES ('c', '[]')", NULL, NULL,
                     NULL) == SQLITE_OK);
  sqlite3_close(db);
  CHECK(integer_of(s, "SELECT count(*) FROM sqlite_schema WHERE type = 'table'") == 17);
  CHECK(integer_of(s, "SELECT files = '{}' FROM candidates") == 1);
  CHECK(integer_of(s, "SELECT started = 1.5 FROM runs") == 1);
}

static void test_artifacts(cawb_store *s) {
  char hex[65], again[65], path[PATH_MAX];
  void *data;
  size_t size;
  cawb_err err;
  CHECK(cawb_store_artifact(s, "a\0b", 3, hex, &err) == CAWB_OK);
  CHECK(cawb_store_artifact(s, "a\0b", 3, again, &err) == CAWB_OK && strcmp(hex, again) == 0);
  CHECK(cawb_store_read(s, hex, &data, &size, &err) == CAWB_OK);
  CHECK(size == 3 && memcmp(data, "a\0b", 4) == 0);
  free(data);
  CHECK(cawb_store_artifact_path(s, hex, path, sizeof path, &err) == CAWB_OK);
  CHECK(chmod(path, 0644) == 0 && truncate(path, 1) == 0);
  CHECK(cawb_store_read(s, hex, &data, &size, &err) == CAWB_ERR_IO && data == NULL);
  CHECK(says(&err, path) && says(&err, "damaged"));
  CHECK(cawb_store_artifact(s, "a\0b", 3, hex, &err) == CAWB_OK);  /* mends it */
  CHECK(cawb_store_read(s, hex, &data, &size, &err) == CAWB_OK && size == 3);
  free(data);
  CHECK(cawb_store_artifact(s, "", 0, hex, &err) == CAWB_OK);
  CHECK(cawb_store_read(s, hex, &data, &size, &err) == CAWB_OK && size == 0);
  free(data);
  memset(hex, '0', 64);
  CHECK(cawb_store_read(s, hex, &data, &size, &err) == CAWB_ERR_MISSING);
  CHECK(cawb_store_read(s, "../../etc/passwd", &data, &size, &err) == CAWB_ERR_INVALID);
}

static void check_open(const char *folder, cawb_status want, const char *text) {
  cawb_store *s = (cawb_store *)dir;
  cawb_err err = {0};
  CHECK(cawb_store_open(&s, folder, &err) == want);
  CHECK(s == NULL && says(&err, text));
}

static void test_other_files_are_refused(void) {
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s/other/deep", dir);
  cawb_store *s;
  cawb_err err;
  CHECK(cawb_store_open(&s, folder, &err) == CAWB_OK);
  CHECK(strcmp(cawb_store_path(s), folder) == 0);
  cawb_store_close(s);
  sqlite3 *db = stranger(folder);
  CHECK(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL) == SQLITE_OK);
  check_open(folder, CAWB_ERR_INVALID, "schema 99, which a newer cawb wrote");
  CHECK(sqlite3_exec(db, "PRAGMA user_version = 0", NULL, NULL, NULL) == SQLITE_OK);
  check_open(folder, CAWB_ERR_INVALID, "schema 0, which an older cawb wrote");
  CHECK(sqlite3_exec(db, "PRAGMA application_id = 7", NULL, NULL, NULL) == SQLITE_OK);
  check_open(folder, CAWB_ERR_INVALID, "another program");
  sqlite3_close(db);
  char path[PATH_MAX + 16];
  snprintf(path, sizeof path, "%s/store.sqlite", folder);
  FILE *f = fopen(path, "w");
  for (int i = 0; i < 4096; i++) fputs("no database ", f);
  fclose(f);
  check_open(folder, CAWB_ERR_IO, "file is not a database");
  check_open(path, CAWB_ERR_IO, "Not a directory");
  check_open("/proc/cawb", CAWB_ERR_IO, "cannot make the folder /proc/cawb");
  check_open("", CAWB_ERR_INVALID, "name of a folder");
}

static void test_reopening_keeps_rows(void) {
  cawb_store *s;
  cawb_err err;
  CHECK(cawb_store_open(&s, dir, &err) == CAWB_OK);
  CHECK(integer_of(s, "SELECT count(*) FROM samples") == 1);
  CHECK(integer_of(s, "SELECT integrity_check = 'ok' FROM pragma_integrity_check") == 1);
  cawb_store_close(s);
}

int main(void) {
  cawb_store *s = NULL;
  cawb_err err;
  dir = strdup(scratch_new());
  CHECK(cawb_store_open(&s, dir, &err) == CAWB_OK);
  test_rows_come_back(s);
  test_queries_only_read(s);
  test_misuse_is_named(s);
  test_transactions(s);
  test_hashed_rows_may_repeat(s);
  test_append_only(s);
  test_artifacts(s);
  cawb_store_close(s);
  cawb_store_close(NULL);
  test_other_files_are_refused();
  test_reopening_keeps_rows();
  scratch_remove(dir);
  free(dir);
  return check_report();
}
