/*
** range.c - sessions: counters collected with CUPTI's Range Profiler, one range
** per kernel launch (memory sets and copies make none), replayed by the caller.
*/
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cupti/library.h"

#define RANGE_FUNCTIONS(F) \
  F(cuptiProfilerInitialize) F(cuptiProfilerDeviceSupported) F(cuptiDeviceGetChipName) \
  F(cuptiRangeProfilerEnable) F(cuptiRangeProfilerDisable) F(cuptiRangeProfilerSetConfig) \
  F(cuptiRangeProfilerStart) F(cuptiRangeProfilerStop) F(cuptiRangeProfilerDecodeData) \
  F(cuptiRangeProfilerGetCounterDataSize) F(cuptiRangeProfilerCounterDataImageInitialize) \
  F(cuptiRangeProfilerGetCounterDataInfo)

typedef struct range {
#define MEMBER(name) __typeof__(&name) name;
  RANGE_FUNCTIONS(MEMBER)
#undef MEMBER
} range;

#define SYMBOL(name) { #name, offsetof(range, name) },
static const cawb_cupti_symbol symbols[] = { RANGE_FUNCTIONS(SYMBOL) };

struct cawb_cupti_session {
  const cawb_cupti *library;
  range f;
  CUpti_RangeProfiler_Object *object;
  char chip[32];
  const cawb_cupti_set *set;   /* of the collection that was begun; borrowed */
  uint8_t *image;              /* the counters' values */
  size_t size;
};

/* A zeroed parameter block of CUPTI's, with its size filled in. */
#define PARAMS(type, name) \
  type##_Params name; \
  memset(&name, 0, sizeof name); \
  name.structSize = type##_Params_STRUCT_SIZE

/* ---- opening ---- */

/* Everything else crashes before this has been called once. */
static cawb_status initialize(cawb_cupti_session *s, cawb_err *err) {
  PARAMS(CUpti_Profiler_Initialize, p);
  return cawb_cupti_check(s->library, s->f.cuptiProfilerInitialize(&p), "starting", err);
}

static cawb_status check_support(cawb_cupti_session *s, int device, cawb_err *err) {
  PARAMS(CUpti_Profiler_DeviceSupported, p);
  p.cuDevice = device;
  p.api = CUPTI_PROFILER_RANGE_PROFILING;
  int r = s->f.cuptiProfilerDeviceSupported(&p);
  if (r != CUPTI_SUCCESS)
    return cawb_cupti_check(s->library, r, "asking whether the GPU can be profiled", err);
  const struct { CUpti_Profiler_Support_Level level; const char *why; } parts[] = {
    { p.architecture, "the GPU is too old" }, { p.vGpu, "profiling is off for this virtual GPU" },
    { p.confidentialCompute, "confidential computing is on" }, { p.sli, "SLI is on" },
    { p.cmp, "a mining processor has no counters" }, { p.wsl, "WSL does not allow it" }
  };
  if (p.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return CAWB_OK;
  const char *why = "for a reason that it does not give";
  for (size_t i = sizeof parts / sizeof *parts; i-- > 0;)
    if (parts[i].level != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) why = parts[i].why;
  return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "CUPTI does not profile here: %s", why);
}

static cawb_status read_chip(cawb_cupti_session *s, int device, cawb_err *err) {
  PARAMS(CUpti_Device_GetChipName, p);
  p.deviceIndex = (size_t)device;
  int r = s->f.cuptiDeviceGetChipName(&p);
  if (r != CUPTI_SUCCESS) return cawb_cupti_check(s->library, r, "naming the chip", err);
  strncpy(s->chip, p.pChipName, sizeof s->chip - 1);
  return CAWB_OK;
}

static cawb_status enable(cawb_cupti_session *s, void *context, cawb_err *err) {
  PARAMS(CUpti_RangeProfiler_Enable, p);
  p.ctx = context;
  int r = s->f.cuptiRangeProfilerEnable(&p);
  if (r == CUPTI_SUCCESS) s->object = p.pRangeProfilerObject;
  return cawb_cupti_check(s->library, r, "reserving the counters", err);
}

