/* fake_cuda.c - a libcuda.so.1 without a GPU behind it; see fake_cuda.h. */
#include "fake_cuda.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

fake_cuda fake_cuda_state;
#define F fake_cuda_state

struct CUfunc_st { const char *name; int threads, shared; };
static struct CUfunc_st kernels[] = {
  { "poke", 1024, 0 }, { "fault", 1024, 0 }, { "heavy", 256, 1024 },
  { "cawb_sweep", 1024, 0 }, { "note", 1024, 0 }, { "wait", 1024, 0 }, { "nothing", 1024, 0 }
};

/* A captured operation: a launch, or a memset where `kernel` is NULL. */
typedef struct op { CUfunction kernel; CUdeviceptr at; unsigned value; size_t words; } op;
struct CUgraph_st { op ops[8]; int n; };
static struct CUgraph_st *capturing;

static CUresult enter(void) {
  if (F.sticky != CUDA_SUCCESS) return F.sticky;
  return ++F.calls == F.fail_call ? F.fail_with : CUDA_SUCCESS;
}
#define ENTER do { CUresult e_ = enter(); if (e_ != CUDA_SUCCESS) return e_; } while (0)

static CUresult make(void *out) {     /* any handle is a byte of memory */
  ENTER;
  *(void **)out = malloc(1);
  F.live++;
  return CUDA_SUCCESS;
}
static CUresult unmake(void *p) { free(p); F.live--; return CUDA_SUCCESS; }

/* Reserved addresses, and the part of them that memory was mapped to. */
typedef struct range { CUdeviceptr at, mapped; size_t size, length; int writing; } range;
static range ranges[16];

static range *range_of(CUdeviceptr p) {
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (p - ranges[i].at < ranges[i].size) return &ranges[i];
  return NULL;
}

static void poke(CUdeviceptr at, unsigned char value) {
  const range *r = range_of(at);
  if (r != NULL && (at - r->mapped >= r->length || !r->writing)) F.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  else *(unsigned char *)(uintptr_t)at = value;
}

static CUresult perform(op o) {
  if (capturing != NULL) {
    capturing->ops[capturing->n++] = o;
    return CUDA_SUCCESS;
  }
  if (o.kernel == NULL) {
    F.memsets++;                      /* a flush is large, slow and never looked at */
    for (size_t i = 0; i < o.words && o.words < 1u << 20; i++)
      ((uint32_t *)(uintptr_t)o.at)[i] = o.value;
    return CUDA_SUCCESS;
  }
  F.launches++;
  F.counter++;
  if (strcmp(o.kernel->name, "fault") == 0) F.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  if (strcmp(o.kernel->name, "poke") == 0) poke(o.at, (unsigned char)o.value);
  return CUDA_SUCCESS;
}

/* ---- the machine ---- */
CUresult cuInit(unsigned flags) { return F.init; }
CUresult cuDriverGetVersion(int *v) { ENTER; *v = 13000; return CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult e, const char **s) {
  *s = e == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
     : e == CUDA_ERROR_NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : NULL;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult e, const char **s) { *s = "the text of the error"; return CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int *n) { ENTER; *n = 1; return CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *d, int i) { ENTER; *d = i; return CUDA_SUCCESS; }
CUresult cuDeviceGetName(char *s, int n, CUdevice d) { ENTER; strncpy(s, "Fake 90", (size_t)n); return CUDA_SUCCESS; }
CUresult cuDeviceGetUuid(CUuuid *u, CUdevice d) { ENTER; memset(u, 0xab, sizeof *u); return CUDA_SUCCESS; }
CUresult cuDeviceTotalMem(size_t *n, CUdevice d) { ENTER; *n = 1u << 30; return CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d) {
  static const int of[][2] = {
    { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 2 }, { CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 4096 },
    { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448 },
    { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 },
    { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9 },
    { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0 },
    { CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647 }, { CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535 },
    { CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535 }, { CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024 },
    { CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024 }, { CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64 },
    { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048 },
    { CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 2 },   /* see F.maps */
    { CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1 }, { CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, 1 },
  };
  ENTER;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    if (of[i][0] == (int)a) { *v = of[i][1] == 2 && a == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ? F.maps : of[i][1]; return CUDA_SUCCESS; }
  return CUDA_ERROR_INVALID_VALUE;
}

