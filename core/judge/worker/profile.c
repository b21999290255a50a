/* profile.c - see profile.h. */
#include "judge/worker/profile.h"

#include <math.h>
#include <stdlib.h>

#include "judge/worker/image.h"
#include "base/process/serve.h"

#define MOST_BYTES (1ull << 53)     /* up to here a double holds every whole number */

/* ---- the request ---- */

/* The names: a new array, the caller's, of texts borrowed from the request. */
static cawb_status read_metrics(const char ***out, size_t *n, const cJSON *request,
                                     cawb_err *err) {
  const cJSON *list = cJSON_GetObjectItemCaseSensitive(request, "metrics"), *item;
  size_t count = (size_t)cJSON_GetArraySize(list);
  *out = NULL;
  *n = 0;
  cJSON_ArrayForEach(item, list)
    if (!cJSON_IsString(item))
      return cawb_fail(err, CAWB_ERR_INVALID, "profile: metrics must be a list of names");
  const char **names = calloc(count + 1, sizeof *names);
  if (names == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for metrics");
  cJSON_ArrayForEach(item, list) names[(*n)++] = item->valuestring;
  *out = names;
  return CAWB_OK;
}

static int wants_lines(const cJSON *request) {
  return cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(request, "lines"));
}

static cawb_status read_sampling(cawb_sampling *out, const cJSON *request, cawb_err *err) {
  const cJSON *how = cJSON_GetObjectItemCaseSensitive(request, "lines");
  const cJSON *budget = cJSON_GetObjectItemCaseSensitive(how, "budget");
  uint64_t period = 0, buffer = 0, most = 0;
  cawb_status rc = cawb_request_count(&period, how, "period", 31, err);
  if (rc == CAWB_OK) rc = cawb_request_count(&buffer, how, "buffer", MOST_BYTES, err);
  if (rc == CAWB_OK) rc = cawb_request_count(&most, how, "most", UINT32_MAX, err);
  if (rc != CAWB_OK) return rc;
  if (!cJSON_IsNumber(budget) || !(budget->valuedouble >= 0))
    return cawb_fail(err, CAWB_ERR_INVALID, "profile: a budget is seconds, 0 or more");
  out->period = (unsigned)period;
  out->buffer = (size_t)buffer;
  out->most = (unsigned)most;
  out->budget = budget->valuedouble;
  return CAWB_OK;
}

/* ---- the reply ---- */

static void describe_traffic(cJSON *line, const uint64_t *traffic) {
  if (traffic[0] + traffic[2] == 0) return;
  cJSON *o = cJSON_AddObjectToObject(line, "traffic");
  cJSON_AddNumberToObject(o, "global_requests", (double)traffic[0]);
  cJSON_AddNumberToObject(o, "global_sectors", (double)traffic[1]);
  cJSON_AddNumberToObject(o, "shared_requests", (double)traffic[2]);
  cJSON_AddNumberToObject(o, "shared_wavefronts", (double)traffic[3]);
  cJSON_AddNumberToObject(o, "shared_least", (double)traffic[4]);
}

static void describe_line(cJSON *list, const cawb_lines *l, const cawb_line *at) {
  cJSON *o = cJSON_CreateObject();
  cJSON_AddStringToObject(o, "kernel", at->kernel);
  cJSON_AddStringToObject(o, "file", at->file);
  cJSON_AddNumberToObject(o, "line", at->number);
  cJSON *reasons = cJSON_AddObjectToObject(o, "reasons");
  for (size_t i = 0; i < l->nreasons; i++)
    if (at->samples[i] > 0)
      cJSON_AddNumberToObject(reasons, l->reasons[i], (double)at->samples[i]);
  describe_traffic(o, at->traffic);
  cJSON_AddItemToArray(list, o);
}

static void describe_sampling(cJSON *reply, const cawb_sampling *s) {
  cJSON *o = cJSON_AddObjectToObject(reply, "sampling");
  cJSON_AddNumberToObject(o, "runs", s->runs);
  cJSON_AddNumberToObject(o, "period", s->period);
  cJSON_AddNumberToObject(o, "total", s->seen.total);
  cJSON_AddNumberToObject(o, "other", s->seen.other);
  cJSON_AddNumberToObject(o, "dropped", s->seen.dropped);
  cJSON_AddStringToObject(o, "unit", s->unit);
  if (s->note[0] != '\0') cJSON_AddStringToObject(o, "note", s->note);
  cJSON *list = cJSON_AddArrayToObject(o, "lines");
  for (size_t i = 0; i < s->seen.lines.count; i++) describe_line(list, &s->seen.lines, &s->seen.lines.list[i]);
}

static cJSON *describe(const cawb_profile *p) {
  cJSON *o = cJSON_CreateObject();
  cJSON *kernels = cJSON_AddArrayToObject(o, "kernels"), *k = NULL;
  for (size_t i = 0; i < p->count; i++) {
    const cawb_profile_value *v = &p->list[i];
    while ((unsigned)cJSON_GetArraySize(kernels) <= v->launch) {
      k = cJSON_CreateObject();
      cJSON_AddStringToObject(k, "kernel", v->kernel);
      cJSON_AddObjectToObject(k, "metrics");
      cJSON_AddObjectToObject(k, "sources");
      if (!cJSON_AddItemToArray(kernels, k)) return o;       /* memory ended */
    }
    if (!isfinite(v->value)) continue;                       /* JSON has no word for it */
    k = cJSON_GetArrayItem(kernels, (int)v->launch);
    cJSON_AddNumberToObject(cJSON_GetObjectItem(k, "metrics"), v->metric, v->value);
    cJSON_AddStringToObject(cJSON_GetObjectItem(k, "sources"), v->metric, v->source);
  }
  cJSON_AddNumberToObject(o, "passes", p->passes);
  cJSON_AddNumberToObject(o, "setup", p->setup);
  cJSON_AddNumberToObject(o, "seconds", p->seconds);
  if (p->note[0] != '\0') cJSON_AddStringToObject(o, "note", p->note);
  if (p->sampling.image != NULL) describe_sampling(o, &p->sampling);
  return o;
}

/* ---- the whole ---- */

static cawb_status profile(const cawb_worker_plan *plan, const cJSON *request, cawb_profile *p,
                           cJSON *reply, cawb_err *err) {
  const char **metrics;
  size_t n;
  cawb_status rc = read_metrics(&metrics, &n, request, err);
  if (rc != CAWB_OK) return rc;
  rc = cawb_device_profile(plan->device, plan->module, plan->call, plan->ncall, metrics, n, p, err);
  if (rc == CAWB_OK) cJSON_AddItemToObject(reply, "profile", describe(p));
  cawb_profile_free(p);
  free((void *)metrics);
  return rc;
}

cawb_status cawb_worker_profile(const cawb_worker_plan *plan, const cJSON *request, cJSON *reply,
                                cawb_err *err) {
  cawb_image image = { NULL, NULL, 0 };
  cawb_status rc = CAWB_OK;
  cawb_profile p = { .site_packages = cawb_request_text(request, "packages"),
                     .before = plan->before, .nbefore = plan->nbefore };
  if (wants_lines(request)) {
    p.sampling.image = &image;
    rc = read_sampling(&p.sampling, request, err);
    if (rc == CAWB_OK)
      rc = cawb_image_read(&image, cawb_request_text(request, "ptx"),
                           cawb_request_text(request, "cubin"), err);
  }
  if (rc == CAWB_OK) rc = profile(plan, request, &p, reply, err);
  cawb_image_free(&image);
  return rc;
}
