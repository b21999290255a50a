/* open.h - a simulated device. */
#ifndef CAWB_SIM_OPEN_H
#define CAWB_SIM_OPEN_H

#include "gpu/device/device.h"

/* A device of this model ("h100"). `figures` (copied) describe it; NULL: the H100's. */
cawb_status cawb_device_open_sim(cawb_device **out, const char *model, const cawb_figures *figures, cawb_err *err);

#endif
