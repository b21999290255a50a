/* errors.c - see errors.h. */
#include "sim/cudart/errors.h"

#include <stddef.h>
#include <string.h>

static const struct { int code; const char *name, *text; } errors[] = {
  { CAWB_CUDA_OK, "cudaSuccess", "no error" },
  { CAWB_CUDA_VALUE, "cudaErrorInvalidValue", "invalid argument" },
  { CAWB_CUDA_MEMORY, "cudaErrorMemoryAllocation", "out of memory" },
  { CAWB_CUDA_INITIALIZATION, "cudaErrorInitializationError", "no simulated device: start the program with cawb exec" },
  { CAWB_CUDA_CONFIGURATION, "cudaErrorInvalidConfiguration", "invalid configuration argument" },
  { CAWB_CUDA_SYMBOL, "cudaErrorInvalidSymbol", "invalid device symbol" },
  { CAWB_CUDA_DIRECTION, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy" },
  { CAWB_CUDA_MISSING_CONFIGURATION, "cudaErrorMissingConfiguration", "the launch has no configuration" },
  { CAWB_CUDA_FUNCTION, "cudaErrorInvalidDeviceFunction", "invalid device function" },
  { CAWB_CUDA_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal" },
  { CAWB_CUDA_NO_IMAGE, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device" },
  { CAWB_CUDA_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle" },
  { CAWB_CUDA_NOT_READY, "cudaErrorNotReady", "device not ready" },
  { CAWB_CUDA_ADDRESS, "cudaErrorIllegalAddress", "an illegal memory access was encountered" },
  { CAWB_CUDA_RESOURCES, "cudaErrorLaunchOutOfResources", "too many resources requested for launch" },
  { CAWB_CUDA_ASSERT, "cudaErrorAssert", "device-side assert triggered" },
  { CAWB_CUDA_MISALIGNED, "cudaErrorMisalignedAddress", "misaligned address" },
  { CAWB_CUDA_LAUNCH, "cudaErrorLaunchFailure", "unspecified launch failure" },
  { CAWB_CUDA_COOPERATIVE, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch" },
  { CAWB_CUDA_UNSUPPORTED, "cudaErrorNotSupported", "operation not supported" },
};
enum { ERRORS = sizeof errors / sizeof *errors };

const char *cawb_errors_name(int error) {
  for (int i = 0; i < ERRORS; i++)
    if (errors[i].code == error) return errors[i].name;
  return "cudaErrorUnknown";
}

const char *cawb_errors_text(int error) {
  for (int i = 0; i < ERRORS; i++)
    if (errors[i].code == error) return errors[i].text;
  return "unrecognized error code";
}

int cawb_errors_fault(const char *message) {
  static const struct { const char *word; int code; } words[] = {
    { "assertion failed", CAWB_CUDA_ASSERT }, { "misaligned", CAWB_CUDA_MISALIGNED }, { ": trap", CAWB_CUDA_LAUNCH },
    { " bytes of shared memory (", CAWB_CUDA_VALUE }, { "cooperative launch needs", CAWB_CUDA_COOPERATIVE },
    { "threads in a block", CAWB_CUDA_RESOURCES },
    { "barrier", CAWB_CUDA_LAUNCH }
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strstr(message, words[i].word) != NULL) return words[i].code;
  return CAWB_CUDA_ADDRESS;
}
