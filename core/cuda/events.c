/*
** events.c - the time of each launch, by events, where there are no counters.
**
** A kernel that only waits goes ahead of a batch of launches. While it waits, the host
** puts the launches on the stream, with an event behind each, so that the time between
** two events holds no host latency. It does hold an event and the gap between two kernels,
** 3.7 us on an H200, where a graph has 0.9 us. The time of kernels that do nothing, in the
** same queue, is subtracted for that. Caches are as the launch before left them.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device.h"

#define BATCH 128u             /* launches in one queue: the driver's holds about 1,000 commands */
#define EMPTY 8u               /* kernels that do nothing, ahead of them */
#define RUNS 5u                /* of the plan; the median counts */
#define MOST_LATE 5u           /* runs that the host did not queue in time, and that are repeated */
#define A_LAUNCH 20e-6         /* seconds that the host may take for a launch and its event */

/* wait(ns): one thread looks at the time until so many nanoseconds have passed. nothing(): it ends. */
static const char wait_ptx[] =
  ".version 7.0\n.target sm_50\n.address_size 64\n"
  ".visible .entry wait(.param .u64 ns)\n{\n"
  ".reg .pred %p; .reg .b64 %n, %begun, %now;\n"
  "ld.param.u64 %n, [ns];\n"
  "mov.u64 %begun, %globaltimer;\n"
  "again:\n"
  "mov.u64 %now, %globaltimer;\n"
  "sub.u64 %now, %now, %begun;\n"
  "setp.lt.u64 %p, %now, %n;\n"
  "@%p bra again;\n"
  "ret;\n}\n"
  ".visible .entry nothing()\n{\nret;\n}\n";

typedef struct queue {
  CUmodule module;
  CUfunction wait, nothing;
  CUevent at[EMPTY + BATCH + 1];                   /* ahead of the first launch, and behind each */
  double patience;             /* seconds a launch; doubled where the host was late */
  int late;                    /* 1: in this run */
  double empty;                /* seconds of a kernel that does nothing: the median of a batch, the least of all batches */
  double *seconds;             /* launches x RUNS */
} queue;

static void close_queue(cawb_cuda *c, queue *q) {
  for (size_t i = 0; i <= EMPTY + BATCH; i++)
    if (q->at[i] != NULL) c->cu.cuEventDestroy(q->at[i]);
  if (q->module != NULL) c->cu.cuModuleUnload(q->module);
  free(q->seconds);
}

static CUresult open_queue(cawb_cuda *c, queue *q) {
  CUresult r = c->cu.cuModuleLoadDataEx(&q->module, wait_ptx, 0, NULL, NULL);
  if (r == CUDA_SUCCESS) r = c->cu.cuModuleGetFunction(&q->wait, q->module, "wait");
  if (r == CUDA_SUCCESS) r = c->cu.cuModuleGetFunction(&q->nothing, q->module, "nothing");
  for (size_t i = 0; i <= EMPTY + BATCH && r == CUDA_SUCCESS; i++)
    r = c->cu.cuEventCreate(&q->at[i], CU_EVENT_DEFAULT);
  return r;
}

/* A kernel of one thread. */
static CUresult enqueue_one(cawb_cuda *c, CUfunction f, void **args) {
  CUlaunchConfig config;
  memset(&config, 0, sizeof config);
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = c->stream;
  return c->cu.cuLaunchKernelEx(&config, f, args, NULL);
}

static CUresult enqueue_wait(cawb_cuda *c, const queue *q, double seconds) {
  uint64_t ns = (uint64_t)(seconds * 1e9);
  void *args[] = { &ns };
  return enqueue_one(c, q->wait, args);
}

