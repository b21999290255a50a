/*
** store_schema.h - the tables of a store (schema 2). Rows are only ever added:
** store.c gives each table triggers that refuse everything else.
*/
#ifndef CAWB_RECORD_STORE_SCHEMA_H
#define CAWB_RECORD_STORE_SCHEMA_H

#define CAWB_STORE_SCHEMA 2

typedef struct cawb_store_table {
  const char *name;
  const char *columns;  /* the SQL between the parentheses of CREATE TABLE */
  const char *key;      /* SQL condition: NEW is there already; NULL: no key */
  int content;          /* the key is a hash of the row: adding it again does nothing */
  const char *index;    /* further columns to index, or NULL */
} cawb_store_table;

/* Ended by an entry whose name is NULL. */
extern const cawb_store_table cawb_store_tables[];

#endif
