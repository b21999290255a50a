/*
** shared.h - memory of the task host's in the worker. What comes as a handle stays
** mapped from one request to the next: asking for it anew costs a millisecond.
*/
#ifndef CAWB_WORKER_SHARED_H
#define CAWB_WORKER_SHARED_H

#include <cjson/cJSON.h>

#include "gpu/device/device.h"
#include "base/process/message.h"

typedef struct cawb_shared {     /* all zero: nothing is mapped */
  cawb_share share;              /* what was asked for last */
  cawb_addr base;                /* where it is; 0: nowhere, it is empty */
} cawb_shared;

/* Map the share that a request describes, if it is not there already. */
cawb_status cawb_shared_hold(cawb_shared *s, cawb_device *d, const cJSON *json,
                             const cawb_message *m, cawb_err *err);

/* After its use: what came as a descriptor is let go, it would not be known again. */
void        cawb_shared_done(cawb_shared *s, cawb_device *d);
void        cawb_shared_drop(cawb_shared *s, cawb_device *d);   /* dropped is a no-op */

#endif
