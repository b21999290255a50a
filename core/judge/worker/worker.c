/* worker.c - see worker.h. */
#include "judge/worker/worker.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "gpu/device/device.h"
#include "judge/worker/image.h"
#include "gpu/plan/plan.h"
#include "base/process/serve.h"
#include "judge/worker/json.h"
#include "judge/worker/kept.h"
#include "judge/worker/library.h"
#include "judge/worker/profile.h"
#include "judge/worker/shared.h"

enum { SHARES = CAWB_PLAN_PARAM + 1 };   /* one for each role but scratch */

typedef struct worker {
  int fd;                    /* where requests come from */
  cawb_device *device;
  uint64_t blocks;           /* of a launch that are executed at most; 0: all */
  cawb_shared shared[SHARES];
  cawb_kernels kernels;      /* of the loaded candidate, as are the next two */
  cawb_module *module;
  cawb_plan *plan;
  cawb_kept kept;
} worker;

static const cJSON *field(const cJSON *o, const char *key) {
  return cJSON_GetObjectItemCaseSensitive(o, key);
}

static cawb_status do_open(worker *w, const cJSON *q, cJSON *reply, cawb_err *err) {
  if (w->device != NULL) return cawb_fail(err, CAWB_ERR_INVALID, "a device is open already");
  cawb_status rc = cawb_worker_open(&w->device, &w->blocks, q, err);
  if (rc == CAWB_OK)
    cJSON_AddItemToObject(reply, "device",
                          cawb_worker_describe_device(cawb_device_about(w->device)));
  return rc;
}

/* ---- load ---- */

static cawb_status read_setting(cawb_plan_setting *out, const worker *w, const cJSON *q,
                                const cawb_kernels *kernels, cawb_err *err) {
  const cawb_device_info *d = cawb_device_about(w->device);
  *out = (cawb_plan_setting){
    .inputs = field(q, "inputs"), .outputs = field(q, "outputs"),
    .params = field(q, "params"), .kernels = kernels, .tunables = field(q, "tunables"),
    .threads_block = d->threads_block, .shared_block = d->shared_block, .modelled = d->modelled
  };
  return cawb_worker_read_limits(out, field(q, "limits"), err);
}

static cawb_status need_plan(const worker *w, const cJSON *q, cawb_err *err) {
  if (w->device == NULL) return cawb_fail(err, CAWB_ERR_INVALID, "no device is open");
  if (cawb_request_text(q, "plan") == NULL || field(q, "limits") == NULL)
    return cawb_fail(err, CAWB_ERR_INVALID, "a request without a plan or its limits");
  return CAWB_OK;
}

static cawb_status do_tunables(worker *w, const cJSON *q, cJSON *reply, cawb_err *err) {
  cawb_status rc = need_plan(w, q, err);
  cawb_plan_setting setting;
  cJSON *list = NULL;
  if (rc == CAWB_OK) rc = read_setting(&setting, w, q, NULL, err);
  if (rc == CAWB_OK) rc = cawb_plan_tunables(&list, cawb_request_text(q, "plan"), &setting, err);
  if (rc == CAWB_OK) cJSON_AddItemToObject(reply, "tunables", list);
  return rc;
}

static void let_go_all(worker *w) {
  for (int i = 0; i < SHARES; i++) cawb_shared_drop(&w->shared[i], w->device);
}

/* The share of one role, mapped; cawb_shared_done must follow. */
static cawb_status hold(worker *w, cawb_plan_role role, const cJSON *json,
                        const cawb_message *m, cawb_shared **out, cawb_err *err) {
  *out = &w->shared[role];
  return cawb_shared_hold(*out, w->device, json, m, err);
}

static void unload(worker *w) {
  size_t n = 0;
  cawb_plan_tensor *t = w->plan != NULL ? cawb_plan_tensors(w->plan, &n) : NULL;
  for (size_t i = 0; i < n; i++) cawb_device_free(w->device, t[i].addr);
  cawb_plan_free(w->plan);
  if (w->device != NULL) cawb_device_unload(w->device, w->module);
  cawb_ptx_free(&w->kernels);
  cawb_kept_free(&w->kept);
  w->plan = NULL;
  w->module = NULL;
  memset(&w->kernels, 0, sizeof w->kernels);
}

