/*
** count.c - hardware counters of a plan's launches: the plan is executed
** once for each pass that the metrics need. Ahead of the plan a kernel of ours reads
** through L2, inside the pass, as CUPTI itself writes to memory when one begins: that
** launch is the pass's first range and is left out.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cuda/cupti/cupti.h"
#include "cuda/device.h"

#define SWEEP_L2 2u            /* sizes of L2 that the sweep reads */
#define SWEEP_LEAST (64u << 20)  /* bytes, where L2 is small or unknown */
#define SWEEP_THREADS 256u
#define SWEEP_BLOCKS_SM 8u
#define MOST_LAUNCHES 512u     /* of one plan: each takes 200 KB of host memory to count */

struct cawb_cuda_profiler {
  cawb_cupti *library;
  cawb_cupti_session *session;
  cawb_cupti_set *set;         /* the last one asked for */
  char *asked;                 /* its names, one a line */
  CUmodule module;
  CUfunction sweep;
};

/*
** Thread i of n reads the 16-byte words i, i+n, ... of `count`. What they say only
** matters to the optimiser: they might ask for a store.
*/
static const char sweep_ptx[] =
  ".version 6.0\n.target sm_70\n.address_size 64\n"
  ".visible .entry cawb_sweep(.param .u64 from, .param .u32 count) {\n"
  "  .reg .pred %more, %never;\n  .reg .b32 %i, %n, %k, %t, %b, %a, %c, %d, %e, %or;\n"
  "  .reg .b64 %p, %at;\n"
  "  ld.param.u64 %p, [from];\n  ld.param.u32 %n, [count];\n"
  "  cvta.to.global.u64 %p, %p;\n"
  "  mov.u32 %t, %tid.x;\n  mov.u32 %b, %ctaid.x;\n  mov.u32 %k, %ntid.x;\n"
  "  mad.lo.u32 %i, %b, %k, %t;\n"
  "  mov.u32 %b, %nctaid.x;\n  mul.lo.u32 %k, %k, %b;\n  mov.u32 %or, 0;\n"
  "  setp.ge.u32 %more, %i, %n;\n  @%more bra DONE;\n"
  "NEXT:\n"
  "  mul.wide.u32 %at, %i, 16;\n  add.u64 %at, %p, %at;\n"
  "  ld.global.cg.v4.u32 {%a, %c, %d, %e}, [%at];\n"
  "  or.b32 %a, %a, %c;\n  or.b32 %d, %d, %e;\n  or.b32 %a, %a, %d;\n"
  "  or.b32 %or, %or, %a;\n"
  "  add.u32 %i, %i, %k;\n  setp.lt.u32 %more, %i, %n;\n  @%more bra NEXT;\n"
  "DONE:\n"
  "  setp.eq.u32 %never, %or, 0x5eedf00d;\n"
  "  @%never st.global.u32 [%p], %or;\n"
  "  ret;\n}\n";

typedef struct counting {
  cawb_cuda *c;
  const cawb_cuda_job *j;
  CUdeviceptr cold;            /* what the sweep reads */
  size_t size;
} counting;

/* ---- the profiler, made once ---- */

static void forget_set(cawb_cuda_profiler *f) {
  cawb_cupti_session_free(f->session);
  cawb_cupti_set_free(f->set);
  free(f->asked);
  f->session = NULL;
  f->set = NULL;
  f->asked = NULL;
}

void cawb_cuda_release_profiler(cawb_cuda *c) {
  cawb_cuda_profiler *f = c->profiler;
  if (f == NULL) return;
  forget_set(f);
  cawb_cupti_close(f->library);
  if (f->module != NULL) c->cu.cuModuleUnload(f->module);
  free(f);
  c->profiler = NULL;
}

static cawb_status load_sweep(cawb_cuda *c, cawb_cuda_profiler *f, cawb_err *err) {
  CUresult r = c->cu.cuModuleLoadDataEx(&f->module, sweep_ptx, 0, NULL, NULL);
  if (r == CUDA_SUCCESS) r = c->cu.cuModuleGetFunction(&f->sweep, f->module, "cawb_sweep");
  return cawb_cuda_check(c, r, "loading the kernel that empties L2", err);
}

