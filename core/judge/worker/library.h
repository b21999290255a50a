/* library.h - a loaded plan's library calls: how the device is going to compute them. */
#ifndef CAWB_WORKER_LIBRARY_H
#define CAWB_WORKER_LIBRARY_H

#include <cjson/cJSON.h>

#include "gpu/device/device.h"
#include "gpu/plan/plan.h"

/*
** Have the calls of a bound plan chosen and tried, and noted in its description; all tensors
** may change. The request may say where a Python keeps libraries ("packages").
*/
cawb_status cawb_worker_choose(cawb_device *d, cawb_plan *p, const cJSON *request, cawb_err *err);

#endif
