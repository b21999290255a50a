/*
** sample.c - samplers: CUPTI's PC sampling, continuous, between a start and a
** stop. Every call but the first needs it enabled, and it cannot be while the Range
** Profiler is. What the hardware gives are instructions by their place in a function;
** CUPTI also reads the line tables of a cubin, which turn them into lines.
*/
#include <cupti_pcsampling.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cupti/library.h"

#define SAMPLE_FUNCTIONS(F) \
  F(cuptiPCSamplingEnable) F(cuptiPCSamplingDisable) \
  F(cuptiPCSamplingSetConfigurationAttribute) \
  F(cuptiPCSamplingGetNumStallReasons) F(cuptiPCSamplingGetStallReasons) \
  F(cuptiPCSamplingStart) F(cuptiPCSamplingStop) F(cuptiPCSamplingGetData) \
  F(cuptiGetSassToSourceCorrelation)

typedef struct sampling {
#define MEMBER(name) __typeof__(&name) name;
  SAMPLE_FUNCTIONS(MEMBER)
#undef MEMBER
} sampling;

#define SYMBOL(name) { #name, offsetof(sampling, name) },
static const cawb_cupti_symbol symbols[] = { SAMPLE_FUNCTIONS(SYMBOL) };

#define ROOM 2048u             /* instructions read at a time */
#define MOST_READS 4096u

/* Room for ROOM instructions. */
typedef struct records {
  CUpti_PCSamplingData data;
  CUpti_PCSamplingPCData *pcs;
  CUpti_PCSamplingStallReason *stalls;
} records;

struct cawb_cupti_sampler {
  const cawb_cupti *library;
  sampling f;
  CUcontext context;
  int enabled;
  size_t nreasons;
  uint32_t *indices;           /* CUPTI's number of each reason */
  char **names, *text;         /* the names, into `text` */
  records kept, out;           /* CUPTI's own, for what would be lost; and what it hands out */
};

/* A zeroed parameter block of CUPTI's for the sampler `s`. */
#define PARAMS(type, name) \
  type##Params name; \
  memset(&name, 0, sizeof name); \
  name.size = type##ParamsSize; \
  name.ctx = s->context

static cawb_status check(const cawb_cupti_sampler *s, int result, const char *what,
                         cawb_err *err) {
  return cawb_cupti_check(s->library, result, what, err);
}

/* ---- opening ---- */

static cawb_status enable(cawb_cupti_sampler *s, cawb_err *err) {
  PARAMS(CUpti_PCSamplingEnable, p);
  int r = s->f.cuptiPCSamplingEnable(&p);
  s->enabled = r == CUPTI_SUCCESS;
  return check(s, r, "enabling PC sampling", err);
}

static cawb_status count_reasons(cawb_cupti_sampler *s, cawb_err *err) {
  PARAMS(CUpti_PCSamplingGetNumStallReasons, p);
  p.numStallReasons = &s->nreasons;
  int r = s->f.cuptiPCSamplingGetNumStallReasons(&p);
  if (r == CUPTI_SUCCESS && s->nreasons == 0)
    return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "CUPTI: this GPU knows no stall reasons");
  return check(s, r, "counting stall reasons", err);
}

static int make_records(records *r, size_t nreasons) {
  r->pcs = calloc(ROOM, sizeof *r->pcs);
  r->stalls = calloc(ROOM * nreasons, sizeof *r->stalls);
  if (r->pcs == NULL || r->stalls == NULL) return 0;
  for (size_t i = 0; i < ROOM; i++) {
    r->pcs[i].size = sizeof r->pcs[i];
    r->pcs[i].stallReason = r->stalls + i * nreasons;
  }
  r->data.size = sizeof r->data;
  r->data.collectNumPcs = ROOM;
  r->data.pPcData = r->pcs;
  return 1;
}

static void free_records(records *r) {
  free(r->pcs);
  free(r->stalls);
}