cawb_status cawb_cupti_session_new(cawb_cupti_session **out, cawb_cupti *c, void *context,
                                   int device, cawb_err *err) {
  *out = NULL;
  cawb_cupti_session *s = calloc(1, sizeof *s);
  if (s == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for CUPTI");
  s->library = c;
  cawb_status rc = cawb_cupti_resolve(c, &s->f, symbols, sizeof symbols / sizeof *symbols, err);
  if (rc == CAWB_OK) rc = initialize(s, err);
  if (rc == CAWB_OK) rc = check_support(s, device, err);
  if (rc == CAWB_OK) rc = read_chip(s, device, err);
  if (rc == CAWB_OK) rc = enable(s, context, err);
  if (rc == CAWB_OK) *out = s;
  else cawb_cupti_session_free(s);
  return rc;
}

void cawb_cupti_session_free(cawb_cupti_session *s) {
  if (s == NULL) return;
  PARAMS(CUpti_RangeProfiler_Disable, p);
  p.pRangeProfilerObject = s->object;
  if (s->object != NULL) s->f.cuptiRangeProfilerDisable(&p);
  free(s->image);
  free(s);
}

const char *cawb_cupti_session_chip(const cawb_cupti_session *s) { return s->chip; }

/* ---- collecting ---- */

static cawb_status make_image(cawb_cupti_session *s, size_t ranges, cawb_err *err) {
  PARAMS(CUpti_RangeProfiler_GetCounterDataSize, size);
  size.pRangeProfilerObject = s->object;
  size.pMetricNames = cawb_cupti_set_names(s->set);
  size.numMetrics = cawb_cupti_set_count(s->set);
  size.maxNumOfRanges = ranges;
  size.maxNumRangeTreeNodes = (uint32_t)ranges;
  int r = s->f.cuptiRangeProfilerGetCounterDataSize(&size);
  if (r != CUPTI_SUCCESS)
    return cawb_cupti_check(s->library, r, "sizing the counters' image", err);
  free(s->image);
  s->size = size.counterDataSize;
  s->image = calloc(1, s->size);
  if (s->image == NULL)
    return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for the counters of %zu launches",
                     ranges);
  PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, p);
  p.pRangeProfilerObject = s->object;
  p.counterDataSize = s->size;
  p.pCounterData = s->image;
  r = s->f.cuptiRangeProfilerCounterDataImageInitialize(&p);
  return cawb_cupti_check(s->library, r, "preparing the counters' image", err);
}

cawb_status cawb_cupti_begin(cawb_cupti_session *s, const cawb_cupti_set *set, size_t ranges,
                             cawb_err *err) {
  s->set = set;
  cawb_status rc = make_image(s, ranges, err);
  if (rc != CAWB_OK) return rc;
  PARAMS(CUpti_RangeProfiler_SetConfig, p);
  p.pRangeProfilerObject = s->object;
  p.pConfig = cawb_cupti_set_schedule(set, &p.configSize);
  p.pCounterDataImage = s->image;
  p.counterDataImageSize = s->size;
  p.range = CUPTI_AutoRange;
  p.replayMode = CUPTI_UserReplay;
  p.maxRangesPerPass = ranges;
  p.numNestingLevels = p.minNestingLevel = 1;
  int r = s->f.cuptiRangeProfilerSetConfig(&p);
  return cawb_cupti_check(s->library, r, "setting up the passes", err);
}

cawb_status cawb_cupti_start(cawb_cupti_session *s, cawb_err *err) {
  PARAMS(CUpti_RangeProfiler_Start, p);
  p.pRangeProfilerObject = s->object;
  return cawb_cupti_check(s->library, s->f.cuptiRangeProfilerStart(&p), "starting a pass", err);
}

cawb_status cawb_cupti_stop(cawb_cupti_session *s, int *last, cawb_err *err) {
  PARAMS(CUpti_RangeProfiler_Stop, p);
  p.pRangeProfilerObject = s->object;
  int r = s->f.cuptiRangeProfilerStop(&p);
  *last = r != CUPTI_SUCCESS || p.isAllPassSubmitted != 0;
  return cawb_cupti_check(s->library, r, "ending a pass", err);
}

/* ---- results ---- */

cawb_status cawb_cupti_decode(cawb_cupti_session *s, size_t *ranges, cawb_err *err) {
  PARAMS(CUpti_RangeProfiler_DecodeData, p);
  p.pRangeProfilerObject = s->object;
  int r = s->f.cuptiRangeProfilerDecodeData(&p);
  if (r != CUPTI_SUCCESS) return cawb_cupti_check(s->library, r, "reading the counters", err);
  if (p.numOfRangeDropped > 0)
    return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "CUPTI dropped the counters of %zu launches",
                     p.numOfRangeDropped);
  PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info);
  info.pCounterDataImage = s->image;
  info.counterDataImageSize = s->size;
  r = s->f.cuptiRangeProfilerGetCounterDataInfo(&info);
  *ranges = info.numTotalRanges;
  return cawb_cupti_check(s->library, r, "counting the launches", err);
}

cawb_status cawb_cupti_values(cawb_cupti_session *s, size_t which, double *values,
                              cawb_err *err) {
  return cawb_cupti_set_evaluate(s->set, s->image, s->size, which, values, err);
}
