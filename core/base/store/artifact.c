/* artifact.c - see artifact.h. */
#include "base/store/artifact.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static cawb_status make_folder(const char *path, cawb_err *err) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return CAWB_OK;
  return cawb_fail_errno(err, CAWB_ERR_IO, "cannot make the folder %s", path);
}

static int write_all(int fd, const char *data, size_t size) {
  while (size > 0) {
    ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    data += n;
    size -= (size_t)n;
  }
  return 0;
}

/* A rename is durable only when its folder is. */
static void sync_folder(const char *folder) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);  /* some file systems refuse this; the file itself is synced */
  close(fd);
}

static cawb_status write_aside(const char *folder, const char *path,
                               const void *data, size_t size, cawb_err *err) {
  char aside[PATH_MAX];
  int n = snprintf(aside, sizeof aside, "%s/.new-XXXXXX", folder);
  if (n < 0 || (size_t)n >= sizeof aside)
    return cawb_fail(err, CAWB_ERR_IO, "%s: the path is too long", folder);
  int fd = mkostemp(aside, O_CLOEXEC);
  if (fd < 0) return cawb_fail_errno(err, CAWB_ERR_IO, "cannot write in %s", folder);
  int ok = write_all(fd, data, size) == 0 && fchmod(fd, 0444) == 0 && fsync(fd) == 0;
  int saved = errno;
  if (close(fd) != 0 && ok) ok = 0, saved = errno;
  if (ok && rename(aside, path) == 0) {
    sync_folder(folder);
    return CAWB_OK;
  }
  if (ok) saved = errno;
  unlink(aside);
  errno = saved;
  return cawb_fail_errno(err, CAWB_ERR_IO, "cannot write %s", path);
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
  st = make_folder(root, err);
  if (st == CAWB_OK) st = make_folder(folder, err);
  if (st == CAWB_OK) st = write_aside(folder, path, data, size, err);
  return st;
}

static char *read_all(int fd, size_t size) {
  char *data = malloc(size + 1);
  size_t have = 0;
  while (data != NULL && have < size) {
    ssize_t n = read(fd, data + have, size - have);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (n == 0) errno = EIO;  /* shorter than fstat said */
      free(data);
      return NULL;
    }
    have += (size_t)n;
  }
  if (data != NULL) data[size] = '\0';
  return data;
}

static cawb_status load(const char *path, void **data, size_t *size, cawb_err *err) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return cawb_fail_errno(err, errno == ENOENT ? CAWB_ERR_MISSING : CAWB_ERR_IO,
                           "cannot read the artifact %s", path);
  char *bytes = NULL;
  if (fstat(fd, &st) == 0) bytes = read_all(fd, (size_t)st.st_size);
  int saved = errno;
  close(fd);
  errno = saved;
  if (bytes == NULL)
    return cawb_fail_errno(err, CAWB_ERR_IO, "cannot read the artifact %s", path);
  *data = bytes;
  *size = (size_t)st.st_size;
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
