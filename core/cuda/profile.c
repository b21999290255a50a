/*
** profile.c - what is known of a plan's launches: facts of their code,
** hardware counters where they can be had (count.c), else their times (events.c).
** The plan is first executed once as it is, so that a fault is found with nothing
** else under way.
*/
#include <stdio.h>

#include "base/clock.h"
#include "cuda/device.h"

#define WARP 32

/* Library calls count as launches: their kernels are the library's affair. */
static size_t count_launches(const cawb_step *steps, size_t n) {
  size_t launches = 0;
  for (size_t i = 0; i < n; i++) launches += steps[i].kind != CAWB_STEP_FILL;
  return launches;
}

/* ---- what the code says ---- */

typedef struct occupancy {
  int blocks;                  /* of the launch on one multiprocessor, clusters aside */
  int local;                   /* bytes a thread spills or indexes in local memory */
  int warps;                   /* most on one multiprocessor */
} occupancy;

static CUresult read_occupancy(cawb_cuda *c, const cawb_step *s, const cawb_cuda_function *f,
                               occupancy *o) {
  int threads = (int)(s->block[0] * s->block[1] * s->block[2]), most = 0;
  CUresult r = c->cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&o->blocks, f->handle, threads,
                                                                 s->shared);
  if (r == CUDA_SUCCESS)
    r = c->cu.cuFuncGetAttribute(&o->local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f->handle);
  if (r == CUDA_SUCCESS)
    r = c->cu.cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
                                   c->device);
  o->warps = most / WARP;
  return r;
}

static cawb_status add_facts(cawb_profile *p, unsigned launch, const cawb_step *s,
                             const cawb_cuda_function *f, const occupancy *o, cawb_err *err) {
  double threads = (double)s->block[0] * s->block[1] * s->block[2];
  unsigned block_warps = ((unsigned)threads + WARP - 1) / WARP;
  double warps = (double)o->blocks * block_warps;
  const struct { const char *name; double value; } facts[] = {
    { "blocks", (double)s->grid[0] * s->grid[1] * s->grid[2] },
    { "threads_per_block", threads }, { "registers", f->registers },
    { "shared_bytes", (double)f->shared + (double)s->shared }, { "local_bytes", o->local },
    { "blocks_per_sm", o->blocks }, { "occupancy", o->warps > 0 ? warps / o->warps : 0 }
  };
  cawb_status rc = CAWB_OK;
  for (size_t i = 0; i < sizeof facts / sizeof *facts && rc == CAWB_OK; i++)
    rc = cawb_profile_add(p, (cawb_profile_value){
      launch, s->kernel, facts[i].name, "driver", facts[i].value }, err);
  return rc;
}

static cawb_status state_facts(cawb_cuda *c, cawb_module *m, unsigned launch,
                               const cawb_step *s, cawb_profile *p, cawb_err *err) {
  cawb_cuda_function *f = NULL;
  occupancy o = { 0 };
  cawb_status rc = cawb_cuda_function_get(c, m, s->kernel, &f, err);
  if (rc == CAWB_OK) rc = cawb_cuda_blame(c, read_occupancy(c, s, f, &o), s->kernel, err);
  return rc == CAWB_OK ? add_facts(p, launch, s, f, &o, err) : rc;
}

/* ---- execution ---- */

CUresult cawb_cuda_enqueue_all(cawb_cuda *c, cawb_module *m, const cawb_step *steps, size_t n) {
  CUresult r = CUDA_SUCCESS;
  for (size_t i = 0; i < n && r == CUDA_SUCCESS; i++) r = cawb_cuda_enqueue(c, m, &steps[i]);
  return r;
}

CUresult cawb_cuda_wait_after(cawb_cuda *c, CUresult r) {
  CUresult end = c->cu.cuStreamSynchronize(c->stream);
  return r != CUDA_SUCCESS ? r : end;
}