static cawb_status make_profiler(cawb_cuda *c, const char *site_packages, cawb_err *err) {
  cawb_places places;
  if (c->profiler != NULL) return CAWB_OK;
  cawb_cuda_profiler *f = calloc(1, sizeof *f);
  if (f == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for counters");
  c->profiler = f;
  cawb_places_default(&places, site_packages);
  cawb_status rc = cawb_cupti_open(&f->library, &places, err);
  return rc == CAWB_OK ? load_sweep(c, f, err) : rc;
}

cawb_status cawb_cuda_cupti(cawb_cuda *c, const char *site_packages, cawb_cupti **out,
                            cawb_err *err) {
  cawb_status rc = make_profiler(c, site_packages, err);
  if (rc != CAWB_OK) return rc;
  cawb_cuda_profiler *f = c->profiler;
  cawb_cupti_session_free(f->session);
  free(f->asked);
  f->session = NULL;
  f->asked = NULL;                       /* a new session next time; the set's names stay */
  *out = f->library;
  return CAWB_OK;
}

static char *join(const char *const *list, size_t n) {
  size_t size = 1;
  for (size_t i = 0; i < n; i++) size += strlen(list[i]) + 1;
  char *text = malloc(size), *at = text;
  for (size_t i = 0; i < n && text != NULL; i++) at += sprintf(at, "%s\n", list[i]);
  if (text != NULL) *at = '\0';
  return text;
}

/*
** Mostly the same metrics are asked for again. Others need a session of their own:
** CUPTI 13.0 goes on with the schedule of a session's first set, whatever it is given.
*/
static cawb_status make_session(cawb_cuda *c, const char *const *metrics, size_t n,
                                cawb_err *err) {
  cawb_cuda_profiler *f = c->profiler;
  char *asked = join(metrics, n);
  if (asked == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for metrics");
  if (f->asked != NULL && strcmp(f->asked, asked) == 0) {
    free(asked);
    return CAWB_OK;
  }
  forget_set(f);
  f->asked = asked;
  cawb_status rc = cawb_cupti_session_new(&f->session, f->library, c->context, c->device, err);
  if (rc == CAWB_OK)
    rc = cawb_cupti_set_new(&f->set, f->library, cawb_cupti_session_chip(f->session), metrics, n,
                            err);
  return rc;
}

/* ---- passes ---- */

static cawb_status make_cold(counting *k, cawb_err *err) {
  size_t size = k->c->base.info.l2 * SWEEP_L2;
  k->size = size < SWEEP_LEAST ? SWEEP_LEAST : size;
  return cawb_cuda_check(k->c, k->c->cu.cuMemAlloc(&k->cold, k->size),
                         "no room for the buffer that empties L2", err);
}

static CUresult sweep(const counting *k) {
  struct { CUdeviceptr from; unsigned count; } args = { k->cold, (unsigned)(k->size / 16) };
  size_t size = sizeof args.from + sizeof args.count;
  void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, &args, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                    CU_LAUNCH_PARAM_END };
  CUlaunchConfig config = {
    .gridDimX = k->c->base.info.sms * SWEEP_BLOCKS_SM, .gridDimY = 1, .gridDimZ = 1,
    .blockDimX = SWEEP_THREADS, .blockDimY = 1, .blockDimZ = 1, .hStream = k->c->stream
  };
  return k->c->cu.cuLaunchKernelEx(&config, k->c->profiler->sweep, NULL, extra);
}

/* Lines that a kernel marked as persisting would survive the sweep. */
static CUresult make_ready(const counting *k) {
  CUresult r = cawb_cuda_reset(k->c, k->j);
  if (r == CUDA_SUCCESS && k->c->persisting) r = k->c->cu.cuCtxResetPersistingL2Cache();
  return r;
}

static cawb_status pass(const counting *k, int *last, cawb_err *err) {
  cawb_cupti_session *session = k->c->profiler->session;
  cawb_status rc = cawb_cuda_blame(k->c, make_ready(k), k->j->who, err);
  if (rc == CAWB_OK) rc = cawb_cupti_start(session, err);
  if (rc != CAWB_OK) return rc;
  CUresult r = sweep(k);
  if (r == CUDA_SUCCESS) r = cawb_cuda_enqueue_all(k->c, k->j->m, k->j->steps, k->j->n);
  rc = cawb_cuda_blame(k->c, cawb_cuda_wait_after(k->c, r), k->j->who, err);
  return rc == CAWB_OK ? cawb_cupti_stop(session, last, err) : rc;
}

/* More passes than planned would mean that CUPTI and we disagree on what one is. */
static cawb_status make_passes(const counting *k, cawb_err *err) {
  cawb_cuda_profiler *f = k->c->profiler;
  unsigned planned = cawb_cupti_set_passes(f->set), done = 0;
  int last = 0;
  cawb_status rc = cawb_cupti_begin(f->session, f->set, k->j->launches + 1, err);
  for (; rc == CAWB_OK && !last && done <= planned; done++) rc = pass(k, &last, err);
  if (rc == CAWB_OK && !last)
    rc = cawb_fail(err, CAWB_ERR_UNSUPPORTED, "CUPTI wants more than its %u passes", planned);
  if (rc == CAWB_OK) k->j->p->passes = done;
  return rc;
}

static cawb_status add_counts(const counting *k, unsigned launch, const cawb_step *s,
                              double *values, cawb_err *err) {
  cawb_cuda_profiler *f = k->c->profiler;
  cawb_status rc = cawb_cupti_values(f->session, launch + 1, values, err);
  for (size_t i = 0; i < cawb_cupti_set_count(f->set) && rc == CAWB_OK; i++)
    rc = cawb_profile_add(k->j->p, (cawb_profile_value){
      launch, s->kernel, cawb_cupti_set_metric(f->set, i), "cupti", values[i] }, err);
  return rc;
}

static cawb_status read_counts(const counting *k, cawb_err *err) {
  size_t ranges = 0, launch = 0;
  cawb_status rc = cawb_cupti_decode(k->c->profiler->session, &ranges, err);
  if (rc == CAWB_OK && ranges != k->j->launches + 1)
    rc = cawb_fail(err, CAWB_ERR_UNSUPPORTED, "CUPTI counted %zu launches where there were %zu",
                   ranges, k->j->launches + 1);
  if (rc != CAWB_OK) return rc;
  double *values = calloc(cawb_cupti_set_count(k->c->profiler->set), sizeof *values);
  if (values == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for counters");
  for (size_t i = 0; i < k->j->n && rc == CAWB_OK; i++)
    if (k->j->steps[i].kind == CAWB_STEP_LAUNCH)
      rc = add_counts(k, (unsigned)launch++, &k->j->steps[i], values, err);
  free(values);
  return rc;
}

/* ---- the whole ---- */

static cawb_status get_ready(cawb_cuda *c, const cawb_cuda_job *j, const char *const *metrics,
                             size_t n, cawb_err *err) {
  for (size_t i = 0; i < j->n; i++)
    if (cawb_cuda_is_library(&j->steps[i]))
      return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "the plan calls a library (%s), whose kernels "
                       "are not counted one by one", cawb_cuda_step_name(&j->steps[i]));
  if (j->launches > MOST_LAUNCHES)
    return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "the plan makes %zu launches; at most %u are "
                     "counted", j->launches, MOST_LAUNCHES);
  double begun = cawb_clock_now();
  cawb_status rc = make_profiler(c, j->p->site_packages, err);
  if (rc == CAWB_OK) rc = make_session(c, metrics, n, err);
  j->p->setup = cawb_clock_now() - begun;
  return rc;
}

cawb_status cawb_cuda_count(cawb_cuda *c, const cawb_cuda_job *j, const char *const *metrics,
                            size_t n, cawb_err *err) {
  counting k = { .c = c, .j = j };
  cawb_status rc = get_ready(c, j, metrics, n, err);
  if (rc == CAWB_OK) rc = make_cold(&k, err);
  if (rc == CAWB_OK) rc = make_passes(&k, err);
  if (rc == CAWB_OK) rc = read_counts(&k, err);
  if (k.cold != 0) c->cu.cuMemFree(k.cold);
  if (rc != CAWB_OK) cawb_cuda_release_profiler(c);     /* whatever state it is in */
  return rc;
}
