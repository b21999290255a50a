/* open.h - a real device. */
#ifndef CAWB_CUDA_OPEN_H
#define CAWB_CUDA_OPEN_H

#include "gpu/device/device.h"

/* The GPU of this ordinal, a number as text ("0"). */
cawb_status cawb_device_open_cuda(cawb_device **out, const char *ordinal, cawb_err *err);

#endif
