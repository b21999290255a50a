/* profile.h - what was counted of each launch, value by value, and of each line of its source. */
#ifndef CAWB_SIM_TIME_PROFILE_H
#define CAWB_SIM_TIME_PROFILE_H

#include "sim/exec/exec.h"
#include "sim/memory/device.h"

typedef struct sim_watch {
  cawb_profile *p;
  unsigned launches;
} sim_watch;

/* From `begin` to `end` each launch of the device is noted in `p`; `w` is the caller's, and has to
   live as long. */
cawb_status sim_profile_begin(sim_device *d, sim_watch *w, cawb_profile *p, cawb_err *err);
void        sim_profile_end(sim_device *d);

/* Note a launch that has been settled, or a library's call; `before` is the report without it. */
cawb_status sim_profile_launch(const sim_exec *x, const cawb_report *before, const cawb_report *after, cawb_err *err);
cawb_status sim_profile_library(sim_device *d, const char *name, const cawb_report *before,
                                const cawb_report *after, cawb_err *err);

#endif
