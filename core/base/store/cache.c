/*
** cache.c - see cache.h. The file "entry" is written last and lists the others:
** a digest, a size and a name on each line. Nothing is synced: after a crash the
** digests tell what reached the disk.
*/
#include "base/store/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
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
  char part[4096];
  snprintf(part, sizeof part, "%s", path);
  for (char *p = part + 1; (p = strchr(p, '/')) != NULL; *p++ = '/') {
    *p = '\0';
    if (mkdir(part, 0777) != 0 && errno != EEXIST)
      return cawb_fail_errno(err, CAWB_ERR_IO, "cannot make the cache folder %s", part);
  }
  return CAWB_OK;
}

static int write_all(int fd, const char *data, size_t size) {
  while (size > 0) {
    ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return 0;
    data += n;
    size -= (size_t)n;
  }
  return 1;
}

/* Write aside, in the same folder, then rename: readers see all of it or nothing. */
static cawb_status write_file(const char *path, const void *data, size_t size, cawb_err *err) {
  char aside[4096];
  snprintf(aside, sizeof aside, "%.4080s.XXXXXX", path);
  int fd = mkostemp(aside, O_CLOEXEC);
  if (fd < 0) return cawb_fail_errno(err, CAWB_ERR_IO, "cannot write the cache file %s", path);
  int ok = write_all(fd, data, size);
  int saved = errno;
  if (close(fd) != 0 && ok) {
    ok = 0;
    saved = errno;
  }
  if (ok && rename(aside, path) == 0) return CAWB_OK;
  if (ok) saved = errno;
  unlink(aside);
  errno = saved;
  return cawb_fail_errno(err, CAWB_ERR_IO, "cannot write the cache file %s", path);
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
    if (code == CAWB_OK) code = write_file(path, items[i].data, items[i].size, err);
  }
  if (code == CAWB_OK && list.failed)
    code = cawb_fail(err, CAWB_ERR_MEMORY, "no memory to write the cache");
  if (code == CAWB_OK) code = cawb_cache_path(path, folder, key, LIST, err);
  if (code == CAWB_OK) code = write_file(path, list.data, list.size, err);
  cawb_bytes_free(&list);
  return code;
}

/* ------------------------------------------------------------------ reading */

/* The whole file, a NUL behind it. Absent or unreadable: NULL data, CAWB_OK. */
static cawb_status read_file(const char *path, char **data, size_t *size, cawb_err *err) {
  struct stat st;
  *data = NULL;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return CAWB_OK;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return close(fd), CAWB_OK;
  char *room = malloc((size_t)st.st_size + 1);
  size_t have = 0;
  for (ssize_t n; room != NULL && have < (size_t)st.st_size; have += (size_t)n) {
    n = read(fd, room + have, (size_t)st.st_size - have);
    if (n < 0 && errno == EINTR) n = 0;
    else if (n <= 0) break;
  }
  close(fd);
  if (room == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "no memory to read the cache");
  room[have] = '\0';
  *data = room;
  *size = have;
  return CAWB_OK;
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
