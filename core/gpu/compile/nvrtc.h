/*
** nvrtc.h - NVIDIA's run-time compiler, opened when it is needed.
** One source text in; PTX, cubin and log out of one call. Needs no GPU.
*/
#ifndef CAWB_COMPILE_NVRTC_H
#define CAWB_COMPILE_NVRTC_H

#include <stddef.h>

#include "base/err.h"
#include "base/locate.h"

typedef struct cawb_nvrtc cawb_nvrtc;

/* What a compilation left behind; free it with cawb_nvrtc_output_free. */
typedef struct cawb_nvrtc_output {
  char *log;                   /* never NULL after a call that got as far as NVRTC */
  char *ptx;                   /* NUL-terminated; NULL if there is none */
  void *cubin;
  size_t cubin_size;
} cawb_nvrtc_output;

cawb_status cawb_nvrtc_open(cawb_nvrtc **out, const cawb_places *places, cawb_err *err);
void        cawb_nvrtc_close(cawb_nvrtc *n);                /* NULL is a no-op */

void cawb_nvrtc_version(const cawb_nvrtc *n, int *major, int *minor);
const cawb_found *cawb_nvrtc_found(const cawb_nvrtc *n);    /* which file, from where */

/*
** `options` must name a real architecture ("-arch=sm_90"), else there is no
** cubin. CAWB_ERR_CANDIDATE: the source is at fault, the log says how.
** CAWB_ERR_UNSUPPORTED: NVRTC does not accept the options.
*/
cawb_status cawb_nvrtc_compile(cawb_nvrtc *n, const char *source, const char *name,
                               const char *const *options, int count,
                               cawb_nvrtc_output *out, cawb_err *err);
void        cawb_nvrtc_output_free(cawb_nvrtc_output *out);

#endif
