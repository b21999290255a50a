/* slurp.h - a whole file in memory. */
#ifndef CAWB_BASE_SLURP_H
#define CAWB_BASE_SLURP_H

#include <stddef.h>

#include "base/err.h"

/* *out is malloc'ed, with a NUL behind its *size bytes; the caller frees it. */
cawb_status cawb_slurp(char **out, size_t *size, const char *path, cawb_err *err);

#endif
