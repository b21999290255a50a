/*
** store.c - see store.h. The only file that knows SQLite. Write-ahead log with
** synchronous=NORMAL: a commit survives the death of the process at once, and
** the loss of power from the next checkpoint on.
*/
#include "base/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/store/artifact.h"
#include "base/store/store_schema.h"

#define APPLICATION_ID 0x63617762  /* "cawb": tells this file from other SQLite files */
#define BUSY_MS 30000  /* far above any commit: a writer that waits this long has met a stopped one */

struct cawb_store {
  sqlite3 *db;
  char *dir, *file, *artifacts;  /* owned, from SQLite's allocator */
};

/* Errors. */

static cawb_status status_of(int rc) {
  switch (rc & 0xff) {
    case SQLITE_OK: case SQLITE_ROW: case SQLITE_DONE: return CAWB_OK;
    case SQLITE_NOMEM: return CAWB_ERR_MEMORY;
    case SQLITE_BUSY: case SQLITE_LOCKED: return CAWB_ERR_TIMEOUT;
    case SQLITE_ERROR: case SQLITE_CONSTRAINT: case SQLITE_MISMATCH: case SQLITE_AUTH:
    case SQLITE_RANGE: case SQLITE_TOOBIG: case SQLITE_MISUSE: return CAWB_ERR_INVALID;
    default: return CAWB_ERR_IO;
  }
}

static const char *advice(int rc) {
  switch (rc & 0xff) {
    case SQLITE_BUSY: return " (another process holds the store; is one of them stopped?)";
    case SQLITE_FULL: return " (make room on the disk, then run again)";
    case SQLITE_IOERR: return " (is the disk full, over quota or failing?)";
    case SQLITE_READONLY: case SQLITE_CANTOPEN: case SQLITE_PERM:
      return " (choose a folder that you can write to)";
    case SQLITE_CORRUPT: case SQLITE_NOTADB:
      return " (restore it from a copy, or choose another folder)";
    default: return "";
  }
}

/* The file, what SQLite says, what to do. */
static cawb_status fail_sqlite(const cawb_store *s, const char *doing, cawb_err *err) {
  int rc = s->db == NULL ? SQLITE_NOMEM : sqlite3_extended_errcode(s->db);
  const char *text = s->db == NULL ? "out of memory" : sqlite3_errmsg(s->db);
  cawb_status st = status_of(rc);
  return cawb_fail(err, st == CAWB_OK ? CAWB_ERR_IO : st, "%s: cannot %s: %s%s", s->file, doing,
                   text, advice(rc));
}

static cawb_status no_memory(cawb_err *err) {
  cawb_fail(err, CAWB_ERR_MEMORY, "out of memory in the store");
  return CAWB_ERR_MEMORY;
}

/* Small steps on a connection. */

static cawb_status execute(cawb_store *s, const char *doing, const char *sql, cawb_err *err) {
  if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK) return CAWB_OK;
  return fail_sqlite(s, doing, err);
}

static cawb_status execute_format(cawb_store *s, cawb_err *err, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  char *sql = sqlite3_vmprintf(format, ap);
  va_end(ap);
  if (sql == NULL) return no_memory(err);
  cawb_status st = execute(s, "make the tables", sql, err);
  sqlite3_free(sql);
  return st;
}

static cawb_status read_integer(cawb_store *s, const char *sql, int *out, cawb_err *err) {
  sqlite3_stmt *stmt = NULL;
  int rc = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_step(stmt);
  if (rc == SQLITE_ROW) *out = sqlite3_column_int(stmt, 0);
  cawb_status st = rc == SQLITE_ROW ? CAWB_OK : fail_sqlite(s, "read it", err);
  sqlite3_finalize(stmt);
  return st;
}

/* The schema. */

/* A BEFORE INSERT trigger too: REPLACE would otherwise delete a row silently. */
static cawb_status make_triggers(cawb_store *s, const cawb_store_table *t, cawb_err *err) {
  cawb_status st = execute_format(s, err,
    "CREATE TRIGGER %s_no_update BEFORE UPDATE ON %s BEGIN"
    " SELECT RAISE(ABORT, 'append-only: a row of %s is never changed'); END;"
    "CREATE TRIGGER %s_no_delete BEFORE DELETE ON %s BEGIN"
    " SELECT RAISE(ABORT, 'append-only: a row of %s is never deleted'); END;",
    t->name, t->name, t->name, t->name, t->name, t->name);
  if (st != CAWB_OK || t->key == NULL) return st;
  return execute_format(s, err,
    "CREATE TRIGGER %s_no_replace BEFORE INSERT ON %s"
    " WHEN EXISTS (SELECT 1 FROM %s WHERE %s) BEGIN SELECT %s; END;",
    t->name, t->name, t->name, t->key, t->content ? "RAISE(IGNORE)"
      : "RAISE(ABORT, 'append-only: a row with this key is there already')");
}

