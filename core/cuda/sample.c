/*
** sample.c - what the lines of a plan's kernels wait for: the plan is
** executed again and again while CUPTI samples. The code is loaded once more for that,
** as CUPTI only knows code that was loaded after it was asked to sample.
*/
#include "base/clock.h"
#include "cuda/device.h"

#define SELDOM 4u              /* times 16 from try to try */
#define LONGEST 24u            /* 10 ms */

/* Executions until the budget is spent; what goes ahead of each is sampled with it. */
static cawb_status execute(cawb_cuda *c, const cawb_cuda_job *j, cawb_err *err) {
  cawb_sampling *s = &j->p->sampling;
  double begun = cawb_clock_now();
  CUresult r = CUDA_SUCCESS;
  do {
    r = cawb_cuda_reset(c, j);
    if (r == CUDA_SUCCESS) r = cawb_cuda_enqueue_all(c, j->m, j->steps, j->n);
    r = cawb_cuda_wait_after(c, r);
    s->runs++;
  } while (r == CUDA_SUCCESS && s->runs < s->most && cawb_clock_now() - begun < s->budget);
  return cawb_cuda_blame(c, r, j->who, err);
}

static cawb_status watch(cawb_cuda *c, cawb_cupti_sampler *sampler, const cawb_cuda_job *j,
                         cawb_err *err) {
  cawb_sampling *s = &j->p->sampling;
  cawb_status rc = cawb_cupti_sampler_start(sampler, err);
  if (rc != CAWB_OK) return rc;
  rc = execute(c, j, err);
  if (rc != CAWB_OK) return rc;
  rc = cawb_cupti_sampler_stop(sampler, err);
  if (rc != CAWB_OK) return rc;
  return cawb_cupti_sampler_read(sampler, s->image->cubin, s->image->cubin_size, &s->seen, err);
}

/* The job on a module of its own; frees the sampler. */
static cawb_status load_and_watch(cawb_cuda *c, cawb_cupti_sampler *sampler,
                                  const cawb_cuda_job *j, cawb_err *err) {
  cawb_cuda_job again = *j;
  again.m = NULL;
  cawb_status rc = cawb_cuda_load(&c->base, j->p->sampling.image, &again.m, err);
  if (rc == CAWB_OK) rc = cawb_cuda_prepare(c, again.m, j->steps, j->n, err);
  if (rc == CAWB_OK) rc = cawb_cuda_prepare(c, again.m, j->p->before, j->p->nbefore, err);
  if (rc == CAWB_OK) rc = watch(c, sampler, &again, err);
  cawb_cupti_sampler_free(sampler);
  if (again.m != NULL) cawb_cuda_unload(&c->base, again.m);
  return rc;
}

/* Where the buffer was full, more seldom: the period is part of the answer. */
cawb_status cawb_cuda_sample(cawb_cuda *c, const cawb_cuda_job *j, cawb_err *err) {
  cawb_sampling *s = &j->p->sampling;
  cawb_cupti *library;
  cawb_cupti_sampler *sampler;
  if (s->image->cubin == NULL)
    return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "without machine code there are no lines to sample");
  cawb_status rc = cawb_cuda_cupti(c, j->p->site_packages, &library, err);
  if (rc != CAWB_OK) return rc;
  for (;; s->period += SELDOM) {
    s->runs = 0;
    rc = cawb_cupti_sampler_new(&sampler, library, c->context, s->period, s->buffer, err);
    if (rc == CAWB_OK) rc = load_and_watch(c, sampler, j, err);
    if (rc != CAWB_ERR_MEMORY || s->period + SELDOM > LONGEST) return rc;
  }
}
