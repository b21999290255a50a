/*
** cupti.h - a GPU's hardware counters, read by NVIDIA's CUPTI in this process.
**
** A set schedules metrics on a chip's counters, in as many passes as they need; that
** takes neither a GPU nor a driver. A session collects a set on a context: between
** start and stop of each pass the same launches are made again ("user replay"), and
** each of them is one range. A sampler looks at what the warps wait for, instruction by
** instruction. libcupti is found and opened at run time. A session, its sets and a
** sampler are used by one thread; the thread's current context is theirs.
*/
#ifndef CAWB_CUDA_CUPTI_H
#define CAWB_CUDA_CUPTI_H

#include <stddef.h>

#include "base/err.h"
#include "gpu/device/lines.h"
#include "base/locate.h"

typedef struct cawb_cupti cawb_cupti;
typedef struct cawb_cupti_set cawb_cupti_set;
typedef struct cawb_cupti_session cawb_cupti_session;
typedef struct cawb_cupti_sampler cawb_cupti_sampler;

/*
** Every failure that leaves the machine without counters has the name "missing" or
** "unsupported" and says what would help.
*/
cawb_status cawb_cupti_open(cawb_cupti **out, const cawb_places *places, cawb_err *err);
void        cawb_cupti_close(cawb_cupti *c);            /* NULL is a no-op */
const cawb_found *cawb_cupti_library(const cawb_cupti *c);

/* ---- sets ---- */

/*
** Schedule `metrics` ("dram__bytes_read.sum") for a chip ("GH100"). Those that the
** chip has not are left out; CAWB_ERR_INVALID if it has none of them. All texts are
** copied. Free a set before its library.
*/
cawb_status cawb_cupti_set_new(cawb_cupti_set **out, cawb_cupti *c, const char *chip,
                               const char *const *metrics, size_t n, cawb_err *err);
void        cawb_cupti_set_free(cawb_cupti_set *s);     /* NULL is a no-op */

size_t      cawb_cupti_set_count(const cawb_cupti_set *s);
const char *cawb_cupti_set_metric(const cawb_cupti_set *s, size_t i);
unsigned    cawb_cupti_set_passes(const cawb_cupti_set *s);

/* ---- sessions ---- */

/*
** Get ready to count on a context (a CUcontext) of the GPU `device` (a CUdevice).
** The counters stay reserved for this process until the session is freed: another
** profiler has to wait. Free a session before its library and its context.
*/
cawb_status cawb_cupti_session_new(cawb_cupti_session **out, cawb_cupti *c, void *context,
                                   int device, cawb_err *err);
void        cawb_cupti_session_free(cawb_cupti_session *s);   /* NULL is a no-op */
const char *cawb_cupti_session_chip(const cawb_cupti_session *s);

/* Begin a collection of passes with at most `ranges` launches each. */
cawb_status cawb_cupti_begin(cawb_cupti_session *s, const cawb_cupti_set *set, size_t ranges,
                             cawb_err *err);

/* One pass: start, launch, wait for the end, stop. `*last` is 1 after the last one. */
cawb_status cawb_cupti_start(cawb_cupti_session *s, cawb_err *err);
cawb_status cawb_cupti_stop(cawb_cupti_session *s, int *last, cawb_err *err);

/*
** After the last pass: how many launches were seen in a pass, and the set's metrics
** of one of them, counted from 0, in the order of the set. NaN where it is undefined.
*/
cawb_status cawb_cupti_decode(cawb_cupti_session *s, size_t *ranges, cawb_err *err);
cawb_status cawb_cupti_values(cawb_cupti_session *s, size_t range, double *values,
                              cawb_err *err);

/* ---- samplers ---- */

/*
** Get ready to sample a context that has no session. Code must be loaded after that to
** be sampled: `cubin` is all of it that read below knows. Every 2^`period` clocks (5 to
** 31) each multiprocessor notes what one of its warps does; `buffer` bytes hold notes.
** Free it before its library and its context, and before the code is unloaded.
*/
cawb_status cawb_cupti_sampler_new(cawb_cupti_sampler **out, cawb_cupti *c, void *context,
                                   unsigned period, size_t buffer, cawb_err *err);
void        cawb_cupti_sampler_free(cawb_cupti_sampler *s);   /* NULL is a no-op */

/* What is launched in between and ends before the stop is sampled. */
cawb_status cawb_cupti_sampler_start(cawb_cupti_sampler *s, cawb_err *err);
cawb_status cawb_cupti_sampler_stop(cawb_cupti_sampler *s, cawb_err *err);

/*
** After the stop: what was seen, by the lines that the cubin's debug information gives.
** CAWB_ERR_MEMORY when the buffer was full.
*/
cawb_status cawb_cupti_sampler_read(cawb_cupti_sampler *s, const void *cubin, size_t size,
                                    cawb_samples *to, cawb_err *err);

#endif