static cawb_status make_table(cawb_store *s, const cawb_store_table *t, cawb_err *err) {
  cawb_status st = execute_format(s, err, "CREATE TABLE %s(%s) STRICT;", t->name, t->columns);
  if (st == CAWB_OK && t->index != NULL)
    st = execute_format(s, err, "CREATE INDEX %s_by ON %s(%s);", t->name, t->name, t->index);
  return st == CAWB_OK ? make_triggers(s, t, err) : st;
}

static cawb_status make_schema(cawb_store *s, cawb_err *err) {
  cawb_status st = CAWB_OK;
  for (const cawb_store_table *t = cawb_store_tables; st == CAWB_OK && t->name != NULL; t++)
    st = make_table(s, t, err);
  if (st != CAWB_OK) return st;
  return execute_format(s, err, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
                        APPLICATION_ID, CAWB_STORE_SCHEMA);
}

static cawb_status check_schema(cawb_store *s, int *empty, cawb_err *err) {
  int application = 0, version = 0, objects = 0;
  cawb_status st = read_integer(s, "PRAGMA application_id", &application, err);
  if (st == CAWB_OK) st = read_integer(s, "PRAGMA user_version", &version, err);
  if (st == CAWB_OK) st = read_integer(s, "SELECT count(*) FROM sqlite_schema", &objects, err);
  if (st != CAWB_OK) return st;
  *empty = application == 0 && version == 0 && objects == 0;
  if (*empty) return CAWB_OK;
  if (application != APPLICATION_ID)
    return cawb_fail(err, CAWB_ERR_INVALID,
      "%s is the database of another program: choose another folder", s->file);
  if (version == CAWB_STORE_SCHEMA) return CAWB_OK;
  return cawb_fail(err, CAWB_ERR_INVALID,
    "%s has schema %d, which a%s cawb wrote; this one knows schema %d: use that cawb, "
    "or choose another folder", s->file, version,
    version > CAWB_STORE_SCHEMA ? " newer" : "n older", CAWB_STORE_SCHEMA);
}

/* Opening. */

static cawb_status set_up(cawb_store *s, cawb_err *err) {
  int empty = 0;
  cawb_status st = check_schema(s, &empty, err);
  if (st != CAWB_OK) return st;
  st = execute(s, "set it up", "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
               "PRAGMA foreign_keys = ON;", err);
  if (st != CAWB_OK || !empty) return st;
  st = cawb_store_begin(s, err);
  if (st == CAWB_OK) st = make_schema(s, err);
  if (st == CAWB_OK) return cawb_store_commit(s, err);
  cawb_store_rollback(s);
  return st;
}

static cawb_status open_database(cawb_store *s, cawb_err *err) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE;
  if (sqlite3_open_v2(s->file, &s->db, flags, NULL) != SQLITE_OK)
    return fail_sqlite(s, "open it", err);
  sqlite3_busy_timeout(s->db, BUSY_MS);
  return set_up(s, err);
}

/* Two processes that open a new store at once take turns: the switch to the
** write-ahead log does not wait by itself. The lock goes with the descriptor. */
static cawb_status open_locked(cawb_store *s, cawb_err *err) {
  int fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return cawb_fail_errno(err, CAWB_ERR_IO, "cannot open the folder %s", s->dir);
  int rc;
  do rc = flock(fd, LOCK_EX); while (rc != 0 && errno == EINTR);
  cawb_status st = rc == 0 ? open_database(s, err)
    : cawb_fail_errno(err, CAWB_ERR_IO, "cannot lock the folder %s", s->dir);
  close(fd);
  return st;
}

static cawb_status make_folders(char *path, cawb_err *err) {
  if (cawb_folders_make(path)) return CAWB_OK;
  return cawb_fail_errno(err, CAWB_ERR_IO, "cannot make the folder %s (choose another with --out)", path);
}

