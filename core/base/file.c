/* file.c - see file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static cawb_status read_all(char **out, size_t *size, FILE *f, const char *path,
                            cawb_err *err) {
  struct stat st;
  if (fstat(fileno(f), &st) != 0) return cawb_fail_errno(err, CAWB_ERR_IO, "%s", path);
  if (!S_ISREG(st.st_mode)) return errno = EISDIR, cawb_fail(err, CAWB_ERR_MISSING, "%s: is no file", path);
  char *text = malloc((size_t)st.st_size + 1);
  if (text == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for %s", path);
  *size = fread(text, 1, (size_t)st.st_size, f);
  if (ferror(f)) {
    free(text);
    return cawb_fail_errno(err, CAWB_ERR_IO, "%s", path);
  }
  text[*size] = '\0';
  *out = text;
  return CAWB_OK;
}

cawb_status cawb_slurp(char **out, size_t *size, const char *path, cawb_err *err) {
  *out = NULL;
  *size = 0;
  FILE *f = fopen(path, "rbe");
  if (f == NULL) return cawb_fail_errno(err, CAWB_ERR_MISSING, "%s", path);
  cawb_status rc = read_all(out, size, f, path, err);
  fclose(f);
  return rc;
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

/* A rename is durable only when its folder is. */
static void sync_folder(const char *folder) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);  /* some file systems refuse this; the file itself is synced */
  close(fd);
}

cawb_status cawb_file_put(const char *path, const void *data, size_t size, int lasting, cawb_err *err) {
  char folder[PATH_MAX], aside[PATH_MAX + 16];
  const char *slash = strrchr(path, '/');
  int n = slash != NULL ? snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path)
                        : snprintf(folder, sizeof folder, ".");
  if (n < 0 || (size_t)n >= sizeof folder) return cawb_fail(err, CAWB_ERR_IO, "%.200s: the path is too long", path);
  snprintf(aside, sizeof aside, "%s/.new-XXXXXX", folder);
  int fd = mkostemp(aside, O_CLOEXEC);
  if (fd < 0) return cawb_fail_errno(err, CAWB_ERR_IO, "cannot write in %s", folder);
  int ok = write_all(fd, data, size) && (!lasting || (fchmod(fd, 0444) == 0 && fsync(fd) == 0));
  int saved = errno;
  if (close(fd) != 0 && ok) ok = 0, saved = errno;
  if (ok && rename(aside, path) == 0) {
    if (lasting) sync_folder(folder);
    return CAWB_OK;
  }
  if (ok) saved = errno;
  unlink(aside);
  errno = saved;
  return cawb_fail_errno(err, CAWB_ERR_IO, "cannot write %s", path);
}

int cawb_folders_make(char *path) {
  for (char *p = path + 1;; p++) {
    char c = *p;
    if (c != '/' && c != '\0') continue;
    *p = '\0';
    if (mkdir(path, 0777) != 0 && errno != EEXIST) return 0;
    *p = c;
    if (c == '\0') return 1;
  }
}
