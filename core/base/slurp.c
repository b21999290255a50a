/* slurp.c - see slurp.h. */
#include "base/slurp.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static cawb_status read_all(char **out, size_t *size, FILE *f, const char *path,
                            cawb_err *err) {
  struct stat st;
  if (fstat(fileno(f), &st) != 0) return cawb_fail_errno(err, CAWB_ERR_IO, "%s", path);
  if (!S_ISREG(st.st_mode)) return cawb_fail(err, CAWB_ERR_MISSING, "%s: is no file", path);
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
