/*
** host.c - sets of metrics: scheduled on a chip's counters and computed from
** them by CUPTI's Profiler Host API, which needs no GPU. Its header includes C++'s
** <string>; shim/ holds an empty one, on the include path of this file alone.
*/
#include <cupti_profiler_host.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cupti/library.h"

#define HOST_FUNCTIONS(F) \
  F(cuptiProfilerHostInitialize) F(cuptiProfilerHostDeinitialize) \
  F(cuptiProfilerHostConfigAddMetrics) F(cuptiProfilerHostGetConfigImageSize) \
  F(cuptiProfilerHostGetConfigImage) F(cuptiProfilerHostGetNumOfPasses) \
  F(cuptiProfilerHostEvaluateToGpuValues)

typedef struct host {
#define MEMBER(name) __typeof__(&name) name;
  HOST_FUNCTIONS(MEMBER)
#undef MEMBER
} host;

#define SYMBOL(name) { #name, offsetof(host, name) },
static const cawb_cupti_symbol symbols[] = { HOST_FUNCTIONS(SYMBOL) };

struct cawb_cupti_set {
  const cawb_cupti *library;
  host f;
  CUpti_Profiler_Host_Object *object;
  const char **names;          /* of the metrics that the chip has; each owned */
  size_t count;
  uint8_t *schedule;
  size_t size;
  unsigned passes;
};

/* A zeroed parameter block of CUPTI's, with its size filled in. */
#define PARAMS(type, name) \
  type##_Params name; \
  memset(&name, 0, sizeof name); \
  name.structSize = type##_Params_STRUCT_SIZE

static cawb_status make_object(const cawb_cupti_set *s, const char *chip,
                               CUpti_Profiler_Host_Object **out, cawb_err *err) {
  PARAMS(CUpti_Profiler_Host_Initialize, p);
  p.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  p.pChipName = chip;
  int r = s->f.cuptiProfilerHostInitialize(&p);
  *out = r == CUPTI_SUCCESS ? p.pHostObject : NULL;
  return cawb_cupti_check(s->library, r, chip, err);
}

static void free_object(const cawb_cupti_set *s, CUpti_Profiler_Host_Object *object) {
  PARAMS(CUpti_Profiler_Host_Deinitialize, p);
  p.pHostObject = object;
  if (object != NULL) s->f.cuptiProfilerHostDeinitialize(&p);
}

static int add_metrics(const cawb_cupti_set *s, CUpti_Profiler_Host_Object *object,
                       const char **metrics, size_t n) {
  PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, p);
  p.pHostObject = object;
  p.ppMetricNames = metrics;
  p.numMetrics = n;
  return s->f.cuptiProfilerHostConfigAddMetrics(&p);
}

