/* errors.h - the runtime's error codes: numbers, names and texts. */
#ifndef CAWB_CUDART_ERRORS_H
#define CAWB_CUDART_ERRORS_H

enum {
  CAWB_CUDA_OK = 0, CAWB_CUDA_VALUE = 1, CAWB_CUDA_MEMORY = 2, CAWB_CUDA_INITIALIZATION = 3,
  CAWB_CUDA_CONFIGURATION = 9, CAWB_CUDA_SYMBOL = 13, CAWB_CUDA_DIRECTION = 21, CAWB_CUDA_MISSING_CONFIGURATION = 52,
  CAWB_CUDA_FUNCTION = 98, CAWB_CUDA_DEVICE = 101, CAWB_CUDA_NO_IMAGE = 209, CAWB_CUDA_HANDLE = 400,
  CAWB_CUDA_NOT_READY = 600, CAWB_CUDA_ADDRESS = 700, CAWB_CUDA_RESOURCES = 701, CAWB_CUDA_ASSERT = 710,
  CAWB_CUDA_MISALIGNED = 716, CAWB_CUDA_LAUNCH = 719, CAWB_CUDA_COOPERATIVE = 720, CAWB_CUDA_UNSUPPORTED = 801
};

const char *cawb_errors_name(int error);        /* "cudaErrorInvalidValue" */
const char *cawb_errors_text(int error);        /* "invalid argument" */

/* The code of a launch that ended with this message. */
int cawb_errors_fault(const char *message);

#endif
