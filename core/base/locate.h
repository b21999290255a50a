/*
** locate.h - where this machine keeps NVIDIA's libraries and headers.
**
** Searched in this order: $CAWB_CUDA_HOME, $CUDA_HOME, the default toolkit, the
** nvidia-* packages of a Python, and, for libraries, the loader's own path.
** The result is a path to dlopen and a word on its origin.
*/
#ifndef CAWB_BASE_LOCATE_H
#define CAWB_BASE_LOCATE_H

#include "base/err.h"

/* A place that is NULL or "" is not searched. The texts are borrowed. */
typedef struct cawb_places {
  const char *cawb_cuda_home, *cuda_home;   /* toolkit roots */
  const char *toolkit;                      /* the usual root */
  const char *site_packages;                /* folders that hold nvidia/, ':' between */
} cawb_places;

typedef struct cawb_found {
  char path[4096];     /* a library's file, a header folder */
  char origin[64];     /* "CAWB_CUDA_HOME", "PyPI packages", "the loader's path"... */
} cawb_found;

/* The header folders of one origin: CUDA's, and those of CCCL (cuda/std, cub). */
typedef struct cawb_includes {
  cawb_found list[4];
  int count;
} cawb_includes;

/*
** From the environment, with /usr/local/cuda as the usual toolkit. CAWB_HIDE_TOOLKIT,
** if it is set, hides all three, as on a machine that has none.
*/
void cawb_places_default(cawb_places *p, const char *site_packages);

/*
** `name` is a file ("libcuda.so.1") or a stem whose version does not matter
** ("libnvrtc.so": within one place the highest version wins).
*/
cawb_status cawb_locate_library(cawb_found *out, const cawb_places *p,
                                const char *name, cawb_err *err);
cawb_status cawb_locate_includes(cawb_includes *out, const cawb_places *p, cawb_err *err);

#endif
