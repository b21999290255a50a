/* fake_cupti.c - a libcupti without counters behind it; see fake_cupti.h. */
#include "fake_cupti.h"

#include <cuda.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

fake_cupti fake_cupti_state;
#define F fake_cupti_state

static unsigned begun_at;      /* launches when the pass began */
static unsigned done;          /* passes since SetConfig */

static CUptiResult enter(const char *name) {
  size_t n = strlen(name), k = F.fail != NULL ? strlen(F.fail) : 0;
  if (F.fail != NULL && n >= k && strcmp(name + n - k, F.fail) == 0) return F.fail_with;
  return CUPTI_SUCCESS;
}
#define ENTER do { CUptiResult e_ = enter(__func__); if (e_ != CUPTI_SUCCESS) return e_; } while (0)

static void *make(void) { F.live++; return malloc(1); }
static CUptiResult unmake(void *p) { F.live--; free(p); return CUPTI_SUCCESS; }

CUptiResult cuptiGetResultString(CUptiResult r, const char **s) {
  *s = r == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
     : r == CUPTI_ERROR_HARDWARE_BUSY ? "CUPTI_ERROR_HARDWARE_BUSY" : NULL;
  return CUPTI_SUCCESS;
}

/* ---- sets ---- */

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *p) {
  ENTER;
  if (strcmp(p->pChipName, "FAKE90") != 0) return CUPTI_ERROR_INVALID_CHIP_NAME;
  p->pHostObject = make();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *p) {
  return unmake(p->pHostObject);
}
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *p) {
  ENTER;
  for (size_t i = 0; i < p->numMetrics; i++)
    if (strncmp(p->ppMetricNames[i], "no", 2) == 0) return CUPTI_ERROR_INVALID_METRIC_NAME;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *p) {
  ENTER;
  p->configImageSize = 16;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *p) {
  ENTER;
  memset(p->pConfigImage, 0x5a, p->configImageSize);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *p) {
  ENTER;
  p->numOfPasses = F.passes;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *p) {
  ENTER;
  if (p->rangeIndex >= F.ranges || (F.bad_range != 0 && p->rangeIndex == F.bad_range))
    return CUPTI_ERROR_INVALID_PARAMETER;
  for (size_t i = 0; i < p->numMetrics; i++)
    p->pMetricValues[i] = 100.0 * (double)p->rangeIndex + (double)i;
  return CUPTI_SUCCESS;
}

/* ---- sessions ---- */

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *p) { ENTER; return CUPTI_SUCCESS; }
CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params *p) {
  ENTER;
  p->architecture = p->sli = p->vGpu = p->cmp = p->wsl = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  p->isSupported = p->confidentialCompute = F.supported ? CUPTI_PROFILER_CONFIGURATION_SUPPORTED
                                                        : CUPTI_PROFILER_CONFIGURATION_DISABLED;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *p) {
  ENTER;
  p->pChipName = "FAKE90";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *p) {
  ENTER;
  if (F.sampling != 0) abort();          /* the real one refuses: not both at once */
  F.configured = 0;
  F.sessions++;
  p->pRangeProfilerObject = make();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *p) {
  F.sessions--;
  return unmake(p->pRangeProfilerObject);
}
CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *p) {
  ENTER;
  p->counterDataSize = 8 * p->numMetrics * p->maxNumOfRanges;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params *p) {
  ENTER;
  memset(p->pCounterData, 1, p->counterDataSize);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *p) {
  ENTER;
  if (F.configured != 0 && F.configured != p->counterDataImageSize / p->maxRangesPerPass)
    abort();                             /* the real one would count the set before */
  F.configured = p->counterDataImageSize / p->maxRangesPerPass;
  if (p->pConfig[15] != 0x5a || p->range != CUPTI_AutoRange || p->replayMode != CUPTI_UserReplay)
    return CUPTI_ERROR_INVALID_PARAMETER;
  F.most = p->maxRangesPerPass;
  done = 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *p) {
  ENTER;
  F.starts++;
  begun_at = *F.launches;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *p) {
  ENTER;
  F.ranges = *F.launches - begun_at;
  p->isAllPassSubmitted = ++done >= F.passes;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *p) {
  ENTER;
  p->numOfRangeDropped = F.dropped;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *p) {
  ENTER;
  p->numTotalRanges = F.ranges;
  return CUPTI_SUCCESS;
}

