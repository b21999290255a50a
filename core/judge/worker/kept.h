/*
** kept.h - what prepare made must be the same after a call as before it. The judge prepares ahead of every call, a program that
** uses the kernel does so once: there what one call has left is what the next one begins with.
*/
#ifndef CAWB_WORKER_KEPT_H
#define CAWB_WORKER_KEPT_H

#include <cjson/cJSON.h>

#include "gpu/device/device.h"
#include "gpu/plan/plan.h"

/* All zero: of a plan that has not run yet. cawb_kept_free makes it so again. */
typedef struct cawb_kept {
  unsigned char *bytes;          /* of all such tensors, one behind the other; NULL: not looked at */
  size_t first, step;            /* which pieces of these bytes: a large amount is not looked at in full */
  unsigned calls;
} cawb_kept;

/* Between prepare and call: remember what lasts. Much of it, in bytes, is looked at for the first calls alone. */
cawb_status cawb_kept_read(cawb_kept *k, cawb_device *d, cawb_plan *p, cawb_err *err);

/* After the call: the reply gets "kept", the names of what is no longer as it was, if anything is. */
cawb_status cawb_kept_compare(cawb_kept *k, cawb_device *d, cawb_plan *p, cJSON *reply, cawb_err *err);

void        cawb_kept_free(cawb_kept *k);

#endif