static cawb_status load_module(worker *w, const cJSON *q, cawb_err *err) {
  cawb_image image;
  cawb_status rc = cawb_image_read(&image, cawb_request_text(q, "ptx"),
                                   cawb_request_text(q, "cubin"), err);
  if (rc == CAWB_OK) rc = cawb_ptx_kernels(&w->kernels, image.ptx, NULL, err);
  if (rc == CAWB_OK) rc = cawb_device_load(w->device, &image, &w->module, err);
  cawb_image_free(&image);
  return rc;
}

static cawb_status alloc_tensors(worker *w, double *scratch, cawb_err *err) {
  size_t n;
  cawb_plan_tensor *t = cawb_plan_tensors(w->plan, &n);
  for (size_t i = 0; i < n; i++) {
    size_t size = (t[i].spec.bytes + 3) / 4 * 4;      /* poison is laid in words */
    cawb_status rc = cawb_device_alloc(w->device, size > 0 ? size : 4, t[i].spec.label,
                                       &t[i].addr, err);
    if (rc == CAWB_OK && (t[i].role == CAWB_PLAN_INPUT || t[i].role == CAWB_PLAN_PARAM))
      rc = cawb_device_protect(w->device, t[i].addr, err);
    if (rc != CAWB_OK) return rc;
    if (t[i].role == CAWB_PLAN_SCRATCH) *scratch += (double)size;
  }
  cawb_plan_bind(w->plan);
  return CAWB_OK;
}

/* Whether each tensor of one role lies within a share, `slots` times. */
static cawb_status check_places(const worker *w, cawb_plan_role role, size_t size,
                                uint64_t slots, uint64_t stride, cawb_err *err) {
  size_t n, last = 0;
  const cawb_plan_tensor *t = cawb_plan_tensors(w->plan, &n);
  if (__builtin_mul_overflow(slots - 1, stride, &last)) last = SIZE_MAX;
  for (size_t i = 0; i < n; i++) {
    if (t[i].role != role || t[i].spec.bytes == 0) continue;
    if (last > size || t[i].spec.offset > size - last ||
        t[i].spec.bytes > size - last - t[i].spec.offset)
      return cawb_fail(err, CAWB_ERR_INVALID, "%s lies outside its share", t[i].spec.label);
  }
  return CAWB_OK;
}

/* Copy all tensors of one role between their buffers and a share. */
static cawb_status copy_all(worker *w, cawb_plan_role role, int out, cawb_addr base,
                            cawb_err *err) {
  size_t n;
  cawb_status rc = CAWB_OK;
  cawb_plan_tensor *t = cawb_plan_tensors(w->plan, &n);
  for (size_t i = 0; i < n && rc == CAWB_OK; i++) {
    if (t[i].role != role || t[i].spec.bytes == 0) continue;
    cawb_addr there = base + t[i].spec.offset;
    rc = cawb_device_copy(w->device, out ? there : t[i].addr, out ? t[i].addr : there,
                          t[i].spec.bytes, err);
  }
  return rc;
}

static cawb_status transfer(worker *w, cawb_plan_role role, int out, const cJSON *json,
                            const cawb_message *m, cawb_err *err) {
  cawb_shared *a;
  if (json == NULL && w->blocks > 0) return CAWB_OK;     /* there is no data, only sizes */
  cawb_status rc = hold(w, role, json, m, &a, err);
  if (rc != CAWB_OK) return rc;
  rc = check_places(w, role, a->share.size, 1, 0, err);
  if (rc == CAWB_OK && a->share.size > 0) rc = copy_all(w, role, out, a->base, err);
  cawb_shared_done(a, w->device);
  return rc;
}

