/* launch.h - the steps of a plan on the simulated device. */
#ifndef CAWB_SIM_LAUNCH_H
#define CAWB_SIM_LAUNCH_H

#include "gpu/device/device.h"

cawb_status sim_run(cawb_device *d, cawb_module *m, const cawb_step *steps, size_t n, cawb_report *report,
                    cawb_err *err);

#endif