cawb_status cawb_store_open(cawb_store **out, const char *dir, cawb_err *err) {
  *out = NULL;
  if (*dir == '\0')
    return cawb_fail(err, CAWB_ERR_INVALID, "a store needs the name of a folder");
  cawb_store *s = sqlite3_malloc64(sizeof *s);
  if (s == NULL) return no_memory(err);
  memset(s, 0, sizeof *s);
  s->dir = sqlite3_mprintf("%s", dir);
  s->file = sqlite3_mprintf("%s/store.sqlite", dir);
  s->artifacts = sqlite3_mprintf("%s/artifacts", dir);
  cawb_status st = s->dir != NULL && s->file != NULL && s->artifacts != NULL
    ? make_folders(s->dir, err) : no_memory(err);
  if (st == CAWB_OK) st = open_locked(s, err);
  if (st == CAWB_OK) *out = s;
  else cawb_store_close(s);
  return st;
}

void cawb_store_close(cawb_store *s) {
  if (s == NULL) return;
  sqlite3_close(s->db);
  sqlite3_free(s->dir);
  sqlite3_free(s->file);
  sqlite3_free(s->artifacts);
  sqlite3_free(s);
}

const char *cawb_store_path(const cawb_store *s) { return s->dir; }

/* Transactions. */

cawb_status cawb_store_begin(cawb_store *s, cawb_err *err) {
  return execute(s, "begin a transaction", "BEGIN IMMEDIATE", err);
}

/* SQLite says only that a reference is broken; say which, while it is still there. */
static void name_broken_reference(cawb_store *s, cawb_err *err) {
  static const char sql[] = "SELECT \"table\", parent FROM pragma_foreign_key_check LIMIT 1";
  sqlite3_stmt *stmt = NULL;
  if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) == SQLITE_OK
      && sqlite3_step(stmt) == SQLITE_ROW)
    cawb_fail(err, CAWB_ERR_INVALID,
      "%s: cannot commit: a row of %s names a row of %s that does not exist", s->file,
      sqlite3_column_text(stmt, 0), sqlite3_column_text(stmt, 1));
  sqlite3_finalize(stmt);
}

cawb_status cawb_store_commit(cawb_store *s, cawb_err *err) {
  cawb_status st = execute(s, "commit", "COMMIT", err);
  if (st == CAWB_OK) return st;
  if (sqlite3_extended_errcode(s->db) == SQLITE_CONSTRAINT_FOREIGNKEY)
    name_broken_reference(s, err);
  cawb_store_rollback(s);
  return st;
}

void cawb_store_rollback(cawb_store *s) {
  if (!sqlite3_get_autocommit(s->db)) sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

/* Rows. */

static const cawb_store_table *find_table(const char *name) {
  const cawb_store_table *t = cawb_store_tables;
  while (t->name != NULL && strcmp(t->name, name) != 0) t++;
  return t->name != NULL ? t : NULL;
}

static cawb_status unknown_table(const char *name, cawb_err *err) {
  sqlite3_str *list = sqlite3_str_new(NULL);
  for (const cawb_store_table *t = cawb_store_tables; t->name != NULL; t++)
    sqlite3_str_appendf(list, "%s%s", t == cawb_store_tables ? "" : ", ", t->name);
  const char *names = sqlite3_str_value(list);
  cawb_fail(err, CAWB_ERR_INVALID, "the store has no table '%.64s'; its tables: %s", name,
            names != NULL ? names : "");
  sqlite3_free(sqlite3_str_finish(list));
  return CAWB_ERR_INVALID;
}

static cawb_status unknown_column(cawb_store *s, const char *table, const char *column,
                                  cawb_err *err) {
  static const char sql[] = "SELECT group_concat(name, ', ') FROM pragma_table_info(?)";
  sqlite3_stmt *stmt = NULL;
  if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) == SQLITE_OK)
    sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
  const unsigned char *names = NULL;
  if (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW) names = sqlite3_column_text(stmt, 0);
  cawb_fail(err, CAWB_ERR_INVALID, "the table %s has no column '%.64s'; its columns: %s", table,
            column, names != NULL ? (const char *)names : "");
  sqlite3_finalize(stmt);
  return CAWB_ERR_INVALID;
}

/* The declared type of a column: a STRICT table accepts nothing else. */
static cawb_status column_type(cawb_store *s, const char *table, const char *column,
                               const char **type, cawb_err *err) {
  int rc = sqlite3_table_column_metadata(s->db, NULL, table, column, type, NULL, NULL, NULL, NULL);
  if (rc == SQLITE_OK) return CAWB_OK;
  if (rc == SQLITE_ERROR) return unknown_column(s, table, column, err);
  return fail_sqlite(s, "look at its tables", err);
}

