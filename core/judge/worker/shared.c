/* shared.c - see shared.h. */
#include "judge/worker/shared.h"

#include <string.h>

#include "judge/worker/json.h"

/* Only handles have an identity: a descriptor is a new one in every message. */
static int same_share(const cawb_share *a, const cawb_share *b) {
  return a->fd < 0 && b->fd < 0 && a->size == b->size
         && memcmp(a->ipc, b->ipc, sizeof a->ipc) == 0;
}

void cawb_shared_drop(cawb_shared *s, cawb_device *d) {
  if (s->base != 0) cawb_device_detach(d, s->base);
  s->base = 0;
}

cawb_status cawb_shared_hold(cawb_shared *s, cawb_device *d, const cJSON *json,
                             const cawb_message *m, cawb_err *err) {
  cawb_share share;
  cawb_status rc = cawb_worker_read_share(&share, json, m, err);
  if (rc != CAWB_OK || (s->base != 0 && same_share(&s->share, &share))) return rc;
  cawb_shared_drop(s, d);
  s->share = share;
  return share.size == 0 ? CAWB_OK : cawb_device_attach(d, &share, &s->base, err);
}

void cawb_shared_done(cawb_shared *s, cawb_device *d) {
  if (s->share.fd >= 0) cawb_shared_drop(s, d);
}
