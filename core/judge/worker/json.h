/*
** json.h - a worker's requests and replies: what their fields say, checked,
** and what was found, in words and numbers.
*/
#ifndef CAWB_WORKER_JSON_H
#define CAWB_WORKER_JSON_H

#include "gpu/device/device.h"
#include "base/process/message.h"
#include "gpu/plan/plan.h"

/* The device that a request to open one names, with its figures; `blocks` is how many of a
** launch it is told to execute at most, 0 for all. */
cawb_status cawb_worker_open(cawb_device **out, uint64_t *blocks, const cJSON *request, cawb_err *err);

/* Read fields; CAWB_ERR_INVALID for what cannot be. The share borrows from `m`. */
cawb_status cawb_worker_read_share(cawb_share *out, const cJSON *share,
                                   const cawb_message *m, cawb_err *err);
/* The limits of the sandbox, and what is said of library calls. */
cawb_status cawb_worker_read_limits(cawb_plan_setting *out, const cJSON *limits,
                                    cawb_err *err);
cawb_status cawb_worker_read_poison(uint32_t *out, const cJSON *request, cawb_err *err);

/* All but `samples`, for which the caller then makes room. */
cawb_status cawb_worker_read_timing(cawb_timing *out, const cJSON *request, cawb_err *err);

/* New objects, the caller's; NULL or incomplete when memory ends. */
cJSON *cawb_worker_describe_device(const cawb_device_info *d);
cJSON *cawb_worker_describe_report(const cawb_report *r);

/* The steps of a plan into a reply: in words, and with `whole` as cawb_plan_export has them. */
cawb_status cawb_worker_describe_plan(cJSON *reply, const cawb_plan *p, int whole, cawb_err *err);

/* `changed` of the reply: the module's variables that a call has left changed, where there are any. */
cawb_status cawb_worker_add_changed(cJSON *reply, cawb_device *d, cawb_module *m, cawb_err *err);

/* `bytes` of the reply, in hexadecimal. */
cawb_status cawb_worker_add_bytes(cJSON *reply, const unsigned char *bytes, size_t size, cawb_err *err);

/* What was timed, into a reply. */
void   cawb_worker_describe_timing(cJSON *reply, const cawb_timing *t);

#endif