static int make_room(cawb_cupti_sampler *s) {
  size_t n = s->nreasons, width = CUPTI_STALL_REASON_STRING_SIZE;
  s->indices = calloc(n, sizeof *s->indices);
  s->names = calloc(n, sizeof *s->names);
  s->text = calloc(n, width);
  if (s->indices == NULL || s->names == NULL || s->text == NULL) return 0;
  for (size_t i = 0; i < n; i++) s->names[i] = s->text + i * width;
  return make_records(&s->kept, n) && make_records(&s->out, n);
}

static cawb_status name_reasons(cawb_cupti_sampler *s, cawb_err *err) {
  cawb_status rc = count_reasons(s, err);
  if (rc != CAWB_OK) return rc;
  if (!make_room(s)) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for samples");
  PARAMS(CUpti_PCSamplingGetStallReasons, p);
  p.numStallReasons = s->nreasons;
  p.stallReasonIndex = s->indices;
  p.stallReasons = s->names;
  return check(s, s->f.cuptiPCSamplingGetStallReasons(&p), "naming stall reasons", err);
}

static cawb_status configure(cawb_cupti_sampler *s, unsigned period, size_t buffer,
                             cawb_err *err) {
  CUpti_PCSamplingConfigurationInfo list[5];
  memset(list, 0, sizeof list);
  list[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE;
  list[0].attributeData.collectionModeData.collectionMode =
    CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  list[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
  list[1].attributeData.samplingPeriodData.samplingPeriod = period;
  list[2].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE;
  list[2].attributeData.hardwareBufferSizeData.hardwareBufferSize = buffer;
  list[3].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL;
  list[3].attributeData.enableStartStopControlData.enableStartStopControl = 1;
  list[4].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
  list[4].attributeData.samplingDataBufferData.samplingDataBuffer = &s->kept.data;
  PARAMS(CUpti_PCSamplingConfigurationInfo, p);
  p.numAttributes = sizeof list / sizeof *list;
  p.pPCSamplingConfigurationInfo = list;
  return check(s, s->f.cuptiPCSamplingSetConfigurationAttribute(&p), "setting up PC sampling",
               err);
}

cawb_status cawb_cupti_sampler_new(cawb_cupti_sampler **out, cawb_cupti *c, void *context,
                                   unsigned period, size_t buffer, cawb_err *err) {
  *out = NULL;
  cawb_cupti_sampler *s = calloc(1, sizeof *s);
  if (s == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for CUPTI");
  s->library = c;
  s->context = context;
  cawb_status rc = cawb_cupti_resolve(c, &s->f, symbols, sizeof symbols / sizeof *symbols, err);
  if (rc == CAWB_OK) rc = enable(s, err);
  if (rc == CAWB_OK) rc = name_reasons(s, err);
  if (rc == CAWB_OK) rc = configure(s, period, buffer, err);
  if (rc == CAWB_OK) *out = s;
  else cawb_cupti_sampler_free(s);
  return rc;
}

void cawb_cupti_sampler_free(cawb_cupti_sampler *s) {
  if (s == NULL) return;
  PARAMS(CUpti_PCSamplingDisable, p);
  if (s->enabled) s->f.cuptiPCSamplingDisable(&p);
  free(s->indices);
  free(s->names);
  free(s->text);
  free_records(&s->kept);
  free_records(&s->out);
  free(s);
}

/* ---- sampling ---- */

cawb_status cawb_cupti_sampler_start(cawb_cupti_sampler *s, cawb_err *err) {
  PARAMS(CUpti_PCSamplingStart, p);
  return check(s, s->f.cuptiPCSamplingStart(&p), "starting PC sampling", err);
}

cawb_status cawb_cupti_sampler_stop(cawb_cupti_sampler *s, cawb_err *err) {
  PARAMS(CUpti_PCSamplingStop, p);
  return check(s, s->f.cuptiPCSamplingStop(&p), "stopping PC sampling", err);
}

/* ---- results ---- */

typedef struct place { char *file, *folder; unsigned line; } place;

/* Where an instruction comes from; nowhere, if the cubin does not tell. */
static place locate(const cawb_cupti_sampler *s, const void *cubin, size_t size,
                    const CUpti_PCSamplingPCData *pc) {
  CUpti_GetSassToSourceCorrelationParams p;
  memset(&p, 0, sizeof p);
  p.size = CUpti_GetSassToSourceCorrelationParamsSize;
  p.cubin = cubin;
  p.cubinSize = size;
  p.functionName = pc->functionName;
  p.pcOffset = pc->pcOffset;
  int r = s->f.cuptiGetSassToSourceCorrelation(&p);
  return r == CUPTI_SUCCESS ? (place){ p.fileName, p.dirName, p.lineNumber }
                            : (place){ NULL, NULL, 0 };
}

static size_t reason_of(const cawb_cupti_sampler *s, uint32_t index) {
  size_t i = 0;
  while (i < s->nreasons && s->indices[i] != index) i++;
  return i;
}

static cawb_status add_one(const cawb_cupti_sampler *s, const void *cubin, size_t size,
                           const CUpti_PCSamplingPCData *pc, cawb_lines *lines, cawb_err *err) {
  cawb_status rc = CAWB_OK;
  if (pc->functionName == NULL) return CAWB_OK;         /* of the driver's own */
  place at = locate(s, cubin, size, pc);
  for (size_t i = 0; i < pc->stallReasonCount && rc == CAWB_OK; i++)
    if (pc->stallReason[i].samples > 0)
      rc = cawb_lines_add(lines, pc->functionName, at.file != NULL ? at.file : "", at.line,
                          reason_of(s, pc->stallReason[i].pcSamplingStallReasonIndex),
                          pc->stallReason[i].samples, err);
  free(at.file);
  free(at.folder);
  return rc;
}

static cawb_status add_all(const cawb_cupti_sampler *s, const records *r, const void *cubin,
                           size_t size, cawb_samples *to, cawb_err *err) {
  size_t n = r->data.totalNumPcs < ROOM ? r->data.totalNumPcs : ROOM;
  cawb_status rc = CAWB_OK;
  to->total += (double)r->data.totalSamples;
  to->other += (double)r->data.nonUsrKernelsTotalSamples;
  to->dropped += (double)r->data.droppedSamples;
  for (size_t i = 0; i < n && rc == CAWB_OK; i++)
    rc = add_one(s, cubin, size, &r->pcs[i], &to->lines, err);
  return rc;
}

/* The names of functions stay: records may share them, and CUPTI does not say which. */
static cawb_status read_some(cawb_cupti_sampler *s, cawb_err *err) {
  CUpti_PCSamplingData *d = &s->out.data;
  PARAMS(CUpti_PCSamplingGetData, p);
  p.pcSamplingData = d;
  d->totalNumPcs = d->remainingNumPcs = 0;
  d->totalSamples = d->droppedSamples = d->nonUsrKernelsTotalSamples = 0;
  int r = s->f.cuptiPCSamplingGetData(&p);
  if (r == CUPTI_ERROR_OUT_OF_MEMORY || (r == CUPTI_SUCCESS && d->hardwareBufferFull))
    return cawb_fail(err, CAWB_ERR_MEMORY, "CUPTI: the GPU's buffer for samples was full: give it "
                     "more (lines.buffer), or sample more seldom (lines.period)");
  return check(s, r, "reading the samples", err);
}

cawb_status cawb_cupti_sampler_read(cawb_cupti_sampler *s, const void *cubin, size_t size,
                                    cawb_samples *to, cawb_err *err) {
  cawb_status rc = cawb_lines_begin(&to->lines, (const char *const *)s->names, s->nreasons, err);
  to->total = to->other = to->dropped = 0;
  for (unsigned reads = 0; rc == CAWB_OK && reads < MOST_READS; reads++) {
    rc = read_some(s, err);
    if (rc == CAWB_OK) rc = add_all(s, &s->out, cubin, size, to, err);
    if (s->out.data.remainingNumPcs == 0) break;
  }
  if (rc == CAWB_OK) rc = add_all(s, &s->kept, cubin, size, to, err);
  s->kept.data.totalNumPcs = 0;
  return rc;
}
