/*
** library.h - the opened library, for cupti*.c only. CUPTI's own types stay in
** those files: two of its headers do not go together with C or with each other's users.
*/
#ifndef CAWB_CUDA_CUPTI_LIBRARY_H
#define CAWB_CUDA_CUPTI_LIBRARY_H

#include <stdint.h>

#include "cuda/cupti/cupti.h"

struct cawb_cupti {
  void *handle;                /* from dlopen */
  cawb_found found;
  int (*spell)(int result, const char **text);   /* cuptiGetResultString */
};

typedef struct cawb_cupti_symbol {
  const char *name;
  size_t offset;               /* of its pointer in the caller's table */
} cawb_cupti_symbol;

/* Fill a table of functions. CAWB_ERR_UNSUPPORTED if the library lacks one. */
cawb_status cawb_cupti_resolve(const cawb_cupti *c, void *table,
                               const cawb_cupti_symbol *symbols, size_t n, cawb_err *err);

/* CAWB_OK for CUPTI_SUCCESS, else CAWB_ERR_UNSUPPORTED: `what` was being done. */
cawb_status cawb_cupti_check(const cawb_cupti *c, int result, const char *what,
                             cawb_err *err);

/* What a session needs of a set: its schedule, its names, its arithmetic. */
const unsigned char *cawb_cupti_set_schedule(const cawb_cupti_set *s, size_t *size);
const char **cawb_cupti_set_names(const cawb_cupti_set *s);
cawb_status cawb_cupti_set_evaluate(const cawb_cupti_set *s, const uint8_t *image, size_t size,
                                    size_t range, double *values, cawb_err *err);

#endif
