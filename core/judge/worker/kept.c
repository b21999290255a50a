/* kept.c - see kept.h. */
#include "judge/worker/kept.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* In bytes: beyond MUCH the first calls alone are looked at. Where MOST is not enough for all, tensors beyond SMALL are looked at in
** every so many pieces, from a place that nobody knows: this reading counts towards the deadline of the call. */
enum { FIRST = 2, PIECE = 1 << 20, SMALL = 16 << 20, MUCH = 64 << 20, MOST = 512 << 20 };

typedef cawb_status visit(void *with, size_t tensor, cawb_addr from, size_t bytes, cawb_err *err);

/* Each piece of what lasts that is looked at, and of which tensor it is. */
static cawb_status each_piece(cawb_plan *p, size_t first, size_t step, visit *seen, void *with, cawb_err *err) {
  size_t n;
  const cawb_plan_tensor *t = cawb_plan_tensors(p, &n);
  for (size_t i = 0; i < n; i++) {
    if (!cawb_plan_lasts(p, i)) continue;
    const size_t bytes = t[i].spec.bytes, apart = bytes > SMALL ? step : 1;
    for (size_t at = apart > 1 ? first * PIECE : 0; at < bytes; at += apart * PIECE) {
      cawb_status rc = seen(with, i, t[i].addr + at, bytes - at < PIECE ? bytes - at : PIECE, err);
      if (rc != CAWB_OK) return rc;
    }
  }
  return CAWB_OK;
}

static cawb_status count(void *with, size_t tensor, cawb_addr from, size_t bytes, cawb_err *err) {
  (void)tensor, (void)from, (void)err;
  *(size_t *)with += bytes;
  return CAWB_OK;
}

static cawb_status choose(cawb_kept *k, size_t size, cawb_err *err) {
  k->step = 1 + (size - 1) / MOST;
  k->first = 0;
  if (k->step == 1) return CAWB_OK;
  if (getrandom(&k->first, sizeof k->first, 0) != (ssize_t)sizeof k->first) return cawb_fail_errno(err, CAWB_ERR_IO, "getrandom");
  k->first %= k->step;
  return CAWB_OK;
}

typedef struct reading {
  cawb_device *d;
  const cawb_plan_tensor *tensors;
  unsigned char *at, now[PIECE];
  char names[1024];
  size_t named;                          /* one more than the last tensor that differs */
} reading;

static cawb_status remember(void *with, size_t tensor, cawb_addr from, size_t bytes, cawb_err *err) {
  reading *r = with;
  (void)tensor;
  r->at += bytes;
  return cawb_device_read(r->d, r->at - bytes, from, bytes, err);
}

static cawb_status compare(void *with, size_t tensor, cawb_addr from, size_t bytes, cawb_err *err) {
  reading *r = with;
  const unsigned char *was = r->at;
  r->at += bytes;
  if (r->named == tensor + 1) return CAWB_OK;
  cawb_status rc = cawb_device_read(r->d, r->now, from, bytes, err);
  if (rc != CAWB_OK || memcmp(r->now, was, bytes) == 0) return rc;
  r->named = tensor + 1;
  cawb_device_name(r->names, sizeof r->names, r->tensors[tensor].spec.label);
  return CAWB_OK;
}

static reading *begin(const cawb_kept *k, cawb_device *d, cawb_plan *p, cawb_err *err) {
  size_t n;
  reading *r = calloc(1, sizeof *r);
  if (r == NULL) cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for what prepare made");
  else r->d = d, r->tensors = cawb_plan_tensors(p, &n), r->at = k->bytes;
  return r;
}

cawb_status cawb_kept_read(cawb_kept *k, cawb_device *d, cawb_plan *p, cawb_err *err) {
  size_t size = 0, part = 0;
  free(k->bytes);
  k->bytes = NULL;
  cawb_status rc = each_piece(p, 0, 1, count, &size, err);
  if (rc != CAWB_OK || size == 0 || (k->calls++ >= FIRST && size > MUCH)) return rc;
  rc = choose(k, size, err);
  if (rc == CAWB_OK) rc = each_piece(p, k->first, k->step, count, &part, err);
  if (rc != CAWB_OK) return rc;
  k->bytes = malloc(part + 1);
  if (k->bytes == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for what prepare made");
  reading *r = begin(k, d, p, err);
  rc = r == NULL ? CAWB_ERR_MEMORY : each_piece(p, k->first, k->step, remember, r, err);
  free(r);
  return rc;
}

cawb_status cawb_kept_compare(cawb_kept *k, cawb_device *d, cawb_plan *p, cJSON *reply, cawb_err *err) {
  if (k->bytes == NULL) return CAWB_OK;
  reading *r = begin(k, d, p, err);
  if (r == NULL) return CAWB_ERR_MEMORY;
  cawb_status rc = each_piece(p, k->first, k->step, compare, r, err);
  if (rc == CAWB_OK && r->names[0] != '\0') cJSON_AddStringToObject(reply, "kept", r->names);
  free(r);
  return rc;
}

void cawb_kept_free(cawb_kept *k) {
  free(k->bytes);
  memset(k, 0, sizeof *k);
}
