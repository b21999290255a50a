/* kept.c - see kept.h. */
#include "judge/worker/kept.h"

#include <stdlib.h>
#include <string.h>

enum { MUCH = 64 << 20, FIRST = 2 };     /* bytes beyond which the first calls alone are looked at */

static size_t lasting_bytes(cawb_plan *p) {
  size_t n, size = 0;
  const cawb_plan_tensor *t = cawb_plan_tensors(p, &n);
  for (size_t i = 0; i < n; i++)
    if (cawb_plan_lasts(p, i)) size += t[i].spec.bytes;
  return size;
}

cawb_status cawb_kept_read(cawb_kept *k, cawb_device *d, cawb_plan *p, cawb_err *err) {
  size_t n, at = 0, size = lasting_bytes(p);
  const cawb_plan_tensor *t = cawb_plan_tensors(p, &n);
  free(k->bytes);
  k->bytes = NULL;
  if (size == 0 || (k->calls++ >= FIRST && size > MUCH)) return CAWB_OK;
  k->bytes = malloc(size);
  if (k->bytes == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for what prepare made");
  for (size_t i = 0; i < n; i++) {
    if (!cawb_plan_lasts(p, i)) continue;
    cawb_status rc = cawb_device_read(d, k->bytes + at, t[i].addr, t[i].spec.bytes, err);
    if (rc != CAWB_OK) return rc;
    at += t[i].spec.bytes;
  }
  return CAWB_OK;
}

static cawb_status differs(int *out, const unsigned char *was, const cawb_plan_tensor *t, cawb_device *d, cawb_err *err) {
  unsigned char *now = malloc(t->spec.bytes + 1);
  if (now == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for what prepare made");
  cawb_status rc = cawb_device_read(d, now, t->addr, t->spec.bytes, err);
  *out = rc == CAWB_OK && memcmp(now, was, t->spec.bytes) != 0;
  free(now);
  return rc;
}

cawb_status cawb_kept_compare(cawb_kept *k, cawb_device *d, cawb_plan *p, cJSON *reply, cawb_err *err) {
  size_t n, at = 0;
  char names[1024] = "";
  const cawb_plan_tensor *t = cawb_plan_tensors(p, &n);
  if (k->bytes == NULL) return CAWB_OK;
  for (size_t i = 0; i < n; i++) {
    int changed;
    if (!cawb_plan_lasts(p, i)) continue;
    cawb_status rc = differs(&changed, k->bytes + at, &t[i], d, err);
    if (rc != CAWB_OK) return rc;
    if (changed) cawb_device_name(names, sizeof names, t[i].spec.label);
    at += t[i].spec.bytes;
  }
  if (names[0] != '\0') cJSON_AddStringToObject(reply, "kept", names);
  return CAWB_OK;
}

void cawb_kept_free(cawb_kept *k) {
  free(k->bytes);
  memset(k, 0, sizeof *k);
}