/* ---- samplers ---- */

CUptiResult cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams *p) {
  ENTER;
  if (F.sampling != 0 || F.sessions > 0) abort();
  F.sampling = 1;
  F.live++;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams *p) {
  if (F.sampling == 0) abort();
  F.sampling = 0;
  F.live--;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams *p) {
  ENTER;
  *p->numStallReasons = 2;
  return F.sampling > 0 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}
CUptiResult cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams *p) {
  ENTER;
  for (unsigned i = 0; i < p->numStallReasons; i++) {
    p->stallReasonIndex[i] = 7 - i;      /* not in order, not from 0 */
    snprintf(p->stallReasons[i], CUPTI_STALL_REASON_STRING_SIZE, "reason_%u", 7 - i);
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams *p) {
  ENTER;
  for (size_t i = 0; i < p->numAttributes; i++) {
    const CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
    if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
      F.period = a->attributeData.samplingPeriodData.samplingPeriod;
    if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
      F.kept = a->attributeData.samplingDataBufferData.samplingDataBuffer;
  }
  F.sampling = 2;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingStart(CUpti_PCSamplingStartParams *p) {
  ENTER;
  if (F.sampling != 2) return CUPTI_ERROR_INVALID_OPERATION;
  F.sampling = 3;
  begun_at = *F.launches;
  return CUPTI_SUCCESS;
}
/* Instruction i is of kernel "poke", but the first is the driver's own: 10 samples of
** reason_7, i of reason_6. */
static void give(CUpti_PCSamplingData *d, size_t at, size_t n, unsigned from) {
  static char name[] = "poke";
  for (size_t i = 0; i < n; i++, from++) {
    CUpti_PCSamplingPCData *pc = &d->pPcData[at + i];
    pc->functionName = from == 0 ? NULL : name;
    pc->pcOffset = 16 * from;
    pc->stallReasonCount = 2;
    pc->stallReason[0] = (CUpti_PCSamplingStallReason){ 7, 10 };
    pc->stallReason[1] = (CUpti_PCSamplingStallReason){ 6, from };
  }
  d->totalNumPcs = n;
}

CUptiResult cuptiPCSamplingStop(CUpti_PCSamplingStopParams *p) {
  ENTER;
  if (F.sampling != 3) return CUPTI_ERROR_INVALID_OPERATION;
  F.sampling = 2;
  F.sampled = *F.launches - begun_at;
  F.given = 0;
  if (F.keeps) give(F.kept, 0, 1, 4);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams *p) {
  ENTER;
  CUpti_PCSamplingData *d = p->pcSamplingData;
  if (d == F.kept) abort();              /* the real one then gives nothing */
  if (F.period < F.roomy) return CUPTI_ERROR_OUT_OF_MEMORY;
  size_t n = F.pcs - F.given < d->collectNumPcs ? F.pcs - F.given : d->collectNumPcs;
  give(d, 0, n, F.given);
  F.given += (unsigned)n;
  d->remainingNumPcs = F.pcs - F.given;
  d->totalSamples = d->remainingNumPcs == 0 ? 10 * F.pcs : 0;
  d->droppedSamples = 3;
  d->hardwareBufferFull = (uint8_t)F.full;
  return CUPTI_SUCCESS;
}
/* Even instructions are line 4, odd ones line 5; those from the 5001st on nowhere. */
CUptiResult cuptiGetSassToSourceCorrelation(CUpti_GetSassToSourceCorrelationParams *p) {
  ENTER;
  unsigned i = (unsigned)(p->pcOffset / 16);
  if (p->cubinSize != 5 || memcmp(p->cubin, "cubin", 5) != 0) return CUPTI_ERROR_INVALID_MODULE;
  if (i > 5000) return CUPTI_ERROR_UNKNOWN;
  p->lineNumber = 4 + i % 2;
  p->fileName = strdup("kernel.cu");
  p->dirName = strdup("/nowhere");
  return CUPTI_SUCCESS;
}