CUresult cawb_cuda_reset(cawb_cuda *c, const cawb_cuda_job *j) {
  CUresult r = cawb_cuda_globals_restore(c, j->m);
  if (r == CUDA_SUCCESS) r = cawb_cuda_enqueue_all(c, j->m, j->p->before, j->p->nbefore);
  return cawb_cuda_wait_after(c, r);
}

/* ---- the whole ---- */

static cawb_status state_all_facts(cawb_cuda *c, const cawb_cuda_job *j, cawb_err *err) {
  unsigned launch = 0;
  cawb_status rc = CAWB_OK;
  for (size_t i = 0; i < j->n && rc == CAWB_OK; i++) {
    if (j->steps[i].kind == CAWB_STEP_LAUNCH)
      rc = state_facts(c, j->m, launch, &j->steps[i], j->p, err);
    launch += j->steps[i].kind != CAWB_STEP_FILL;
  }
  return rc;
}

/* Counters that cannot be had are no failure; those half read are not shown. */
static int tolerable(const cawb_cuda *c, cawb_status rc) {
  return !c->base.lost && (rc == CAWB_ERR_MISSING || rc == CAWB_ERR_UNSUPPORTED ||
                           rc == CAWB_ERR_MEMORY);
}

static cawb_status count_or_time(cawb_cuda *c, const cawb_cuda_job *j, const char *const *metrics,
                                 size_t n, cawb_err *err) {
  size_t facts = j->p->count;
  cawb_err why = { CAWB_OK, "" };
  cawb_status rc = cawb_cuda_count(c, j, metrics, n, &why);
  if (tolerable(c, rc)) {
    j->p->passes = 0;
    j->p->count = facts;
    snprintf(j->p->note, sizeof j->p->note, "%s", why.msg);
    return cawb_cuda_time_launches(c, j, err);
  }
  if (rc != CAWB_OK && err != NULL) *err = why;
  return rc;
}

/* As counters, what cannot be sampled is a note. */
static cawb_status sample(cawb_cuda *c, const cawb_cuda_job *j, cawb_err *err) {
  cawb_err why = { CAWB_OK, "" };
  cawb_status rc = cawb_cuda_sample(c, j, &why);
  if (tolerable(c, rc)) {
    cawb_lines_free(&j->p->sampling.seen.lines);
    snprintf(j->p->sampling.note, sizeof j->p->sampling.note, "%s", why.msg);
    return CAWB_OK;
  }
  if (rc != CAWB_OK && err != NULL) *err = why;
  return rc;
}

static cawb_status profile_each(cawb_cuda *c, const cawb_cuda_job *j, const char *const *metrics, size_t n,
                                cawb_err *err) {
  cawb_status rc = cawb_cuda_prepare(c, j->m, j->p->before, j->p->nbefore, err);
  if (rc == CAWB_OK) rc = state_all_facts(c, j, err);
  if (rc == CAWB_OK && j->launches > 0) rc = count_or_time(c, j, metrics, n, err);
  if (rc == CAWB_OK && j->launches > 0 && j->p->sampling.image != NULL) rc = sample(c, j, err);
  return rc;
}

/* Each launch for itself: none begins while another one ends. */
cawb_status cawb_cuda_profile(cawb_device *d, cawb_module *m, const cawb_step *steps, size_t n,
                              const char *const *metrics, size_t nmetrics, cawb_profile *p,
                              cawb_err *err) {
  cawb_cuda *c = (cawb_cuda *)d;
  cawb_cuda_job j = { m, steps, n, count_launches(steps, n), cawb_cuda_plan_name(steps, n), p };
  double begun = cawb_clock_now();
  cawb_report ignored;
  int dependents = c->dependents;
  cawb_status rc = cawb_cuda_run(d, m, steps, n, &ignored, err);
  c->dependents = 0;
  if (rc == CAWB_OK) rc = profile_each(c, &j, metrics, nmetrics, err);
  c->dependents = dependents;
  if (rc == CAWB_OK) rc = cawb_cuda_guard_check(c, j.who, err);
  p->seconds = cawb_clock_now() - begun - p->setup;
  return rc;
}