/* The kernels that do nothing, then the batch; an event behind each. */
static CUresult enqueue_batch(cawb_cuda *c, queue *q, cawb_module *m, const cawb_step *steps,
                              size_t n) {
  CUresult r = enqueue_wait(c, q, q->patience * (double)(EMPTY + n + 1));
  if (r == CUDA_SUCCESS) r = c->cu.cuEventRecord(q->at[0], c->stream);
  for (size_t i = 0; i < EMPTY + n && r == CUDA_SUCCESS; i++) {
    r = i < EMPTY ? enqueue_one(c, q->nothing, NULL) : cawb_cuda_enqueue(c, m, &steps[i - EMPTY]);
    if (r == CUDA_SUCCESS) r = c->cu.cuEventRecord(q->at[i + 1], c->stream);
  }
  if (r == CUDA_SUCCESS && c->cu.cuEventQuery(q->at[0]) == CUDA_SUCCESS) q->late = 1;
  return cawb_cuda_wait_after(c, r);
}

/* `seconds`: of the batch's first step in this run. */
static CUresult time_batch(cawb_cuda *c, queue *q, cawb_module *m, const cawb_step *steps,
                           size_t n, double *seconds) {
  double empty[EMPTY];
  CUresult r = enqueue_batch(c, q, m, steps, n);
  for (size_t i = 0; i < EMPTY + n && r == CUDA_SUCCESS; i++) {
    float ms = 0;
    r = c->cu.cuEventElapsedTime(&ms, q->at[i], q->at[i + 1]);
    *(i < EMPTY ? &empty[i] : &seconds[(i - EMPTY) * RUNS]) = (double)ms * 1e-3;
  }
  if (r != CUDA_SUCCESS) return r;
  double middle = cawb_cuda_median(empty, EMPTY);
  if (q->empty == 0 || middle < q->empty) q->empty = middle;
  return r;
}

static CUresult time_run(cawb_cuda *c, queue *q, const cawb_cuda_job *j, unsigned run) {
  CUresult r = cawb_cuda_reset(c, j);
  q->late = 0;
  for (size_t i = 0; i < j->n && r == CUDA_SUCCESS; i += BATCH) {
    size_t n = j->n - i < BATCH ? j->n - i : BATCH;
    r = time_batch(c, q, j->m, &j->steps[i], n, &q->seconds[i * RUNS + run]);
  }
  if (q->late) q->patience *= 2;
  return r;
}

static CUresult time_runs(cawb_cuda *c, queue *q, const cawb_cuda_job *j) {
  CUresult r = CUDA_SUCCESS;
  for (unsigned run = 0, late = 0; run < RUNS && r == CUDA_SUCCESS; run++) {
    do r = time_run(c, q, j, run);
    while (r == CUDA_SUCCESS && q->late && late++ < MOST_LATE);
  }
  return r;
}

static double beyond(double seconds, double empty) { return seconds > empty ? seconds - empty : 0; }

static cawb_status add_medians(const queue *q, const cawb_cuda_job *j, cawb_err *err) {
  unsigned launch = 0;
  cawb_status rc = CAWB_OK;
  for (size_t i = 0; i < j->n && rc == CAWB_OK; i++) {
    if (j->steps[i].kind == CAWB_STEP_FILL) continue;
    rc = cawb_profile_add(j->p, (cawb_profile_value){
      launch++, cawb_cuda_step_name(&j->steps[i]), "seconds", "events",
      beyond(cawb_cuda_median(&q->seconds[i * RUNS], RUNS), q->empty) }, err);
  }
  size_t n = strlen(j->p->note);
  snprintf(j->p->note + n, sizeof j->p->note - n, "%sthe time of a launch is what it takes beyond an empty "
           "kernel in the same queue, which takes %.2f us", n > 0 ? "; " : "", q->empty * 1e6);
  return rc;
}

cawb_status cawb_cuda_time_launches(cawb_cuda *c, const cawb_cuda_job *j, cawb_err *err) {
  queue q = { .patience = A_LAUNCH, .seconds = calloc(j->n * RUNS, sizeof(double)) };
  cawb_status rc = q.seconds == NULL ? cawb_fail(err, CAWB_ERR_MEMORY, "no room for the times of %zu launches", j->n)
    : cawb_cuda_check(c, open_queue(c, &q), "preparing to time launches", err);
  if (rc == CAWB_OK) rc = cawb_cuda_blame(c, time_runs(c, &q, j), j->who, err);
  if (rc == CAWB_OK) rc = add_medians(&q, j, err);
  close_queue(c, &q);
  return rc;
}
