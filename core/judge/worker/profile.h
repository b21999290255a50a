/* profile.h - the worker's answer to a request for a profile. */
#ifndef CAWB_WORKER_PROFILE_H
#define CAWB_WORKER_PROFILE_H

#include <cjson/cJSON.h>

#include "gpu/device/device.h"

/* A loaded plan: what goes ahead of each call, and the call. All borrowed. */
typedef struct cawb_worker_plan {
  cawb_device *device;
  cawb_module *module;
  const cawb_step *before, *call;
  size_t nbefore, ncall;
} cawb_worker_plan;

/*
** The request has "metrics", names; "packages", where CUPTI may be, too; and, to have lines
** sampled, "lines" (period, buffer, budget, most) and the files "ptx" and "cubin" once more.
** The reply gets "profile".
*/
cawb_status cawb_worker_profile(const cawb_worker_plan *plan, const cJSON *request, cJSON *reply,
                                cawb_err *err);

#endif
