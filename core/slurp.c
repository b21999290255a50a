/* slurp.c - see slurp.h. */
#include "slurp.h"

#include <stdio.h>
#include <stdlib.h>

static cawb_status read_all(char **out, size_t *size, FILE *f, const char *path,
                            cawb_err *err) {
  if (fseek(f, 0, SEEK_END) != 0) return cawb_fail_errno(err, CAWB_ERR_IO, "%s", path);
  long n = ftell(f);
  rewind(f);
  char *text = n >= 0 ? malloc((size_t)n + 1) : NULL;
  if (text == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for %s", path);
  *size = fread(text, 1, (size_t)n, f);
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
