/*
** open.h - a device by its name. The one place that knows every kind of device.
*/
#ifndef CAWB_WORKER_OPEN_H
#define CAWB_WORKER_OPEN_H

#include "gpu/device/device.h"

/* Open "auto", "cuda:N" or "sim:MODEL". `figures` (copied, may be NULL) describe the model. "auto" is the first GPU,
** or, where there is none, the simulated device that they describe (NULL: an H100). */
cawb_status cawb_device_open(cawb_device **out, const char *name, const cawb_figures *figures, cawb_err *err);

#endif
