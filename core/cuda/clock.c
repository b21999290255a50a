/*
** clock.c - how fast the SMs ran while something was timed. A kernel of one
** block an SM notes the SM's cycle counter and the time, ahead and behind: cycles over
** seconds is the clock, whatever the driver says it is set to.
*/
#include "cuda/device.h"

#include <string.h>

#define MOST_SMS 1024u

typedef struct reading { uint64_t cycles, ns; } reading;

#define READINGS (MOST_SMS * sizeof(reading))   /* bytes of one reading of all SMs */

/* note(at): the block's SM writes at[smid] = { clock64, globaltimer }. */
static const char note_ptx[] =
  ".version 7.0\n.target sm_50\n.address_size 64\n"
  ".visible .entry note(.param .u64 at)\n{\n"
  ".reg .pred %p; .reg .b32 %s; .reg .b64 %a, %o, %c, %t;\n"
  "ld.param.u64 %a, [at];\n"
  "mov.u32 %s, %smid;\n"
  "setp.ge.u32 %p, %s, 1024;\n"
  "@%p ret;\n"
  "mul.wide.u32 %o, %s, 16;\n"
  "add.s64 %a, %a, %o;\n"
  "mov.u64 %c, %clock64;\n"
  "mov.u64 %t, %globaltimer;\n"
  "st.global.v2.u64 [%a], {%c, %t};\n"
  "ret;\n}\n";

static CUresult make(cawb_cuda *c) {
  cawb_cuda_driver *cu = &c->cu;
  CUresult r = cu->cuModuleLoadDataEx(&c->clock_module, note_ptx, 0, NULL, NULL);
  if (r == CUDA_SUCCESS) r = cu->cuModuleGetFunction(&c->clock_kernel, c->clock_module, "note");
  if (r == CUDA_SUCCESS) r = cu->cuMemAlloc(&c->clock_at, 2 * READINGS);
  if (r == CUDA_SUCCESS) r = cu->cuMemAllocHost(&c->clock_host, 2 * READINGS);
  if (r == CUDA_SUCCESS) r = cu->cuMemsetD32Async(c->clock_at, 0, 2 * READINGS / 4, c->stream);
  return r;
}

cawb_status cawb_cuda_clock_make(cawb_cuda *c, cawb_err *err) {
  if (c->clock_host != NULL) return CAWB_OK;
  cawb_status s = cawb_cuda_check(c, make(c), "preparing to read the SM clock", err);
  if (s != CAWB_OK) cawb_cuda_release_clock(c);
  return s;
}

CUresult cawb_cuda_clock_read(cawb_cuda *c, int which) {
  CUdeviceptr at = c->clock_at + (which != 0 ? READINGS : 0);
  void *args[] = { &at };
  CUlaunchConfig config;
  memset(&config, 0, sizeof config);
  config.gridDimX = c->base.info.sms;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = c->stream;
  return c->cu.cuLaunchKernelEx(&config, c->clock_kernel, args, NULL);
}

/*
** The median over the SMs that wrote both readings: blocks lie where there is room, so
** that an SM's may be one of an earlier sample, from before `since`.
*/
static double median_clock(const reading *ahead, const reading *behind, uint64_t since) {
  double hz[MOST_SMS];
  size_t n = 0;
  for (size_t i = 0; i < MOST_SMS; i++)
    if (ahead[i].ns > since && behind[i].ns > ahead[i].ns && behind[i].cycles > ahead[i].cycles)
      hz[n++] = (double)(behind[i].cycles - ahead[i].cycles)
                / ((double)(behind[i].ns - ahead[i].ns) * 1e-9);
  return n > 0 ? cawb_cuda_median(hz, n) : 0;
}

CUresult cawb_cuda_clock_get(cawb_cuda *c, double *hz) {
  const reading *both = c->clock_host;
  CUresult r = c->cu.cuMemcpyDtoHAsync(c->clock_host, c->clock_at, 2 * READINGS, c->stream);
  r = cawb_cuda_wait_after(c, r);
  *hz = 0;
  if (r != CUDA_SUCCESS) return r;
  *hz = median_clock(both, both + MOST_SMS, c->clock_since);
  for (size_t i = 0; i < (size_t)2 * MOST_SMS; i++)
    if (both[i].ns > c->clock_since) c->clock_since = both[i].ns;
  return r;
}

void cawb_cuda_release_clock(cawb_cuda *c) {
  if (c->clock_host != NULL) c->cu.cuMemFreeHost(c->clock_host);
  if (c->clock_at != 0) c->cu.cuMemFree(c->clock_at);
  if (c->clock_module != NULL) c->cu.cuModuleUnload(c->clock_module);
  c->clock_host = NULL;
  c->clock_at = 0;
  c->clock_module = NULL;
}