/* ---- context, stream, events ---- */
static CUcontext primary;
CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) {
  CUresult r = make(&primary);
  *c = primary;
  return r;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice d) { return unmake(primary); }
CUresult cuCtxSetCurrent(CUcontext c) { ENTER; return CUDA_SUCCESS; }
CUresult cuCtxSynchronize(void) { return F.sticky; }
CUresult cuCtxSetLimit(CUlimit l, size_t n) { ENTER; return CUDA_SUCCESS; }
CUresult cuCtxResetPersistingL2Cache(void) { ENTER; F.resets++; return CUDA_SUCCESS; }
CUresult cuStreamCreate(CUstream *s, unsigned flags) { return make(s); }
CUresult cuStreamDestroy(CUstream s) { return unmake(s); }
CUresult cuStreamSynchronize(CUstream s) { ENTER; return CUDA_SUCCESS; }
CUresult cuEventCreate(CUevent *e, unsigned flags) { return make(e); }
CUresult cuEventDestroy(CUevent e) { return unmake(e); }
CUresult cuEventRecord(CUevent e, CUstream s) { ENTER; *(char *)e = F.empty; return CUDA_SUCCESS; }
CUresult cuEventQuery(CUevent e) {
  return F.late == 0 ? CUDA_ERROR_NOT_READY : (F.late--, CUDA_SUCCESS);
}
CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b) { ENTER; *ms = *(char *)b ? 0.0625f : 0.25f; return CUDA_SUCCESS; }

