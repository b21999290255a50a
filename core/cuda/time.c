/*
** time.c - samples of a plan's time with a cold L2 cache.
**
** The plan is captured once into a graph. A sample is: flush, event, graph, event,
** all put on the stream at once and only then waited for. While the flush runs, the
** host gets the rest queued, so the time between the events holds no host latency;
** that the flush was still running is checked, not assumed. Samples are raw: no
** overhead is subtracted and none but those disturbed by the host are dropped.
*/
#include <stdlib.h>

#include "base/clock.h"
#include "cuda/device.h"

#define FEWEST_SAMPLES 10u     /* taken however small the budget: fewer have no median */
#define FLUSH_L2 2u            /* sizes of L2 that one flush writes */
#define FLUSH_LEAST (64u << 20)  /* bytes, where L2 is small or unknown */
#define MOST_THROTTLED 3u      /* samples thrown away for each that is wanted */
#define LONG_ENOUGH 0.1        /* seconds of calls that are no samples */
#define MOST_FLUSHES 16u       /* in one sample; a host slower than that is not waited for */

/* ---- the flush ---- */

/*
** A buffer of at least twice L2. Lines that a kernel marked as persisting survive
** a flush, so these are reset before each sample (see take_sample).
*/
static cawb_status make_flush(cawb_cuda *c, cawb_err *err) {
  size_t size = c->base.info.l2 * FLUSH_L2;
  if (c->flush != 0) return CAWB_OK;
  if (size < FLUSH_LEAST) size = FLUSH_LEAST;
  cawb_status s = cawb_cuda_check(c, c->cu.cuMemAlloc(&c->flush, size),
                                  "no room for the buffer that flushes L2", err);
  if (s == CAWB_OK) c->flush_size = size;
  return s;
}

static CUresult flush(cawb_cuda *c, unsigned times) {
  CUresult r = CUDA_SUCCESS;
  for (unsigned i = 0; i < times && r == CUDA_SUCCESS; i++)
    r = c->cu.cuMemsetD32Async(c->flush, i, c->flush_size / 4, c->stream);
  return r;
}

/* ---- the graph ---- */