static cawb_status load(worker *w, const cawb_message *m, cJSON *reply, cawb_err *err) {
  const cJSON *q = m->json;
  double scratch = 0;
  cawb_plan_setting setting;
  cawb_status rc = load_module(w, q, err);
  if (rc == CAWB_OK) rc = read_setting(&setting, w, q, &w->kernels, err);
  if (rc == CAWB_OK) rc = cawb_plan_new(&w->plan, cawb_request_text(q, "plan"), &setting, err);
  if (rc == CAWB_OK) rc = alloc_tensors(w, &scratch, err);
  if (rc == CAWB_OK) rc = cawb_worker_choose(w->device, w->plan, q, err);
  if (rc == CAWB_OK && cJSON_GetArraySize(field(q, "params")) > 0)
    rc = transfer(w, CAWB_PLAN_PARAM, 0, field(q, "params_share"), m, err);
  if (rc != CAWB_OK) return rc;
  cJSON_AddNumberToObject(reply, "scratch", scratch);
  return cawb_worker_describe_plan(reply, w->plan, cJSON_IsTrue(field(q, "export")), err);
}

static cawb_status do_load(worker *w, const cawb_message *m, cJSON *reply, cawb_err *err) {
  cawb_status rc = need_plan(w, m->json, err);
  if (rc != CAWB_OK) return rc;
  unload(w);
  rc = load(w, m, reply, err);
  if (rc != CAWB_OK) unload(w);
  return rc;
}

/* ---- run and time ---- */

/*
** A fault for the tests: the process dies inside a kernel of this name, which a
** simulated device does not let a real kernel do.
*/
static void inject_fault(const cawb_step *steps, size_t n) {
  const char *name = getenv("CAWB_FAULT_KERNEL");
  for (size_t i = 0; name != NULL && i < n; i++)
    if (steps[i].kind == CAWB_STEP_LAUNCH && strcmp(steps[i].kernel, name) == 0) abort();
}

typedef struct steps { const cawb_step *list; size_t count; } steps;

/* Without the fills of tensors, which come first: one for each output and scratch. */
static steps bare(worker *w, const steps *all) {
  size_t n, fills = 0;
  const cawb_plan_tensor *t = cawb_plan_tensors(w->plan, &n);
  for (size_t i = 0; i < n; i++)
    fills += t[i].spec.bytes > 0 && (t[i].role == CAWB_PLAN_OUTPUT || t[i].role == CAWB_PLAN_SCRATCH);
  return (steps){ all->list + fills, all->count - fills };
}

/* Every call starts from poisoned outputs and scratch, and from prepare; a "bare" one from
** memory as it was allocated, which only a tool that watches the worker can tell. */
static cawb_status reset(worker *w, const cJSON *q, steps *out, cawb_err *err) {
  uint32_t pattern;
  cawb_report report;
  cawb_status rc = cawb_worker_read_poison(&pattern, q, err);
  if (rc == CAWB_OK) rc = cawb_plan_reset(w->plan, pattern, &out->list, &out->count, err);
  if (rc == CAWB_OK && cJSON_IsTrue(field(q, "bare"))) *out = bare(w, out);
  if (rc != CAWB_OK || out->count == 0) return rc;
  return cawb_device_run(w->device, w->module, out->list, out->count, &report, err);
}

static cawb_status run_once(worker *w, const cawb_message *m, const steps *fresh, cJSON *reply,
                            cawb_err *err) {
  cawb_report report;
  size_t n;
  (void)m;
  (void)fresh;
  const cawb_step *call = cawb_plan_steps(w->plan, CAWB_PLAN_CALL, &n);
  inject_fault(call, n);
  cawb_status rc = cawb_kept_read(&w->kept, w->device, w->plan, err);
  if (rc == CAWB_OK) rc = cawb_device_run(w->device, w->module, call, n, &report, err);
  if (rc == CAWB_OK) cJSON_AddItemToObject(reply, "report", cawb_worker_describe_report(&report));
  return rc == CAWB_OK ? cawb_kept_compare(&w->kept, w->device, w->plan, reply, err) : rc;
}

