/*
** flags.h - what a candidate may tell the compiler: options from a list,
** and defines that are single tokens or expressions.
*/
#ifndef CAWB_COMPILE_FLAGS_H
#define CAWB_COMPILE_FLAGS_H

#include <stddef.h>

#include "base/bytes.h"
#include "base/err.h"

typedef struct cawb_define {
  const char *name;            /* an identifier */
  const char *value;           /* one line without quotes or comments; NULL is 1 */
} cawb_define;

/*
** Check the options and write each as NVRTC reads it, a NUL behind each, into
** `out`: "--fmad=false" and "-fmad=false" give the same. CAWB_ERR_CANDIDATE for
** one that is not allowed, is malformed or comes twice.
*/
cawb_status cawb_compile_options(cawb_bytes *out, const char *const *options, size_t n,
                                 cawb_err *err);

/* Check the defines and write them as #define lines, sorted by name, into `out`. */
cawb_status cawb_compile_defines(cawb_bytes *out, const cawb_define *defines, size_t n,
                                 cawb_err *err);

#endif