/* What is enqueued between begin and end is recorded, not run. */
static cawb_status capture(cawb_cuda *c, cawb_module *m, const cawb_step *steps, size_t n,
                           CUgraph *out, cawb_err *err) {
  const char *who = cawb_cuda_plan_name(steps, n);
  CUresult r = c->cu.cuStreamBeginCapture(c->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  if (r != CUDA_SUCCESS) return cawb_cuda_check(c, r, "recording the plan", err);
  for (size_t i = 0; i < n && r == CUDA_SUCCESS; i++) {
    r = cawb_cuda_enqueue(c, m, &steps[i]);
    if (r != CUDA_SUCCESS) who = cawb_cuda_step_name(&steps[i]);
  }
  CUresult end = c->cu.cuStreamEndCapture(c->stream, out);
  cawb_status s = cawb_cuda_blame(c, r != CUDA_SUCCESS ? r : end, who, err);
  if (s != CAWB_OK && *out != NULL) {
    c->cu.cuGraphDestroy(*out);
    *out = NULL;
  }
  return s;
}

static cawb_status make_graph(cawb_cuda *c, cawb_module *m, const cawb_step *steps, size_t n,
                              CUgraphExec *out, cawb_err *err) {
  CUgraph graph = NULL;
  cawb_status s = capture(c, m, steps, n, &graph, err);
  if (s != CAWB_OK) return s;
  CUresult r = c->cu.cuGraphInstantiate(out, graph, 0);
  c->cu.cuGraphDestroy(graph);
  s = cawb_cuda_blame(c, r, cawb_cuda_plan_name(steps, n), err);
  if (s != CAWB_OK) return s;
  s = cawb_cuda_check(c, c->cu.cuGraphUpload(*out, c->stream), "uploading the plan", err);
  if (s == CAWB_OK) return s;
  c->cu.cuGraphExecDestroy(*out);
  *out = NULL;
  return s;
}

/* ---- samples ---- */

typedef struct graphs {
  CUgraphExec reset, plan;     /* reset is NULL where nothing goes ahead of a run */
  cawb_module *module;
} graphs;

/* What goes ahead of every run, so that none finds the results of another. */
static CUresult reset(cawb_cuda *c, const graphs *g) {
  CUresult r = cawb_cuda_globals_restore(c, g->module);
  if (r == CUDA_SUCCESS && g->reset != NULL) r = c->cu.cuGraphLaunch(g->reset, c->stream);
  return r;
}

/* A tenth of a second of calls warms as well, and says as much of the launch, as a minute. */
static int worth_another(unsigned done, unsigned wanted, double begun) {
  return done < wanted && (done == 0 || cawb_clock_now() - begun < LONG_ENOUGH);
}

/* The flush too: what is used for the first time is loaded then. */
static CUresult warm_up(cawb_cuda *c, const graphs *g, unsigned runs) {
  double begun = cawb_clock_now();
  CUresult r = flush(c, 1), end = CUDA_SUCCESS;
  for (unsigned i = 0; r == CUDA_SUCCESS && worth_another(i, runs, begun); i++) {
    r = reset(c, g);
    if (r == CUDA_SUCCESS) r = c->cu.cuGraphLaunch(g->plan, c->stream);
    end = c->cu.cuStreamSynchronize(c->stream);
    if (r == CUDA_SUCCESS) r = end;
  }
  end = c->cu.cuStreamSynchronize(c->stream);
  return r != CUDA_SUCCESS ? r : end;
}

static CUresult enqueue_sample(cawb_cuda *c, const graphs *g, unsigned flushes) {
  cawb_cuda_driver *cu = &c->cu;
  CUresult r = reset(c, g);
  if (r == CUDA_SUCCESS) r = cawb_cuda_clock_read(c, 0);
  if (r == CUDA_SUCCESS && c->persisting) r = cu->cuCtxResetPersistingL2Cache();
  if (r == CUDA_SUCCESS) r = flush(c, flushes);
  if (r == CUDA_SUCCESS) r = cu->cuEventRecord(c->start, c->stream);
  if (r == CUDA_SUCCESS) r = cu->cuGraphLaunch(g->plan, c->stream);
  if (r == CUDA_SUCCESS) r = cu->cuEventRecord(c->stop, c->stream);
  return r == CUDA_SUCCESS ? cawb_cuda_clock_read(c, 1) : r;
}

/* What the sample wrote, to its own places: on the stream, ahead of the next reset. */
static CUresult save(cawb_cuda *c, const cawb_timing *t) {
  CUresult r = CUDA_SUCCESS;
  for (size_t i = 0; i < t->nsave && r == CUDA_SUCCESS; i++) {
    const cawb_save *s = &t->save[i];
    r = c->cu.cuMemcpyDtoDAsync(s->to + t->count * s->stride, s->from, s->size, c->stream);
  }
  return r == CUDA_SUCCESS && t->nsave > 0 ? c->cu.cuStreamSynchronize(c->stream) : r;
}

/* `late`: the GPU had done with the flush before everything was queued. */
static CUresult take_sample(cawb_cuda *c, const graphs *g, unsigned flushes,
                            double *seconds, int *late) {
  float ms = 0;
  CUresult r = enqueue_sample(c, g, flushes);
  *late = r == CUDA_SUCCESS && c->cu.cuEventQuery(c->start) == CUDA_SUCCESS;
  CUresult end = c->cu.cuStreamSynchronize(c->stream);
  if (r == CUDA_SUCCESS) r = end;
  if (r == CUDA_SUCCESS) r = c->cu.cuEventElapsedTime(&ms, c->start, c->stop);
  *seconds = (double)ms * 1e-3;
  return r;
}

static int enough(const cawb_timing *t, double begun) {
  if (t->count >= t->max_samples) return 1;
  return t->count >= FEWEST_SAMPLES && !(cawb_clock_now() - begun < t->budget);
}

/*
** Whether a sample counts. On a card that stays slow (a power limit) the clock of a moment
** ago is no measure: after so many in a row they are taken as they come.
*/
static int throttled(cawb_cuda *c, cawb_timing *t, double clock) {
  if (clock > c->highest_clock) c->highest_clock = clock;
  if (!(clock > 0 && clock < t->slowest * c->highest_clock)) return 0;
  return ++t->throttled <= MOST_THROTTLED * t->max_samples;
}

static CUresult keep(cawb_cuda *c, cawb_timing *t, double seconds) {
  double clock = 0;
  CUresult r = cawb_cuda_clock_get(c, &clock);
  if (r != CUDA_SUCCESS || throttled(c, t, clock)) return r;
  r = save(c, t);
  if (r != CUDA_SUCCESS) return r;
  t->samples[t->count] = seconds;
  if (t->clocks != NULL) t->clocks[t->count] = clock;
  t->count++;
  return r;
}

static CUresult sample(cawb_cuda *c, const graphs *g, cawb_timing *t) {
  double begun = cawb_clock_now();
  unsigned flushes = 1;
  CUresult r = warm_up(c, g, t->warmup);
  while (r == CUDA_SUCCESS && !enough(t, begun)) {
    double seconds = 0;
    int late = 0;
    r = take_sample(c, g, flushes, &seconds, &late);
    if (late && flushes < MOST_FLUSHES) flushes *= 2;
    else if (r == CUDA_SUCCESS) r = keep(c, t, seconds);
  }
  return r;
}

/* ---- as a host sees it ---- */

/* One call without a graph, started and waited for; warm, after an untimed reset. */
static CUresult call_once(cawb_cuda *c, const graphs *g, const cawb_step *steps, size_t n,
                          double *seconds) {
  CUresult r = reset(c, g), end = c->cu.cuStreamSynchronize(c->stream);
  if (r == CUDA_SUCCESS) r = end;
  double from = cawb_clock_now();
  if (r == CUDA_SUCCESS) r = cawb_cuda_enqueue_all(c, g->module, steps, n);
  r = cawb_cuda_wait_after(c, r);
  *seconds = cawb_clock_now() - from;
  return r;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double cawb_cuda_median(double *values, size_t n) {
  qsort(values, n, sizeof *values, by_value);
  return values[n / 2];
}

static cawb_status launch_bound(cawb_cuda *c, const graphs *g, const cawb_step *steps, size_t n,
                                cawb_timing *t, cawb_err *err) {
  CUresult r = CUDA_SUCCESS;
  if (t->launch_calls == 0) return CAWB_OK;
  double *seconds = calloc(t->launch_calls, sizeof *seconds);
  if (seconds == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for samples");
  double begun = cawb_clock_now();
  unsigned done = 0;
  while (r == CUDA_SUCCESS && worth_another(done, t->launch_calls, begun))
    r = call_once(c, g, steps, n, &seconds[done++]);
  t->launch_bound = cawb_cuda_median(seconds, done);
  free(seconds);
  return cawb_cuda_blame(c, r, cawb_cuda_plan_name(steps, n), err);
}

static cawb_status make_graphs(cawb_cuda *c, cawb_module *m, const cawb_step *steps, size_t n,
                               const cawb_timing *t, graphs *g, cawb_err *err) {
  cawb_status s = cawb_cuda_prepare(c, m, steps, n, err);
  if (s == CAWB_OK && t->nbefore > 0) s = cawb_cuda_prepare(c, m, t->before, t->nbefore, err);
  if (s == CAWB_OK) s = make_graph(c, m, steps, n, &g->plan, err);
  if (s == CAWB_OK && t->nbefore > 0)
    s = make_graph(c, m, t->before, t->nbefore, &g->reset, err);
  return s;
}

cawb_status cawb_cuda_time(cawb_device *d, cawb_module *m, const cawb_step *steps, size_t n,
                           cawb_timing *t, cawb_err *err) {
  cawb_cuda *c = (cawb_cuda *)d;
  const char *who = cawb_cuda_plan_name(steps, n);
  graphs g = { NULL, NULL, m };
  cawb_status s = cawb_cuda_enter(c, err);
  t->count = t->throttled = 0;
  t->launch_bound = 0;
  if (s == CAWB_OK) s = make_flush(c, err);
  if (s == CAWB_OK) s = cawb_cuda_clock_make(c, err);
  if (s == CAWB_OK) s = make_graphs(c, m, steps, n, t, &g, err);
  if (s == CAWB_OK) s = cawb_cuda_blame(c, sample(c, &g, t), who, err);
  if (s == CAWB_OK) s = launch_bound(c, &g, steps, n, t, err);
  if (g.reset != NULL) c->cu.cuGraphExecDestroy(g.reset);
  if (g.plan != NULL) c->cu.cuGraphExecDestroy(g.plan);
  return s == CAWB_OK ? cawb_cuda_guard_check(c, who, err) : s;
}
