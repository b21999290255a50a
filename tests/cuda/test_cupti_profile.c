/*
** test_cupti_profile.c - what the GPU device makes of hardware counters, without a
** GPU: against test doubles of the driver and of CUPTI, built beside this.
*/
#include "cuda/device.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#ifdef CAWB_FAKE_CUPTI
#include <cupti_result.h>

#include "fake_cuda.h"
#include "fake_cupti.h"

static fake_cuda *cuda;
static fake_cupti *cupti;

typedef struct poke_args { cawb_addr at; uint32_t value; } poke_args;
typedef struct bench {
  cawb_device *d;
  cawb_module *m;
  cawb_addr y;
  poke_args args;
  cawb_step steps[3];          /* a fill and two launches */
  cawb_profile p;
  cawb_err err;
} bench;

static cawb_step launch(const char *kernel, const poke_args *args) {
  return (cawb_step){ .kind = CAWB_STEP_LAUNCH, .kernel = kernel, .grid = { 6, 2, 1 },
                      .block = { 96, 1, 1 }, .cluster = { 1, 1, 1 }, .args = args,
                      .args_size = args != NULL ? sizeof *args : 0 };
}

static int says(const char *text, const char *part) {
  if (strstr(text, part) != NULL) return 1;
  fprintf(stderr, "no '%s' in: %s\n", part, text);
  return 0;
}

static int begin(bench *b) {
  memset(b, 0, sizeof *b);
  memset(cuda, 0, sizeof *cuda);
  memset(cupti, 0, sizeof *cupti);
  cupti->launches = &cuda->launches;
  cupti->passes = 3;
  cupti->supported = 1;
  CHECK(cawb_cuda_open(&b->d, "0", CAWB_FAKE_CUDA, &b->err) == CAWB_OK);
  if (b->d == NULL) return 0;
  CHECK(cawb_device_load(b->d, &(cawb_image){ .ptx = "good" }, &b->m, &b->err) == CAWB_OK);
  CHECK(cawb_device_alloc(b->d, 300, "outputs[1]", &b->y, &b->err) == CAWB_OK);
  b->args = (poke_args){ b->y, 7 };
  b->steps[0] = (cawb_step){ .kind = CAWB_STEP_FILL, .addr = b->y, .size = 300 };
  b->steps[1] = launch("poke", &b->args);
  b->steps[2] = launch("heavy", NULL);
  b->steps[2].shared = 2048;
  return 1;
}

static void end(bench *b) {
  cawb_profile_free(&b->p);
  cawb_device_close(b->d);
  CHECK(cuda->live == 0 && cupti->live == 0);
}

static cawb_status profile(bench *b, size_t nmetrics) {
  static const char *const metrics[] = { "time.sum", "nothing.sum", "bytes.sum" };
  cawb_profile_free(&b->p);
  return cawb_device_profile(b->d, b->m, b->steps, 3, metrics, nmetrics, &b->p, &b->err);
}

/* A value by launch and name; NaN where there is none. */
static double value(const bench *b, unsigned at, const char *metric, const char *source) {
  for (size_t i = 0; i < b->p.count; i++) {
    const cawb_profile_value *v = &b->p.list[i];
    if (v->launch == at && strcmp(v->metric, metric) == 0 && strcmp(v->source, source) == 0)
      return v->value;
  }
  return (double)NAN;
}

static void test_every_pass_runs_the_plan(void) {
  bench b;
  if (!begin(&b)) return;
  CHECK(profile(&b, 3) == CAWB_OK && b.p.note[0] == '\0' && b.p.passes == 3);
  CHECK(cupti->starts == 3 && cupti->most == 3);
  CHECK(cuda->launches == 2 + 3 * 3);    /* once as it is; with the sweep in each pass */
  CHECK(cuda->resets == 3);
  CHECK(profile(&b, 3) == CAWB_OK && cupti->starts == 6 && b.p.passes == 3);
  end(&b);
}

static void test_each_launch_gets_its_own_counts(void) {
  bench b;
  if (!begin(&b)) return;
  CHECK(profile(&b, 3) == CAWB_OK);
  CHECK(value(&b, 0, "time.sum", "cupti") == 100 && value(&b, 0, "bytes.sum", "cupti") == 101);
  CHECK(value(&b, 1, "time.sum", "cupti") == 200 && value(&b, 1, "bytes.sum", "cupti") == 201);
  CHECK(isnan(value(&b, 0, "nothing.sum", "cupti")));
  CHECK(strcmp(b.p.list[0].kernel, "poke") == 0);
  CHECK(strcmp(b.p.list[b.p.count - 1].kernel, "heavy") == 0);
  CHECK(profile(&b, 1) == CAWB_OK && value(&b, 1, "time.sum", "cupti") == 200);
  CHECK(isnan(value(&b, 1, "bytes.sum", "cupti")));     /* another set than before */
  end(&b);
}

