/*
** none.c - cupti.h in a build made without CUPTI's headers: opening says so,
** and nothing else can be reached without it.
*/
#include "cuda/cupti/cupti.h"

cawb_status cawb_cupti_open(cawb_cupti **out, const cawb_places *places, cawb_err *err) {
  (void)places;
  *out = NULL;
  return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "this cawb was built without CUPTI: install a "
                   "CUDA toolkit or 'pip install nvidia-cuda-cupti', and build it again");
}

static cawb_status none(cawb_err *err) {
  return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "this cawb was built without CUPTI");
}

void cawb_cupti_close(cawb_cupti *c) { (void)c; }
const cawb_found *cawb_cupti_library(const cawb_cupti *c) { (void)c; return NULL; }

cawb_status cawb_cupti_set_new(cawb_cupti_set **out, cawb_cupti *c, const char *chip,
                               const char *const *metrics, size_t n, cawb_err *err) {
  (void)c; (void)chip; (void)metrics; (void)n;
  *out = NULL;
  return none(err);
}

void cawb_cupti_set_free(cawb_cupti_set *s) { (void)s; }
size_t cawb_cupti_set_count(const cawb_cupti_set *s) { (void)s; return 0; }
unsigned cawb_cupti_set_passes(const cawb_cupti_set *s) { (void)s; return 0; }

const char *cawb_cupti_set_metric(const cawb_cupti_set *s, size_t i) {
  (void)s; (void)i;
  return NULL;
}

cawb_status cawb_cupti_session_new(cawb_cupti_session **out, cawb_cupti *c, void *context,
                                   int device, cawb_err *err) {
  (void)c; (void)context; (void)device;
  *out = NULL;
  return none(err);
}

void cawb_cupti_session_free(cawb_cupti_session *s) { (void)s; }
const char *cawb_cupti_session_chip(const cawb_cupti_session *s) { (void)s; return NULL; }

cawb_status cawb_cupti_begin(cawb_cupti_session *s, const cawb_cupti_set *set, size_t ranges,
                             cawb_err *err) {
  (void)s; (void)set; (void)ranges;
  return none(err);
}

cawb_status cawb_cupti_start(cawb_cupti_session *s, cawb_err *err) {
  (void)s;
  return none(err);
}

cawb_status cawb_cupti_stop(cawb_cupti_session *s, int *last, cawb_err *err) {
  (void)s;
  *last = 1;
  return none(err);
}

cawb_status cawb_cupti_decode(cawb_cupti_session *s, size_t *ranges, cawb_err *err) {
  (void)s;
  *ranges = 0;
  return none(err);
}

cawb_status cawb_cupti_values(cawb_cupti_session *s, size_t range, double *values,
                              cawb_err *err) {
  (void)s; (void)range; (void)values;
  return none(err);
}

cawb_status cawb_cupti_sampler_new(cawb_cupti_sampler **out, cawb_cupti *c, void *context,
                                   unsigned period, size_t buffer, cawb_err *err) {
  (void)c; (void)context; (void)period; (void)buffer;
  *out = NULL;
  return none(err);
}

void cawb_cupti_sampler_free(cawb_cupti_sampler *s) { (void)s; }

cawb_status cawb_cupti_sampler_start(cawb_cupti_sampler *s, cawb_err *err) {
  (void)s;
  return none(err);
}

cawb_status cawb_cupti_sampler_stop(cawb_cupti_sampler *s, cawb_err *err) {
  (void)s;
  return none(err);
}

cawb_status cawb_cupti_sampler_read(cawb_cupti_sampler *s, const void *cubin, size_t size,
                                    cawb_samples *to, cawb_err *err) {
  (void)s; (void)cubin; (void)size; (void)to;
  return none(err);
}
