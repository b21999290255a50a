/* file.h - whole files, and the folders that they lie in. */
#ifndef CAWB_BASE_FILE_H
#define CAWB_BASE_FILE_H

#include <stddef.h>

#include "base/err.h"

/* *out is malloc'ed, with a NUL behind its *size bytes; the caller frees it. Where it fails errno says why. */
cawb_status cawb_slurp(char **out, size_t *size, const char *path, cawb_err *err);

/*
** Write aside, in the same folder, then rename: readers see all of it or nothing. What is to
** last is on the disk before it has its name, and nobody writes to it again.
*/
cawb_status cawb_file_put(const char *path, const void *data, size_t size, int lasting, cawb_err *err);

/* mkdir -p: whether all are there. Where not, errno says why, and `path` ends with the folder that could not be made. */
int cawb_folders_make(char *path);

#endif
