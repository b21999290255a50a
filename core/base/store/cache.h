/*
** cache.h - compiled things on disk, found by the digest of what they were made
** from: FOLDER/ab/cdef.../{ptx,cubin,log,...}. Any number of processes may read
** and write one folder: files appear whole (written aside, renamed), and what does
** not match the entry's list of sizes and digests is a miss, never a wrong answer.
*/
#ifndef CAWB_RECORD_CACHE_H
#define CAWB_RECORD_CACHE_H

#include <stddef.h>

#include "base/err.h"

typedef struct cawb_cache_item {
  const char *name;            /* a plain file name: "ptx" */
  void *data;
  size_t size;
} cawb_cache_item;

/* Where the item `name` of the entry `key` (64 hex digits) is or would be. */
cawb_status cawb_cache_path(char out[4096], const char *folder, const char *key,
                            const char *name, cawb_err *err);

/* Write an entry; makes the folders. The items are borrowed. */
cawb_status cawb_cache_put(const char *folder, const char *key,
                           const cawb_cache_item *items, size_t n, cawb_err *err);

/*
** Read the named items of an entry. On a hit `*hit` is 1 and each item's data is
** the caller's to free, a NUL behind it; else `*hit` is 0 and all data NULL.
*/
cawb_status cawb_cache_get(const char *folder, const char *key, cawb_cache_item *items,
                           size_t n, int *hit, cawb_err *err);

#endif
