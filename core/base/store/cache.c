/*
** cache.c - see cache.h. The file "entry" is written last and lists the others:
** a digest, a size and a name on each line. Nothing is synced: after a crash the
** digests tell what reached the disk.
*/
#include "base/store/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/sha256.h"

static const char LIST[] = "entry";

cawb_status cawb_cache_path(char out[4096], const char *folder, const char *key,
                            const char *name, cawb_err *err) {
  if (strlen(key) != 64 || strspn(key, "0123456789abcdef") != 64)
    return cawb_fail(err, CAWB_ERR_INVALID, "'%.80s' is not a cache key (64 hex digits)", key);
  int n = snprintf(out, 4096, "%s/%.2s/%s/%s", folder, key, key + 2, name);
  if (n < 0 || n >= 4096 - 16)  /* a temporary name is longer */
    return cawb_fail(err, CAWB_ERR_INVALID, "the cache folder's name is too long: %.200s", folder);
  return CAWB_OK;
}

/* ------------------------------------------------------------------ writing */

/* Make every folder above `path`. */
static cawb_status make_folders(const char *path, cawb_err *err) {
  char above[4096];
  snprintf(above, sizeof above, "%.*s", (int)(strrchr(path, '/') - path), path);
  if (cawb_folders_make(above)) return CAWB_OK;
  return cawb_fail_errno(err, CAWB_ERR_IO, "cannot make the cache folder %s", above);
}

cawb_status cawb_cache_put(const char *folder, const char *key,
                           const cawb_cache_item *items, size_t n, cawb_err *err) {
  char path[4096], hex[65];
  cawb_bytes list = { 0 };
  cawb_status code = cawb_cache_path(path, folder, key, LIST, err);
  if (code == CAWB_OK) code = make_folders(path, err);
  for (size_t i = 0; i < n && code == CAWB_OK; i++) {
    cawb_sha256_hex(items[i].data, items[i].size, hex);
    cawb_bytes_print(&list, "%s %zu %s\n", hex, items[i].size, items[i].name);
    code = cawb_cache_path(path, folder, key, items[i].name, err);
    if (code == CAWB_OK) code = cawb_file_put(path, items[i].data, items[i].size, 0, err);
  }
  if (code == CAWB_OK && list.failed)
    code = cawb_fail(err, CAWB_ERR_MEMORY, "no memory to write the cache");
  if (code == CAWB_OK) code = cawb_cache_path(path, folder, key, LIST, err);
  if (code == CAWB_OK) code = cawb_file_put(path, list.data, list.size, 0, err);
  cawb_bytes_free(&list);
  return code;
}

/* ------------------------------------------------------------------ reading */

/* The whole file, a NUL behind it. Absent or unreadable: NULL data, CAWB_OK. */
static cawb_status read_file(const char *path, char **data, size_t *size, cawb_err *err) {
  cawb_status code = cawb_slurp(data, size, path, err);
  return code == CAWB_ERR_MEMORY ? code : CAWB_OK;
}

/* Is there a line in the entry's list that says just this of the item? */
static int listed(const char *list, const cawb_cache_item *item) {
  char hex[65], line[512];
  cawb_sha256_hex(item->data, item->size, hex);
  int n = snprintf(line, sizeof line, "%s %zu %s\n", hex, item->size, item->name);
  for (const char *p = list; p != NULL && *p != '\0'; p = strchr(p, '\n'), p += p != NULL)
    if (strncmp(p, line, (size_t)n) == 0) return 1;
  return 0;
}

static void forget(cawb_cache_item *items, size_t n) {
  for (size_t i = 0; i < n; i++) {
    free(items[i].data);
    items[i].data = NULL;
    items[i].size = 0;
  }
}

cawb_status cawb_cache_get(const char *folder, const char *key, cawb_cache_item *items,
                           size_t n, int *hit, cawb_err *err) {
  char path[4096], *list = NULL;
  size_t size;
  *hit = 0;
  for (size_t i = 0; i < n; i++) items[i].data = NULL, items[i].size = 0;
  cawb_status code = cawb_cache_path(path, folder, key, LIST, err);
  if (code == CAWB_OK) code = read_file(path, &list, &size, err);
  int good = list != NULL;
  for (size_t i = 0; i < n && good && code == CAWB_OK; i++) {
    char *data = NULL;
    code = cawb_cache_path(path, folder, key, items[i].name, err);
    if (code == CAWB_OK) code = read_file(path, &data, &items[i].size, err);
    items[i].data = data;
    good = code == CAWB_OK && data != NULL && listed(list, &items[i]);
  }
  free(list);
  *hit = good && code == CAWB_OK;
  if (!*hit) forget(items, n);
  return code;
}