static cawb_status keep(cawb_cupti_set *s, const char *metric, cawb_err *err) {
  char *copy = strdup(metric);
  if (copy == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for metrics");
  s->names[s->count++] = copy;
  return CAWB_OK;
}

/*
** One unknown name spoils a whole set and is not named, so each is tried alone, on
** an object that is thrown away: what a refusal leaves behind in it is unknown.
*/
static cawb_status choose(cawb_cupti_set *s, const char *chip, const char *const *metrics,
                          size_t n, cawb_err *err) {
  cawb_status rc = CAWB_OK;
  s->names = calloc(n > 0 ? n : 1, sizeof *s->names);
  if (s->names == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for metrics");
  for (size_t i = 0; i < n && rc == CAWB_OK; i++) {
    CUpti_Profiler_Host_Object *trial;
    const char *one[] = { metrics[i] };
    rc = make_object(s, chip, &trial, err);
    if (rc == CAWB_OK && add_metrics(s, trial, one, 1) == CUPTI_SUCCESS)
      rc = keep(s, metrics[i], err);
    free_object(s, trial);
  }
  if (rc == CAWB_OK && s->count == 0)
    rc = cawb_fail(err, CAWB_ERR_INVALID, "%s has none of the metrics asked for (%s%s); a name "
                   "ends in a roll-up, as in smsp__inst_executed.sum", chip,
                   n > 0 ? metrics[0] : "no name at all", n > 1 ? ", ..." : "");
  return rc;
}

static cawb_status read_schedule(cawb_cupti_set *s, cawb_err *err) {
  PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
  size.pHostObject = s->object;
  int r = s->f.cuptiProfilerHostGetConfigImageSize(&size);
  if (r != CUPTI_SUCCESS)
    return cawb_cupti_check(s->library, r, "scheduling the metrics", err);
  s->size = size.configImageSize;
  s->schedule = calloc(1, s->size);
  if (s->schedule == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for metrics");
  PARAMS(CUpti_Profiler_Host_GetConfigImage, image);
  image.pHostObject = s->object;
  image.configImageSize = s->size;
  image.pConfigImage = s->schedule;
  r = s->f.cuptiProfilerHostGetConfigImage(&image);
  return cawb_cupti_check(s->library, r, "scheduling the metrics", err);
}

static cawb_status count_passes(cawb_cupti_set *s, cawb_err *err) {
  PARAMS(CUpti_Profiler_Host_GetNumOfPasses, p);
  p.configImageSize = s->size;
  p.pConfigImage = s->schedule;
  int r = s->f.cuptiProfilerHostGetNumOfPasses(&p);
  s->passes = (unsigned)p.numOfPasses;
  return cawb_cupti_check(s->library, r, "counting the passes", err);
}

/* All metrics go in with one call: added one by one, each would get its own pass. */
static cawb_status schedule(cawb_cupti_set *s, const char *chip, const char *const *metrics,
                            size_t n, cawb_err *err) {
  cawb_status rc = cawb_cupti_resolve(s->library, &s->f, symbols,
                                      sizeof symbols / sizeof *symbols, err);
  if (rc == CAWB_OK) rc = choose(s, chip, metrics, n, err);
  if (rc == CAWB_OK) rc = make_object(s, chip, &s->object, err);
  if (rc == CAWB_OK)
    rc = cawb_cupti_check(s->library, add_metrics(s, s->object, s->names, s->count),
                          "adding the metrics", err);
  if (rc == CAWB_OK) rc = read_schedule(s, err);
  if (rc == CAWB_OK) rc = count_passes(s, err);
  return rc;
}

cawb_status cawb_cupti_set_new(cawb_cupti_set **out, cawb_cupti *c, const char *chip,
                               const char *const *metrics, size_t n, cawb_err *err) {
  *out = NULL;
  cawb_cupti_set *s = calloc(1, sizeof *s);
  if (s == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for metrics");
  s->library = c;
  cawb_status rc = schedule(s, chip, metrics, n, err);
  if (rc == CAWB_OK) *out = s;
  else cawb_cupti_set_free(s);
  return rc;
}

void cawb_cupti_set_free(cawb_cupti_set *s) {
  if (s == NULL) return;
  free_object(s, s->object);
  for (size_t i = 0; i < s->count; i++) free((void *)s->names[i]);
  free((void *)s->names);
  free(s->schedule);
  free(s);
}

size_t cawb_cupti_set_count(const cawb_cupti_set *s) { return s->count; }
const char *cawb_cupti_set_metric(const cawb_cupti_set *s, size_t i) { return s->names[i]; }
unsigned cawb_cupti_set_passes(const cawb_cupti_set *s) { return s->passes; }

/* ---- for sessions ---- */

const unsigned char *cawb_cupti_set_schedule(const cawb_cupti_set *s, size_t *size) {
  *size = s->size;
  return s->schedule;
}

const char **cawb_cupti_set_names(const cawb_cupti_set *s) { return s->names; }

cawb_status cawb_cupti_set_evaluate(const cawb_cupti_set *s, const uint8_t *image, size_t size,
                                    size_t range, double *values, cawb_err *err) {
  PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, p);
  p.pHostObject = s->object;
  p.pCounterDataImage = image;
  p.counterDataImageSize = size;
  p.rangeIndex = range;
  p.ppMetricNames = s->names;
  p.numMetrics = s->count;
  p.pMetricValues = values;
  int r = s->f.cuptiProfilerHostEvaluateToGpuValues(&p);
  return cawb_cupti_check(s->library, r, "computing the metrics", err);
}