static int bind(sqlite3_stmt *stmt, int i, const cawb_value *v, int as_blob) {
  switch (v->type) {
    case CAWB_VALUE_INTEGER: return sqlite3_bind_int64(stmt, i, v->integer);
    case CAWB_VALUE_REAL: return sqlite3_bind_double(stmt, i, v->real);
    case CAWB_VALUE_TEXT: case CAWB_VALUE_BLOB: {
      const void *data = v->size > 0 ? v->data : "";  /* NULL would be bound as NULL */
      if (as_blob || v->type == CAWB_VALUE_BLOB)
        return sqlite3_bind_blob64(stmt, i, data, v->size, SQLITE_STATIC);
      return sqlite3_bind_text64(stmt, i, data, v->size, SQLITE_STATIC, SQLITE_UTF8);
    }
    default: return sqlite3_bind_null(stmt, i);
  }
}

static char *insert_sql(const char *table, const cawb_value *columns, size_t n) {
  sqlite3_str *sql = sqlite3_str_new(NULL);
  sqlite3_str_appendf(sql, "INSERT INTO %s(", table);
  for (size_t i = 0; i < n; i++)
    sqlite3_str_appendf(sql, "%s\"%w\"", i == 0 ? "" : ", ", columns[i].name);
  sqlite3_str_appendall(sql, ") VALUES (");
  for (size_t i = 0; i < n; i++) sqlite3_str_appendall(sql, i == 0 ? "?" : ", ?");
  sqlite3_str_appendall(sql, ")");
  return sqlite3_str_finish(sql);
}

static cawb_status fail_insert(cawb_store *s, const char *table, cawb_err *err) {
  char doing[64];
  sqlite3_snprintf(sizeof doing, doing, "add a row to %s", table);
  return fail_sqlite(s, doing, err);
}

static cawb_status check_columns(cawb_store *s, const char *table, const cawb_value *columns,
                                 size_t n, cawb_err *err) {
  const char *type = NULL;
  cawb_status st = CAWB_OK;
  for (size_t i = 0; st == CAWB_OK && i < n; i++)
    st = column_type(s, table, columns[i].name, &type, err);
  return st;
}

static cawb_status prepare_insert(cawb_store *s, sqlite3_stmt **stmt, const char *table,
                                  const cawb_value *columns, size_t n, cawb_err *err) {
  char *sql = insert_sql(table, columns, n);
  if (sql == NULL) return no_memory(err);
  int rc = sqlite3_prepare_v2(s->db, sql, -1, stmt, NULL);
  sqlite3_free(sql);
  return rc == SQLITE_OK ? CAWB_OK : fail_insert(s, table, err);
}

static cawb_status bind_columns(cawb_store *s, sqlite3_stmt *stmt, const char *table,
                                const cawb_value *columns, size_t n, cawb_err *err) {
  for (size_t i = 0; i < n; i++) {
    const char *type = NULL;
    cawb_status st = column_type(s, table, columns[i].name, &type, err);
    if (st != CAWB_OK) return st;
    if (bind(stmt, (int)i + 1, &columns[i], sqlite3_stricmp(type, "BLOB") == 0) != SQLITE_OK)
      return fail_insert(s, table, err);
  }
  return CAWB_OK;
}

cawb_status cawb_store_insert(cawb_store *s, const char *table,
                              const cawb_value *columns, size_t n, cawb_err *err) {
  if (find_table(table) == NULL) return unknown_table(table, err);
  if (n == 0) return cawb_fail(err, CAWB_ERR_INVALID, "a row of %s without any column", table);
  sqlite3_stmt *stmt = NULL;
  cawb_status st = check_columns(s, table, columns, n, err);
  if (st == CAWB_OK) st = prepare_insert(s, &stmt, table, columns, n, err);
  if (st == CAWB_OK) st = bind_columns(s, stmt, table, columns, n, err);
  if (st == CAWB_OK && sqlite3_step(stmt) != SQLITE_DONE) st = fail_insert(s, table, err);
  sqlite3_finalize(stmt);
  return st;
}

/* Queries. */

/* Asked while a query is compiled. json_each and its like declare themselves as an
** update of sqlite_master; a real one is no read-only statement. */
static int only_reads(void *context, int action, const char *a, const char *b,
                      const char *c, const char *d) {
  (void)context, (void)b, (void)c, (void)d;
  switch (action) {
    case SQLITE_SELECT: case SQLITE_READ: case SQLITE_FUNCTION: case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_UPDATE: return strcmp(a, "sqlite_master") == 0 ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
  }
}

