/*
** store.h - an append-only ledger: DIR/store.sqlite beside DIR/artifacts.
** Rows can be added and read, never changed. What a commit acknowledged
** survives the death of the process; several processes may write one store.
** A store belongs to the thread that opened it and does not cross a fork.
*/
#ifndef CAWB_RECORD_STORE_H
#define CAWB_RECORD_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef struct cawb_store cawb_store;

typedef enum cawb_value_type {
  CAWB_VALUE_NULL = 0,
  CAWB_VALUE_INTEGER,
  CAWB_VALUE_REAL,     /* NaN is stored as NULL */
  CAWB_VALUE_TEXT,
  CAWB_VALUE_BLOB
} cawb_value_type;

/* One column of a row, or one parameter of a query (its name is not looked at). */
typedef struct cawb_value {
  const char *name;
  cawb_value_type type;
  int64_t integer;
  double real;
  const void *data;    /* TEXT and BLOB: borrowed; in a callback until it returns */
  size_t size;         /* in bytes, without a closing NUL */
} cawb_value;

/* Open the store in `dir`, making folder and tables when they are absent. */
cawb_status cawb_store_open(cawb_store **out, const char *dir, cawb_err *err);
void        cawb_store_close(cawb_store *s);  /* rolls back; NULL is a no-op */
const char *cawb_store_path(const cawb_store *s);  /* the folder */

/* Rows added between begin and commit appear together or not at all; a row added
** outside is its own transaction. `begin` waits for another writer's commit. */
cawb_status cawb_store_begin(cawb_store *s, cawb_err *err);
cawb_status cawb_store_commit(cawb_store *s, cawb_err *err);  /* failed: rolled back */
void        cawb_store_rollback(cawb_store *s);  /* without a begin: a no-op */

/* Add one row. A column that is not named is NULL; TEXT given for a BLOB column
** is taken as bytes. An environment or a candidate that is there already (they
** are keyed by their hash) is left as it is. Wrong names, types and references
** are CAWB_ERR_INVALID. */
cawb_status cawb_store_insert(cawb_store *s, const char *table,
                              const cawb_value *columns, size_t n, cawb_err *err);

/* Called for each row; anything but 0 ends the query, which then succeeds. */
typedef int (*cawb_store_row)(void *context, const cawb_value *row, size_t n);

/* Run one SELECT; ?1, ?2... take `params`. Anything that is no pure read is
** CAWB_ERR_INVALID. */
cawb_status cawb_store_query(cawb_store *s, const char *sql, const cawb_value *params,
                             size_t n, cawb_store_row each, void *context, cawb_err *err);

/* Keep bytes under the name of their SHA-256, and read them back (artifact.h).
** Write an artifact before the row that names it. */
cawb_status cawb_store_artifact(cawb_store *s, const void *data, size_t size,
                                char hex[65], cawb_err *err);
cawb_status cawb_store_read(cawb_store *s, const char *hex, void **data, size_t *size,
                            cawb_err *err);  /* the caller frees `*data` */
cawb_status cawb_store_artifact_path(const cawb_store *s, const char *hex, char *out,
                                     size_t room, cawb_err *err);

#endif
