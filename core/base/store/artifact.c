/* artifact.c - see artifact.h. */
#include "base/store/artifact.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/sha256.h"

static int is_hex_name(const char *hex) {
  return strlen(hex) == 64 && strspn(hex, "0123456789abcdef") == 64;
}

cawb_status cawb_artifact_path(char *out, size_t room, const char *root,
                               const char *hex, cawb_err *err) {
  if (!is_hex_name(hex))
    return cawb_fail(err, CAWB_ERR_INVALID,
      "'%.80s' is no artifact: a name is 64 lower-case hexadecimal digits", hex);
  int n = snprintf(out, room, "%s/%.2s/%s", root, hex, hex + 2);
  if (n < 0 || (size_t)n >= room)
    return cawb_fail(err, CAWB_ERR_IO, "%s: the path is too long", root);
  return CAWB_OK;
}

/* There with the right size: a wrong size is what a full disk of a crashed
** machine leaves, and is written again. */
static int is_there(const char *path, size_t size) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size == size;
}

cawb_status cawb_artifact_write(const char *root, const void *data, size_t size,
                                char hex[65], cawb_err *err) {
  char path[PATH_MAX], folder[PATH_MAX];
  cawb_sha256_hex(data, size, hex);
  cawb_status st = cawb_artifact_path(path, sizeof path, root, hex, err);
  if (st != CAWB_OK || is_there(path, size)) return st;
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
  if (!cawb_folders_make(folder)) return cawb_fail_errno(err, CAWB_ERR_IO, "cannot make the folder %s", folder);
  return cawb_file_put(path, data, size, 1, err);
}

static cawb_status load(const char *path, void **data, size_t *size, cawb_err *err) {
  char *bytes;
  if (cawb_slurp(&bytes, size, path, err) != CAWB_OK)
    return cawb_fail_errno(err, errno == ENOENT ? CAWB_ERR_MISSING : CAWB_ERR_IO, "cannot read the artifact %s", path);
  *data = bytes;
  return CAWB_OK;
}

cawb_status cawb_artifact_read(const char *root, const char *hex, void **data,
                               size_t *size, cawb_err *err) {
  char path[PATH_MAX], found[65];
  *data = NULL;
  *size = 0;
  cawb_status st = cawb_artifact_path(path, sizeof path, root, hex, err);
  if (st == CAWB_OK) st = load(path, data, size, err);
  if (st != CAWB_OK) return st;
  cawb_sha256_hex(*data, *size, found);
  if (strcmp(found, hex) == 0) return CAWB_OK;
  free(*data);
  *data = NULL;
  *size = 0;
  return cawb_fail(err, CAWB_ERR_IO,
    "%s is damaged: its content is not what its name says (restore it from a copy)", path);
}