static int is_blank(const char *text) {
  return text[strspn(text, " \t\r\n;")] == '\0';
}

static cawb_status prepare_query(cawb_store *s, sqlite3_stmt **stmt, const char *sql,
                                 size_t n, cawb_err *err) {
  const char *rest = sql;
  sqlite3_set_authorizer(s->db, only_reads, NULL);
  int rc = sqlite3_prepare_v2(s->db, sql, -1, stmt, &rest);
  sqlite3_set_authorizer(s->db, NULL, NULL);
  if (rc != SQLITE_OK && rc != SQLITE_AUTH) return fail_sqlite(s, "query it", err);
  if (rc == SQLITE_OK && (*stmt == NULL || !is_blank(rest)))
    return cawb_fail(err, CAWB_ERR_INVALID, "a query is one SELECT: %.200s", sql);
  if (rc == SQLITE_AUTH || !sqlite3_stmt_readonly(*stmt))
    return cawb_fail(err, CAWB_ERR_INVALID, "a query only reads (SELECT): %.200s", sql);
  int want = sqlite3_bind_parameter_count(*stmt);
  if ((size_t)want != n)
    return cawb_fail(err, CAWB_ERR_INVALID, "the query has %d parameter%s, %zu given: %.200s",
                     want, want == 1 ? "" : "s", n, sql);
  return CAWB_OK;
}

static cawb_value column_value(sqlite3_stmt *stmt, int i) {
  cawb_value v = { .name = sqlite3_column_name(stmt, i) };
  switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_INTEGER:
      v.type = CAWB_VALUE_INTEGER, v.integer = sqlite3_column_int64(stmt, i); break;
    case SQLITE_FLOAT:
      v.type = CAWB_VALUE_REAL, v.real = sqlite3_column_double(stmt, i); break;
    case SQLITE_TEXT:
      v.type = CAWB_VALUE_TEXT, v.data = sqlite3_column_text(stmt, i); break;
    case SQLITE_BLOB:
      v.type = CAWB_VALUE_BLOB, v.data = sqlite3_column_blob(stmt, i); break;
    default: break;
  }
  if (v.type == CAWB_VALUE_TEXT || v.type == CAWB_VALUE_BLOB)
    v.size = (size_t)sqlite3_column_bytes(stmt, i);
  return v;
}

static cawb_status step_rows(cawb_store *s, sqlite3_stmt *stmt, cawb_store_row each,
                             void *context, cawb_err *err) {
  int n = sqlite3_column_count(stmt), rc, stop = 0;
  cawb_value *row = sqlite3_malloc64((size_t)n * sizeof *row);
  if (row == NULL) return no_memory(err);
  while (!stop && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
    for (int i = 0; i < n; i++) row[i] = column_value(stmt, i);
    stop = each(context, row, (size_t)n);
  }
  sqlite3_free(row);
  return stop || rc == SQLITE_DONE ? CAWB_OK : fail_sqlite(s, "query it", err);
}

cawb_status cawb_store_query(cawb_store *s, const char *sql, const cawb_value *params,
                             size_t n, cawb_store_row each, void *context, cawb_err *err) {
  sqlite3_stmt *stmt = NULL;
  cawb_status st = prepare_query(s, &stmt, sql, n, err);
  for (size_t i = 0; st == CAWB_OK && i < n; i++)
    if (bind(stmt, (int)i + 1, &params[i], 0) != SQLITE_OK) st = fail_sqlite(s, "query it", err);
  if (st == CAWB_OK) st = step_rows(s, stmt, each, context, err);
  sqlite3_finalize(stmt);
  return st;
}

/* Artifacts. */

cawb_status cawb_store_artifact(cawb_store *s, const void *data, size_t size, char hex[65],
                                cawb_err *err) {
  return cawb_artifact_write(s->artifacts, data, size, hex, err);
}

cawb_status cawb_store_read(cawb_store *s, const char *hex, void **data, size_t *size,
                            cawb_err *err) {
  return cawb_artifact_read(s->artifacts, hex, data, size, err);
}

cawb_status cawb_store_artifact_path(const cawb_store *s, const char *hex, char *out, size_t room,
                                     cawb_err *err) {
  return cawb_artifact_path(out, room, s->artifacts, hex, err);
}
