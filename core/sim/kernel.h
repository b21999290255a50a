/* kernel.h - what is known of a kernel without executing it. */
#ifndef CAWB_SIM_KERNEL_H
#define CAWB_SIM_KERNEL_H

#include "gpu/device/device.h"

cawb_status sim_kernel_facts(cawb_device *d, const cawb_module *m, const char *name, unsigned threads, size_t shared,
                             cawb_kernel_facts *out, cawb_err *err);

#endif
