/* device.c - forwards to a device's implementation. */
#include "gpu/device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void cawb_device_close(cawb_device *d) {
  if (d != NULL) d->ops->close(d);
}

const cawb_device_info *cawb_device_about(const cawb_device *d) { return &d->info; }
int cawb_device_lost(const cawb_device *d) { return d->lost; }

void cawb_device_sample(cawb_device *d, uint64_t blocks) {
  if (d->ops->sample != NULL) d->ops->sample(d, blocks);
}

void cawb_device_sanitize(cawb_device *d, int on) {
  if (d->ops->sanitize != NULL) d->ops->sanitize(d, on);
}

void cawb_device_threads(cawb_device *d, unsigned n) {
  if (d->ops->threads != NULL) d->ops->threads(d, n);
}

cawb_status cawb_device_alloc(cawb_device *d, size_t size, const char *label,
                              cawb_addr *out, cawb_err *err) {
  *out = 0;
  return d->ops->alloc(d, size, label, out, err);
}

void cawb_device_free(cawb_device *d, cawb_addr a) {
  if (a != 0) d->ops->free(d, a);
}

cawb_status cawb_device_protect(cawb_device *d, cawb_addr a, cawb_err *err) {
  return d->ops->protect != NULL ? d->ops->protect(d, a, err) : CAWB_OK;
}

cawb_status cawb_device_write(cawb_device *d, cawb_addr dst, const void *src,
                              size_t size, cawb_err *err) {
  return d->ops->write(d, dst, src, size, err);
}

cawb_status cawb_device_read(cawb_device *d, void *dst, cawb_addr src,
                             size_t size, cawb_err *err) {
  return d->ops->read(d, dst, src, size, err);
}

cawb_status cawb_device_copy(cawb_device *d, cawb_addr dst, cawb_addr src,
                             size_t size, cawb_err *err) {
  return d->ops->copy(d, dst, src, size, err);
}

cawb_status cawb_device_fill(cawb_device *d, cawb_addr dst, uint32_t pattern,
                             size_t size, cawb_err *err) {
  return d->ops->fill(d, dst, pattern, size, err);
}

cawb_status cawb_device_attach(cawb_device *d, const cawb_share *share,
                               cawb_addr *out, cawb_err *err) {
  *out = 0;
  return d->ops->attach(d, share, out, err);
}

void cawb_device_detach(cawb_device *d, cawb_addr a) {
  if (a != 0) d->ops->detach(d, a);
}

cawb_status cawb_device_load(cawb_device *d, const cawb_image *image,
                             cawb_module **out, cawb_err *err) {
  *out = NULL;
  return d->ops->load(d, image, out, err);
}

void cawb_device_unload(cawb_device *d, cawb_module *m) {
  if (m != NULL) d->ops->unload(d, m);
}

cawb_status cawb_device_choose(cawb_device *d, const cawb_step *steps, size_t n,
                               const char *site_packages, cawb_choice *choices, cawb_err *err) {
  memset(choices, 0, n * sizeof *choices);
  return d->ops->choose(d, steps, n, site_packages, choices, err);
}

cawb_status cawb_device_run(cawb_device *d, cawb_module *m, const cawb_step *steps,
                            size_t n, cawb_report *report, cawb_err *err) {
  memset(report, 0, sizeof *report);
  return d->ops->run(d, m, steps, n, report, err);
}

cawb_status cawb_device_changed(cawb_device *d, cawb_module *m, char *names, size_t room, cawb_err *err) {
  names[0] = '\0';
  return m != NULL ? d->ops->changed(d, m, names, room, err) : CAWB_OK;
}

void cawb_device_prints(cawb_device *d, FILE *to) {
  if (d->ops->prints != NULL) d->ops->prints(d, to);
}

void cawb_device_lasting(cawb_device *d) {
  if (d->ops->lasting != NULL) d->ops->lasting(d);
}

cawb_status cawb_device_variable(cawb_device *d, const cawb_module *m, const char *name,
                                 cawb_addr *at, size_t *size, cawb_err *err) {
  *at = 0;
  *size = 0;
  if (d->ops->variable == NULL)
    return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "%s does not tell where variables are", d->info.name);
  return d->ops->variable(d, m, name, at, size, err);
}

cawb_status cawb_device_kernel(cawb_device *d, const cawb_module *m, const char *name, unsigned threads,
                               size_t shared, cawb_kernel_facts *out, cawb_err *err) {
  memset(out, 0, sizeof *out);
  if (d->ops->kernel == NULL)
    return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "%s does not tell about kernels", d->info.name);
  return d->ops->kernel(d, m, name, threads, shared, out, err);
}

void cawb_device_name(char *names, size_t room, const char *name) {
  size_t used = strlen(names);
  snprintf(names + used, room - used, "%s%s", used > 0 ? ", " : "", name);
  cawb_utf8_clean(names);
}

cawb_status cawb_device_time(cawb_device *d, cawb_module *m, const cawb_step *steps,
                             size_t n, cawb_timing *timing, cawb_err *err) {
  timing->count = 0;
  return d->ops->time(d, m, steps, n, timing, err);
}

cawb_status cawb_device_profile(cawb_device *d, cawb_module *m, const cawb_step *steps,
                                size_t n, const char *const *metrics, size_t nmetrics,
                                cawb_profile *p, cawb_err *err) {
  const cawb_sampling *s = &p->sampling;
  *p = (cawb_profile){ .site_packages = p->site_packages, .before = p->before,
    .nbefore = p->nbefore, .sampling = { .image = s->image, .period = s->period,
      .buffer = s->buffer, .budget = s->budget, .most = s->most, .unit = "samples" } };
  return d->ops->profile(d, m, steps, n, metrics, nmetrics, p, err);
}

cawb_status cawb_profile_add(cawb_profile *p, cawb_profile_value v, cawb_err *err) {
  if ((p->count & (p->count - 1)) == 0) {       /* full at every power of two */
    size_t room = p->count > 0 ? 2 * p->count : 1;
    cawb_profile_value *grown = realloc(p->list, room * sizeof *grown);
    if (grown == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a profile");
    p->list = grown;
  }
  p->list[p->count++] = v;
  return CAWB_OK;
}

void cawb_profile_free(cawb_profile *p) {
  free(p->list);
  p->list = NULL;
  p->count = 0;
  cawb_lines_free(&p->sampling.seen.lines);
}
