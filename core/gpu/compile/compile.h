/*
** compile.h - from a candidate's CUDA source to PTX, a cubin, its kernels and the
** compiler's log. Made for a process that stays: what is compiled once comes from
** the cache, and headers are precompiled. Used by one thread at a time; a source
** can make NVRTC slow or crash it, so keep it in a process with a deadline.
*/
#ifndef CAWB_COMPILE_COMPILE_H
#define CAWB_COMPILE_COMPILE_H

#include <stddef.h>

#include "gpu/compile/flags.h"
#include "base/err.h"
#include "base/locate.h"
#include "gpu/ptx/kernels.h"

/* Beyond these a source is refused, a log loses its middle. */
#define CAWB_COMPILE_MAX_SOURCE (4u << 20)
#define CAWB_COMPILE_MAX_LOG    (1u << 18)

typedef struct cawb_compiler cawb_compiler;

typedef struct cawb_compiler_setting {
  const cawb_places *places;
  const char *cache;           /* folder for results; made when it is needed */
  const char *scratch;         /* existing folder for precompiled headers; NULL: none */
  size_t pch_bytes;            /* most disk for them; cooperative_groups.h takes 100 MB */
  const char *headers;         /* folder of those that NVRTC lacks, seen first; NULL: none */
} cawb_compiler_setting;

/* All borrowed for the length of the call. */
typedef struct cawb_compile_request {
  const char *source;
  size_t size;                 /* bytes of the source, no NUL among them */
  const cawb_define *defines;  /* seen behind the #include lines at the top of the source */
  size_t ndefines;
  const char *const *options;  /* see flags.c for those allowed */
  size_t noptions;
  const char *arch;            /* "sm_90" */
} cawb_compile_request;

/* What came of it; free it in every case. */
typedef struct cawb_compile_result {
  int ok;
  char *log;                   /* the compiler's words, on success too; NULL if it was not asked */
  char *ptx, *cubin;           /* paths into the cache; NULL unless ok */
  cawb_kernels kernels;        /* at least one where ok */
  double seconds;              /* the whole call */
  int cached;                  /* nothing was compiled */
  char key[65];                /* digest of all that the result depends on; "" if refused before */
} cawb_compile_result;

/* CAWB_ERR_MISSING with where it was sought when there is no NVRTC. */
cawb_status cawb_compiler_open(cawb_compiler **out, const cawb_compiler_setting *setting,
                               cawb_err *err);
void        cawb_compiler_close(cawb_compiler *c);          /* NULL is a no-op */

/* For reports: "13.0", and the files in use. */
void cawb_compiler_version(const cawb_compiler *c, int *major, int *minor);
const cawb_found    *cawb_compiler_library(const cawb_compiler *c);

/*
** CAWB_ERR_CANDIDATE: the candidate does not compile or may not be compiled;
** `err` has the first reason in one line, the result the whole log.
*/
cawb_status cawb_compiler_compile(cawb_compiler *c, const cawb_compile_request *request,
                                  cawb_compile_result *result, cawb_err *err);
void        cawb_compile_result_free(cawb_compile_result *result);

#endif