/* ---- memory ---- */
CUresult cuMemAllocHost(void **p, size_t n) { ENTER; *p = malloc(n); F.live++; return CUDA_SUCCESS; }
CUresult cuMemAlloc(CUdeviceptr *p, size_t n) {
  return n > 1u << 30 ? CUDA_ERROR_OUT_OF_MEMORY : cuMemAllocHost((void **)p, n);
}
CUresult cuMemFree(CUdeviceptr p) { return unmake((void *)(uintptr_t)p); }
CUresult cuMemFreeHost(void *p) { return unmake(p); }
CUresult cuMemGetInfo(size_t *left, size_t *all) { *left = 1u << 20; *all = 1u << 30; return CUDA_SUCCESS; }
CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *n, CUdeviceptr p) { *base = p; *n = 512; return CUDA_SUCCESS; }
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned v, size_t n, CUstream s) {
  ENTER;
  return perform((op){ NULL, p, v, n });
}
static CUresult move(CUdeviceptr dst, CUdeviceptr src, size_t n) {
  ENTER;
  memcpy((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, n);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr d, const void *s, size_t n, CUstream q) { return move(d, (uintptr_t)s, n); }
CUresult cuMemcpyDtoHAsync(void *d, CUdeviceptr s, size_t n, CUstream q) { return move((uintptr_t)d, s, n); }
CUresult cuMemcpyDtoDAsync(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream q) { return move(d, s, n); }
CUresult cuIpcOpenMemHandle(CUdeviceptr *p, CUipcMemHandle h, unsigned flags) {
  return F.attach != CUDA_SUCCESS ? F.attach : cuMemAlloc(p, 512);
}
CUresult cuMemGetAllocationGranularity(size_t *n, const CUmemAllocationProp *p, CUmemAllocationGranularity_flags f) {
  ENTER;
  *n = 1 << 16;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr *p, size_t n, size_t align, CUdeviceptr at, unsigned long long flags) {
  ENTER;
  range *r = ranges;
  while (r->size != 0) r++;
  void *m = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  *r = (range){ .at = *p = (uintptr_t)m, .size = n };
  F.live++;
  return m == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr p, size_t n) {
  munmap((void *)(uintptr_t)p, n);
  *range_of(p) = (range){ .size = 0 };
  F.live--;
  return CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle *h, size_t n, const CUmemAllocationProp *p, unsigned long long flags) {
  return n > 1u << 30 ? CUDA_ERROR_OUT_OF_MEMORY : make(h);
}
CUresult cuMemRelease(CUmemGenericAllocationHandle h) { return unmake((void *)(uintptr_t)h); }
CUresult cuMemMap(CUdeviceptr p, size_t n, size_t offset, CUmemGenericAllocationHandle h, unsigned long long flags) {
  ENTER;
  range_of(p)->mapped = p;
  range_of(p)->length = n;
  F.live++;
  return CUDA_SUCCESS;
}
CUresult cuMemUnmap(CUdeviceptr p, size_t n) { range_of(p)->length = 0; F.live--; return CUDA_SUCCESS; }
CUresult cuMemSetAccess(CUdeviceptr p, size_t n, const CUmemAccessDesc *a, size_t count) {
  ENTER;
  range_of(p)->writing = a->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return mprotect((void *)(uintptr_t)p, n, PROT_READ | (range_of(p)->writing ? PROT_WRITE : 0)) == 0
         ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuIpcCloseMemHandle(CUdeviceptr p) { return cuMemFree(p); }

/* ---- code ---- */
CUresult cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned n, CUjit_option *o, void **v) {
  if (strncmp(image, "bad", 3) != 0) return make(m);
  strcpy(v[0], "line 3: syntax\nerror");
  return CUDA_ERROR_INVALID_PTX;
}
CUresult cuModuleUnload(CUmodule m) { return unmake(m); }
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) {
  ENTER;
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    if (strcmp(kernels[i].name, name) == 0) { *f = &kernels[i]; return CUDA_SUCCESS; }
  return CUDA_ERROR_NOT_FOUND;
}
CUresult cuModuleGetGlobal(CUdeviceptr *p, size_t *size, CUmodule m, const char *name) {
  ENTER;
  if (strcmp(name, "counter") != 0) return CUDA_ERROR_NOT_FOUND;
  *p = (uintptr_t)&F.counter;
  *size = sizeof F.counter;
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int *v, CUfunction_attribute a, CUfunction f) {
  ENTER;
  *v = a == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? f->threads
     : a == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? f->shared
     : a == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES ? 8
     : a == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? 49152 - f->shared : 32;
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction f, int block, size_t shared) {
  ENTER;
  *n = 2;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int v) {
  ENTER;
  if (a == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) F.opted_shared = v;
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra) {
  op o = { f, 0, 0, 0 };
  ENTER;
  if (strcmp(f->name, "note") == 0) {   /* of one SM: { cycles, ns } */
    uint64_t *at = *(uint64_t **)params[0];
    F.ns += 1000;
    at[0] = F.cycles += 1000 * (F.slow > 0 && F.slow-- ? 1 : 2);
    at[1] = F.ns;
    return CUDA_SUCCESS;
  }
  F.empty = strcmp(f->name, "nothing") == 0;
  if (strcmp(f->name, "wait") == 0) { F.waits++; return CUDA_SUCCESS; }
  if (F.empty) return CUDA_SUCCESS;
  F.clusters += c->numAttrs;
  if (extra != NULL) {
    memcpy(&o.at, extra[1], sizeof o.at);
    memcpy(&o.value, (char *)extra[1] + sizeof o.at, sizeof o.value);
  }
  return perform(o);
}

/* ---- graphs ---- */
CUresult cuStreamBeginCapture(CUstream s, CUstreamCaptureMode mode) {
  ENTER;
  capturing = calloc(1, sizeof *capturing);
  F.live++;
  return CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream s, CUgraph *g) { *g = capturing; capturing = NULL; return enter(); }
CUresult cuGraphDestroy(CUgraph g) { return unmake(g); }
CUresult cuGraphInstantiate(CUgraphExec *x, CUgraph g, unsigned long long flags) {
  ENTER;
  struct CUgraph_st *copy = malloc(sizeof *copy);
  *copy = *g;
  *x = (CUgraphExec)copy;
  F.live++;
  return CUDA_SUCCESS;
}
CUresult cuGraphUpload(CUgraphExec x, CUstream s) { ENTER; return CUDA_SUCCESS; }
CUresult cuGraphExecDestroy(CUgraphExec x) { return unmake(x); }
CUresult cuGraphLaunch(CUgraphExec x, CUstream s) {
  struct CUgraph_st *g = (struct CUgraph_st *)x;
  ENTER;
  F.graphs++;
  for (int i = 0; i < g->n; i++) perform(g->ops[i]);
  return CUDA_SUCCESS;
}