static void test_facts_of_the_code(void) {
  bench b;
  if (!begin(&b)) return;
  CHECK(profile(&b, 3) == CAWB_OK);
  CHECK(value(&b, 0, "blocks", "driver") == 12);
  CHECK(value(&b, 0, "threads_per_block", "driver") == 96);
  CHECK(value(&b, 0, "registers", "driver") == 32 && value(&b, 0, "local_bytes", "driver") == 8);
  CHECK(value(&b, 0, "shared_bytes", "driver") == 0);
  CHECK(value(&b, 1, "shared_bytes", "driver") == 1024 + 2048);
  CHECK(value(&b, 0, "blocks_per_sm", "driver") == 2);
  CHECK(value(&b, 0, "occupancy", "driver") == 2 * 3 / 64.0);
  end(&b);
}

static void test_steps_go_ahead_of_every_pass(void) {
  bench b;
  if (!begin(&b)) return;
  cawb_step before = { .kind = CAWB_STEP_FILL, .addr = b.y, .size = 4, .pattern = 1 };
  unsigned from = cuda->memsets;
  b.p.before = &before;
  b.p.nbefore = 1;
  CHECK(profile(&b, 3) == CAWB_OK && cuda->memsets - from == 1 + 3 * 2);
  CHECK(cupti->ranges == 3);
  end(&b);
}

/* One step of the ladder down: the reason in words, times by events. */
static void without_counters(bench *b, const char *reason) {
  CHECK(profile(b, 3) == CAWB_OK && says(b->p.note, reason) && b->p.passes == 0);
  CHECK(isnan(value(b, 0, "time.sum", "cupti")));
  CHECK(value(b, 0, "seconds", "events") == 0.25e-3 - 0.0625e-3);
  CHECK(value(b, 1, "seconds", "events") == 0.25e-3 - 0.0625e-3);
  CHECK(says(b->p.note, "beyond an empty kernel in the same queue, which takes 62.50 us"));
  CHECK(value(b, 1, "registers", "driver") == 32);
  CHECK(cupti->live == 0);
}

