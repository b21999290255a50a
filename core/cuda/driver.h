/*
** driver.h - the NVIDIA driver as a table of functions, opened at run time.
**
** Nothing links against libcuda: the same program runs where there is none.
** cuda.h maps a name to the version of it that the headers were made for
** (cuMemAlloc is cuMemAlloc_v2); the table asks the library for those names, so
** cu->cuMemAlloc is called exactly as the manual of the driver says.
** Needs a driver of CUDA 12 or newer. Any thread may call through the table.
*/
#ifndef CAWB_CUDA_DRIVER_H
#define CAWB_CUDA_DRIVER_H

#include <cuda.h>

#include "base/err.h"

#define CAWB_CUDA_FUNCTIONS(F) \
  F(cuInit) F(cuDriverGetVersion) F(cuGetErrorName) F(cuGetErrorString) \
  F(cuDeviceGetCount) F(cuDeviceGet) F(cuDeviceGetName) F(cuDeviceGetUuid) \
  F(cuDeviceTotalMem) F(cuDeviceGetAttribute) \
  F(cuDevicePrimaryCtxRetain) F(cuDevicePrimaryCtxRelease) \
  F(cuCtxSetCurrent) F(cuCtxSynchronize) F(cuCtxSetLimit) \
  F(cuCtxResetPersistingL2Cache) \
  F(cuStreamCreate) F(cuStreamDestroy) F(cuStreamSynchronize) \
  F(cuStreamBeginCapture) F(cuStreamEndCapture) \
  F(cuEventCreate) F(cuEventDestroy) F(cuEventRecord) F(cuEventQuery) \
  F(cuEventElapsedTime) \
  F(cuMemAlloc) F(cuMemFree) F(cuMemAllocHost) F(cuMemFreeHost) \
  F(cuMemGetInfo) F(cuMemGetAddressRange) F(cuMemsetD32Async) \
  F(cuMemAddressReserve) F(cuMemAddressFree) F(cuMemCreate) F(cuMemRelease) \
  F(cuMemMap) F(cuMemUnmap) F(cuMemSetAccess) F(cuMemGetAllocationGranularity) \
  F(cuMemcpyHtoDAsync) F(cuMemcpyDtoHAsync) F(cuMemcpyDtoDAsync) \
  F(cuIpcOpenMemHandle) F(cuIpcCloseMemHandle) \
  F(cuModuleLoadDataEx) F(cuModuleUnload) F(cuModuleGetFunction) \
  F(cuModuleGetGlobal) \
  F(cuFuncGetAttribute) F(cuFuncSetAttribute) F(cuLaunchKernelEx) \
  F(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  F(cuGraphInstantiate) F(cuGraphUpload) F(cuGraphLaunch) \
  F(cuGraphDestroy) F(cuGraphExecDestroy)

typedef struct cawb_cuda_driver {
  void *library;               /* from dlopen; NULL when closed */
#define CAWB_CUDA_MEMBER(name) __typeof__(&name) name;
  CAWB_CUDA_FUNCTIONS(CAWB_CUDA_MEMBER)
#undef CAWB_CUDA_MEMBER
} cawb_cuda_driver;

/*
** Fill the caller's table and call cuInit. `path` is a library to use in place
** of searching for libcuda.so.1; NULL searches. `who` ("cuda:0") begins messages.
** CAWB_ERR_MISSING without a usable driver or a GPU; the table is then closed.
*/
cawb_status cawb_cuda_driver_open(cawb_cuda_driver *cu, const char *path,
                                  const char *who, cawb_err *err);
void        cawb_cuda_driver_close(cawb_cuda_driver *cu);   /* closed is a no-op */

/* Fill `err` with a printf format and ": CUDA_ERROR_NAME, text" behind it. */
__attribute__((format(printf, 5, 6)))
cawb_status cawb_cuda_driver_fail(const cawb_cuda_driver *cu, CUresult result,
                                  cawb_err *err, cawb_status code, const char *fmt, ...);

#endif