/* What is kept of each sample: the outputs, in the slots of their share. */
static cawb_status list_saves(worker *w, cawb_addr base, uint64_t stride, cawb_timing *t,
                              cawb_err *err) {
  size_t n;
  const cawb_plan_tensor *p = cawb_plan_tensors(w->plan, &n);
  cawb_save *list = calloc(n + 1, sizeof *list);
  if (list == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for the outputs' places");
  for (size_t i = 0; i < n; i++)
    if (p[i].role == CAWB_PLAN_OUTPUT && p[i].spec.bytes > 0)
      list[t->nsave++] = (cawb_save){ p[i].addr, base + p[i].spec.offset, p[i].spec.bytes,
                                      (size_t)stride };
  t->save = list;
  return CAWB_OK;
}

static cawb_status time_call(worker *w, cawb_timing *t, cJSON *reply, cawb_err *err) {
  size_t n;
  const cawb_step *call = cawb_plan_steps(w->plan, CAWB_PLAN_CALL, &n);
  cawb_status rc = cawb_device_time(w->device, w->module, call, n, t, err);
  if (rc == CAWB_OK) cawb_worker_describe_timing(reply, t);
  return rc;
}

/* Every timed call's outputs go to a slot of their own: no more samples than slots. */
static cawb_status time_into_slots(worker *w, const cawb_message *m, uint64_t slots,
                                   cawb_timing *t, cJSON *reply, cawb_err *err) {
  cawb_shared *a;
  uint64_t stride = 0;
  cawb_status rc = cawb_request_count(&stride, m->json, "outputs_stride", 1ull << 53, err);
  if (rc == CAWB_OK && t->max_samples > slots) t->max_samples = (unsigned)slots;
  if (rc == CAWB_OK) rc = hold(w, CAWB_PLAN_OUTPUT, field(m->json, "outputs_share"), m, &a, err);
  if (rc != CAWB_OK) return rc;
  rc = check_places(w, CAWB_PLAN_OUTPUT, a->share.size, slots, stride, err);
  if (rc == CAWB_OK) rc = list_saves(w, a->base, stride, t, err);
  if (rc == CAWB_OK) rc = time_call(w, t, reply, err);
  if (rc == CAWB_OK) cJSON_AddNumberToObject(reply, "saved", t->count);
  free((void *)t->save);
  cawb_shared_done(a, w->device);
  return rc;
}

static cawb_status run_timed(worker *w, const cawb_message *m, const steps *fresh, cJSON *reply,
                             cawb_err *err) {
  cawb_timing t;
  uint64_t slots = 0;
  cawb_status rc = cawb_worker_read_timing(&t, m->json, err);
  if (rc == CAWB_OK) rc = cawb_request_count(&slots, m->json, "slots", 1 << 16, err);
  if (rc != CAWB_OK) return rc;
  t.samples = calloc(t.max_samples, 2 * sizeof *t.samples);
  if (t.samples == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for samples");
  t.clocks = t.samples + t.max_samples;
  t.before = fresh->list;
  t.nbefore = fresh->count;
  rc = slots > 0 ? time_into_slots(w, m, slots, &t, reply, err) : time_call(w, &t, reply, err);
  free(t.samples);
  return rc;
}

static cawb_status run_profiled(worker *w, const cawb_message *m, const steps *fresh,
                                cJSON *reply, cawb_err *err) {
  cawb_worker_plan plan = { .device = w->device, .module = w->module,
                            .before = fresh->list, .nbefore = fresh->count };
  plan.call = cawb_plan_steps(w->plan, CAWB_PLAN_CALL, &plan.ncall);
  return cawb_worker_profile(&plan, m->json, reply, err);
}

typedef cawb_status (*runner)(worker *, const cawb_message *, const steps *, cJSON *, cawb_err *);

/* Back to the task host go the outputs, where they are not there yet, and what a kernel was
** not to write to, where it could. */
static cawb_status give_back(worker *w, const cawb_message *m, const cJSON *reply, cawb_err *err) {
  const cJSON *q = m->json, *params = field(q, "params_share");
  cawb_status rc = CAWB_OK;
  if (field(reply, "saved") == NULL)
    rc = transfer(w, CAWB_PLAN_OUTPUT, 1, field(q, "outputs_share"), m, err);
  if (cawb_device_about(w->device)->protects) return rc;
  if (rc == CAWB_OK) rc = transfer(w, CAWB_PLAN_INPUT, 1, field(q, "inputs_share"), m, err);
  if (rc == CAWB_OK && params != NULL) rc = transfer(w, CAWB_PLAN_PARAM, 1, params, m, err);
  return rc;
}

static cawb_status execute(worker *w, const cawb_message *m, cJSON *reply, cawb_err *err,
                           runner how) {
  const cJSON *q = m->json;
  steps fresh = { NULL, 0 };
  if (w->plan == NULL) return cawb_fail(err, CAWB_ERR_INVALID, "no candidate is loaded");
  cawb_status rc = transfer(w, CAWB_PLAN_INPUT, 0, field(q, "inputs_share"), m, err);
  if (rc == CAWB_OK) rc = reset(w, q, &fresh, err);
  if (rc == CAWB_OK) rc = how(w, m, &fresh, reply, err);
  if (rc == CAWB_OK) rc = cawb_worker_add_changed(reply, w->device, w->module, err);
  return rc == CAWB_OK ? give_back(w, m, reply, err) : rc;
}

/* ---- peek ---- */

enum { PEEK_MOST = 1 << 16 };

/* The first bytes of a scratch tensor, in hexadecimal: what tests of a device compare. */
static cawb_status do_peek(worker *w, const cJSON *q, cJSON *reply, cawb_err *err) {
  uint64_t which = 0, size = 0;
  size_t n = 0;
  const cawb_plan_tensor *t = w->plan != NULL ? cawb_plan_tensors(w->plan, &n) : NULL;
  cawb_status rc = cawb_request_count(&which, q, "scratch", UINT32_MAX, err);
  if (rc == CAWB_OK) rc = cawb_request_count(&size, q, "size", PEEK_MOST, err);
  if (rc != CAWB_OK) return rc;
  while (n > 0 && !(t->role == CAWB_PLAN_SCRATCH && --which == 0)) n--, t++;
  if (n == 0 || t->spec.bytes < size)
    return cawb_fail(err, CAWB_ERR_INVALID, "peek: no such scratch tensor, or a smaller one");
  unsigned char *bytes = malloc((size_t)size + 1);
  if (bytes == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a tensor's bytes");
  rc = cawb_device_read(w->device, bytes, t->addr, (size_t)size, err);
  if (rc == CAWB_OK) rc = cawb_worker_add_bytes(reply, bytes, (size_t)size, err);
  free(bytes);
  return rc;
}

/* ---- the loop ---- */

static cawb_status dispatch(worker *w, const cawb_message *m, cJSON *reply, cawb_err *err) {
  const char *op = cawb_request_text(m->json, "op");
  if (op == NULL) return cawb_fail(err, CAWB_ERR_INVALID, "a request without an op");
  if (strcmp(op, "open") == 0) return do_open(w, m->json, reply, err);
  if (strcmp(op, "tunables") == 0) return do_tunables(w, m->json, reply, err);
  if (strcmp(op, "load") == 0) return do_load(w, m, reply, err);
  if (strcmp(op, "run") == 0) return execute(w, m, reply, err, run_once);
  if (strcmp(op, "time") == 0) return execute(w, m, reply, err, run_timed);
  if (strcmp(op, "profile") == 0) return execute(w, m, reply, err, run_profiled);
  if (strcmp(op, "peek") == 0) return do_peek(w, m->json, reply, err);
  if (strcmp(op, "unload") == 0) {
    unload(w);
    let_go_all(w);
    return CAWB_OK;
  }
  if (strcmp(op, "end") == 0) {          /* as if the judge had closed its end */
    shutdown(w->fd, SHUT_RD);
    return CAWB_OK;
  }
  return cawb_fail(err, CAWB_ERR_INVALID, "unknown op '%s'", op);
}

static cawb_status handle(void *ctx, const cawb_message *m, cJSON *reply, cawb_err *err) {
  worker *w = ctx;
  cawb_status rc = dispatch(w, m, reply, err);
  if (w->device != NULL && cawb_device_lost(w->device))
    cJSON_AddBoolToObject(reply, "lost", 1);
  return rc;
}

int cawb_worker_main(int fd) {
  worker w;
  memset(&w, 0, sizeof w);
  w.fd = fd;
  int status = cawb_serve(fd, handle, &w);
  unload(&w);
  let_go_all(&w);
  cawb_device_close(w.device);
  return status;
}