static void test_refusals(void) {
  const struct { const char *function; int result; const char *says; } cases[] = {
    { "Enable", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "NVreg_RestrictProfilingToAdminUsers=0" },
    { "Start", CUPTI_ERROR_HARDWARE_BUSY, "another profiler (ncu, nsys, DCGM)" },
    { "ProfilerInitialize", CUPTI_ERROR_UNKNOWN, "CUPTI: starting: error 999" },
    { "SetConfig", CUPTI_ERROR_UNKNOWN, "setting up the passes" },
    { "Stop", CUPTI_ERROR_UNKNOWN, "ending a pass" },
    { "DecodeData", CUPTI_ERROR_UNKNOWN, "reading the counters" },
    { "EvaluateToGpuValues", CUPTI_ERROR_UNKNOWN, "computing the metrics" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bench b;
    if (!begin(&b)) return;
    cupti->fail = cases[i].function;
    cupti->fail_with = cases[i].result;
    without_counters(&b, cases[i].says);
    cupti->fail = NULL;                  /* granted later: it is tried again */
    CHECK(profile(&b, 3) == CAWB_OK && b.p.passes == 3 && b.p.note[0] == '\0');
    end(&b);
  }
}

static void test_odd_answers(void) {
  bench b;
  if (!begin(&b)) return;
  cupti->supported = 0;
  without_counters(&b, "confidential computing is on");
  cupti->supported = 1;
  cupti->dropped = 2;
  without_counters(&b, "dropped the counters of 2 launches");
  cupti->dropped = 0;
  cupti->bad_range = 2;                  /* the first launch's counts are dropped, too */
  without_counters(&b, "computing the metrics");
  cupti->bad_range = 0;
  unsigned other = 0;
  cupti->launches = &other;
  without_counters(&b, "counted 0 launches where there were 3");
  end(&b);
}

static void test_no_such_metric(void) {
  bench b;
  if (!begin(&b)) return;
  static const char *const metrics[] = { "nothing.sum" };
  CHECK(cawb_device_profile(b.d, b.m, b.steps, 3, metrics, 1, &b.p, &b.err) == CAWB_ERR_INVALID);
  CHECK(says(b.err.msg, "FAKE90 has none of the metrics asked for (nothing.sum)"));
  end(&b);
}

static void test_too_many_launches(void) {
  bench b;
  if (!begin(&b)) return;
  cawb_step many[600];
  static const char *const metrics[] = { "time.sum" };
  for (size_t i = 0; i < 600; i++) many[i] = b.steps[1];
  CHECK(cawb_device_profile(b.d, b.m, many, 600, metrics, 1, &b.p, &b.err) == CAWB_OK);
  CHECK(says(b.p.note, "600 launches") && value(&b, 599, "seconds", "events") > 0);
  CHECK(cuda->waits == 5 * 5);           /* five runs; a queue holds 128 launches */
  end(&b);
}

/* A run in which the host was late is repeated, but not for ever. */
static void test_late_queues(void) {
  bench b;
  if (!begin(&b)) return;
  cupti->supported = 0;
  cuda->late = 2;
  without_counters(&b, "confidential computing is on");
  CHECK(cuda->waits == 5 + 2);
  cuda->late = 1000;
  without_counters(&b, "confidential computing is on");
  CHECK(cuda->waits == 5 + 2 + 5 + 5);
  cupti->supported = 1;
  end(&b);
}

static void test_a_fault_is_the_candidates(void) {
  bench b;
  if (!begin(&b)) return;
  CHECK(profile(&b, 3) == CAWB_OK);
  b.steps[2].kernel = "fault";
  CHECK(profile(&b, 3) == CAWB_ERR_CANDIDATE && cawb_device_lost(b.d));
  CHECK(says(b.err.msg, "CUDA_ERROR_ILLEGAL_ADDRESS") && cupti->starts == 3);
  end(&b);
}

/* ---- lines ---- */

static const cawb_image image = { "good", "cubin", 5 };

static cawb_status profile_lines(bench *b, unsigned pcs) {
  cawb_profile_free(&b->p);
  b->p.sampling = (cawb_sampling){ .image = &image, .period = 12, .buffer = 1 << 20,
                                   .budget = 3600, .most = 4 };
  cupti->pcs = pcs;
  return profile(b, 3);
}

/* Samples of a line of `poke` by reason; ~0 where the line was not seen. */
static uint64_t samples(const bench *b, unsigned line, const char *reason) {
  const cawb_lines *l = &b->p.sampling.seen.lines;
  for (size_t i = 0; i < l->count; i++)
    for (size_t k = 0; k < l->nreasons; k++)
      if (l->list[i].number == line && strcmp(l->list[i].kernel, "poke") == 0 &&
          strcmp(l->reasons[k], reason) == 0) return l->list[i].samples[k];
  return ~UINT64_C(0);
}

static void test_lines_are_sampled(void) {
  bench b;
  if (!begin(&b)) return;
  CHECK(profile_lines(&b, 6) == CAWB_OK && b.p.note[0] == '\0' && b.p.sampling.note[0] == '\0');
  CHECK(cupti->period == 12 && b.p.sampling.runs == 4 && cupti->sampled == 4 * 2);
  CHECK(b.p.sampling.seen.lines.count == 2);
  CHECK(samples(&b, 4, "reason_7") == 20 && samples(&b, 4, "reason_6") == 2 + 4);
  CHECK(samples(&b, 5, "reason_7") == 30 && samples(&b, 5, "reason_6") == 1 + 3 + 5);
  CHECK(strcmp(b.p.sampling.seen.lines.list[0].file, "kernel.cu") == 0);
  CHECK(b.p.sampling.seen.dropped == 3 && strcmp(b.p.sampling.unit, "samples") == 0);
  CHECK(value(&b, 1, "time.sum", "cupti") == 200);      /* counted as well, before */
  CHECK(profile_lines(&b, 6) == CAWB_OK && b.p.sampling.note[0] == '\0');
  CHECK(b.p.passes == 3);                               /* and again, by turns */
  end(&b);
}

static void test_many_instructions(void) {
  bench b;
  if (!begin(&b)) return;
  CHECK(profile_lines(&b, 6001) == CAWB_OK && b.p.sampling.note[0] == '\0');
  CHECK(samples(&b, 4, "reason_7") == 10 * 2500 && samples(&b, 5, "reason_7") == 10 * 2500);
  CHECK(samples(&b, 0, "reason_7") == 10 * 1000);       /* of unknown lines */
  CHECK(b.p.sampling.seen.lines.count == 3);
  end(&b);
}

/* What cannot be sampled is a note, and costs nothing else. */
static void test_lines_refused(void) {
  const char *functions[] = {
    "PCSamplingEnable", "GetNumStallReasons", "GetStallReasons", "SetConfigurationAttribute",
    "PCSamplingStart", "PCSamplingStop", "PCSamplingGetData"
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    bench b;
    if (!begin(&b)) return;
    cupti->fail = functions[i];
    cupti->fail_with = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    CHECK(profile_lines(&b, 6) == CAWB_OK && b.p.passes == 3 && cupti->sampling == 0);
    CHECK(says(b.p.sampling.note, "NVreg_RestrictProfilingToAdminUsers=0"));
    CHECK(b.p.sampling.seen.lines.count == 0);
    end(&b);
  }
}

static void test_no_room_for_samples(void) {
  bench b;
  if (!begin(&b)) return;
  cupti->full = 1;                       /* always: tried at 12, 16, 20, 24 */
  CHECK(profile_lines(&b, 6) == CAWB_OK && says(b.p.sampling.note, "lines.buffer"));
  CHECK(b.p.sampling.period == 24 && b.p.sampling.runs == 4 && b.p.sampling.seen.lines.count == 0);
  cupti->full = 0;
  cupti->roomy = 20;                     /* not at 12 and 16 */
  CHECK(profile_lines(&b, 6) == CAWB_OK && b.p.sampling.note[0] == '\0');
  CHECK(b.p.sampling.period == 20 && samples(&b, 4, "reason_7") == 20);
  end(&b);
}

/* What CUPTI puts into the buffer that it was set up with counts, too. */
static void test_samples_left_in_its_own_buffer(void) {
  bench b;
  if (!begin(&b)) return;
  cupti->keeps = 1;
  CHECK(profile_lines(&b, 6) == CAWB_OK && b.p.sampling.note[0] == '\0');
  CHECK(samples(&b, 4, "reason_7") == 20 + 10 && b.p.sampling.seen.total == 60);
  end(&b);
}

static void test_code_that_does_not_load_again(void) {
  bench b;
  if (!begin(&b)) return;
  b.p.sampling = (cawb_sampling){ .image = &(cawb_image){ "good", "bad", 3 }, .most = 1 };
  CHECK(profile(&b, 3) == CAWB_ERR_CANDIDATE && says(b.err.msg, "refuses the compiled code"));
  end(&b);
  if (!begin(&b)) return;
  b.p.sampling = (cawb_sampling){ .image = &(cawb_image){ "good", NULL, 0 }, .most = 1 };
  CHECK(profile(&b, 3) == CAWB_OK && says(b.p.sampling.note, "without machine code"));
  end(&b);
}

/* Whichever call of the driver fails, nothing is leaked and the answer is one of these. */
static void test_a_driver_that_fails(void) {
  for (unsigned nth = 1; nth < 200; nth++) {
    bench b;
    if (!begin(&b)) return;
    cuda->fail_call = cuda->calls + nth;
    cuda->fail_with = CUDA_ERROR_OUT_OF_MEMORY;
    unsigned last = cuda->fail_call;
    cawb_status rc = profile_lines(&b, 6);
    CHECK(rc == CAWB_OK || rc == CAWB_ERR_MEMORY || rc == CAWB_ERR_CANDIDATE);
    int over = cuda->calls < last;
    end(&b);
    if (over) return;
  }
  CHECK(!"a profile takes fewer calls than that");
}

int main(void) {
  setenv("CAWB_CUDA_HOME", CAWB_FAKE_TOOLKIT, 1);
  void *a = dlopen(CAWB_FAKE_CUDA, RTLD_NOW), *b = dlopen(CAWB_FAKE_CUPTI, RTLD_NOW);
  cuda = a != NULL ? dlsym(a, "fake_cuda_state") : NULL;
  cupti = b != NULL ? dlsym(b, "fake_cupti_state") : NULL;
  CHECK(cuda != NULL && cupti != NULL);
  if (cuda == NULL || cupti == NULL) return check_report();
  test_every_pass_runs_the_plan();
  test_each_launch_gets_its_own_counts();
  test_facts_of_the_code();
  test_steps_go_ahead_of_every_pass();
  test_refusals();
  test_odd_answers();
  test_no_such_metric();
  test_too_many_launches();
  test_late_queues();
  test_a_fault_is_the_candidates();
  test_lines_are_sampled();
  test_many_instructions();
  test_lines_refused();
  test_no_room_for_samples();
  test_samples_left_in_its_own_buffer();
  test_code_that_does_not_load_again();
  test_a_driver_that_fails();
  return check_report();
}
#else
int main(void) {
  puts("skipped: built without CUPTI's headers");
  return 0;
}
#endif
