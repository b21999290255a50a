/*
** variables.h - a module's __device__ variables: what they were when it was loaded comes back before
** every run, and a run that leaves another value behind is told.
*/
#ifndef CAWB_SIM_VARIABLES_H
#define CAWB_SIM_VARIABLES_H

#include "gpu/device/device.h"

cawb_status sim_variables_keep(cawb_module *m, cawb_err *err);       /* once, after loading */
void        sim_variables_restore(cawb_module *m);
cawb_status sim_variables_find(cawb_device *d, const cawb_module *m, const char *name, cawb_addr *at, size_t *size,
                               cawb_err *err);
cawb_status sim_variables_changed(cawb_device *d, cawb_module *m, char *names, size_t room, cawb_err *err);

#endif
