/* json.c - see json.h. */
#include "judge/worker/json.h"
#include "judge/worker/open.h"
#include "sim/read/lacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/process/serve.h"

#define MOST_BYTES (1ull << 53)     /* up to here a double holds every whole number */
#define MOST_THREADS 256
#define MOST_WORKSPACE (1ull << 40) /* as in a plan */

/* ---- requests ---- */

cawb_status cawb_worker_open(cawb_device **out, uint64_t *blocks, const cJSON *q, cawb_err *err) {
  const char *name = cawb_request_text(q, "device");
  const cJSON *given = cJSON_GetObjectItemCaseSensitive(q, "figures");
  cawb_figures figures;
  uint64_t threads = 0;
  if (name == NULL) return cawb_fail(err, CAWB_ERR_INVALID, "open: no device is named");
  cawb_status rc = cawb_request_count(blocks, q, "blocks", MOST_BYTES, err);
  if (rc == CAWB_OK) rc = cawb_request_count(&threads, q, "threads", MOST_THREADS, err);
  if (rc == CAWB_OK && given != NULL) rc = cawb_figures_read(&figures, given, err);
  if (rc == CAWB_OK) rc = cawb_device_open(out, name, given != NULL ? &figures : NULL, err);
  if (rc == CAWB_OK) cawb_device_sample(*out, *blocks);
  if (rc == CAWB_OK) cawb_device_threads(*out, (unsigned)threads);
  if (rc == CAWB_OK) cawb_device_sanitize(*out, !cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(q, "sanitize")));
  return rc;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

static cawb_status read_ipc(cawb_share *out, const char *hex, cawb_err *err) {
  size_t n = sizeof out->ipc;
  for (size_t i = 0; i < n; i++) {
    int hi = hex[2 * i] ? hex_digit(hex[2 * i]) : -1;
    int lo = hi >= 0 && hex[2 * i + 1] ? hex_digit(hex[2 * i + 1]) : -1;
    if (hi < 0 || lo < 0) return cawb_fail(err, CAWB_ERR_INVALID, "a malformed IPC handle");
    out->ipc[i] = (unsigned char)(hi << 4 | lo);
  }
  return CAWB_OK;
}

cawb_status cawb_worker_read_share(cawb_share *out, const cJSON *share,
                                   const cawb_message *m, cawb_err *err) {
  const char *ipc = cawb_request_text(share, "ipc");
  uint64_t size = 0, i = CAWB_MESSAGE_FDS;
  memset(out, 0, sizeof *out);
  out->fd = -1;
  cawb_status rc = cawb_request_count(&size, share, "size", MOST_BYTES, err);
  if (rc == CAWB_OK) rc = cawb_request_count(&i, share, "fd", CAWB_MESSAGE_FDS, err);
  if (rc != CAWB_OK) return rc;
  out->size = (size_t)size;
  if (ipc != NULL) return read_ipc(out, ipc, err);
  if (i >= m->nfds)
    return cawb_fail(err, CAWB_ERR_INVALID, "a share without a descriptor or IPC handle");
  out->fd = m->fds[i];
  return CAWB_OK;
}

cawb_status cawb_worker_read_limits(cawb_plan_setting *out, const cJSON *limits,
                                    cawb_err *err) {
  uint64_t memory = 0, instructions = 0, workspace = 0;
  cawb_status rc = cawb_request_count(&memory, limits, "memory", MOST_BYTES, err);
  if (rc == CAWB_OK)
    rc = cawb_request_count(&instructions, limits, "instructions", MOST_BYTES, err);
  if (rc == CAWB_OK)
    rc = cawb_request_count(&workspace, limits, "workspace", MOST_WORKSPACE, err);
  out->limits = (cawb_sandbox_limits){ (size_t)memory, (long)instructions, 0 };
  out->workspace = (size_t)workspace;
  out->no_libraries = cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(limits, "libraries"));
  return rc;
}

cawb_status cawb_worker_read_poison(uint32_t *out, const cJSON *request, cawb_err *err) {
  uint64_t pattern = 0;
  cawb_status rc = cawb_request_count(&pattern, request, "poison", UINT32_MAX, err);
  *out = (uint32_t)pattern;
  return rc;
}

/* A number of at least 0 under `key`; absent is 0. */
static cawb_status read_amount(double *out, const cJSON *request, const char *key, cawb_err *err) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(request, key);
  *out = 0;
  if (item == NULL) return CAWB_OK;
  if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0))
    return cawb_fail(err, CAWB_ERR_INVALID, "time: '%s' is a number of 0 or more", key);
  *out = item->valuedouble;
  return CAWB_OK;
}

cawb_status cawb_worker_read_timing(cawb_timing *out, const cJSON *request, cawb_err *err) {
  enum { MOST = 100000 };
  uint64_t warmup = 0, samples = 0, calls = 0;
  memset(out, 0, sizeof *out);
  cawb_status rc = cawb_request_count(&warmup, request, "warmup", MOST, err);
  if (rc == CAWB_OK) rc = cawb_request_count(&samples, request, "samples", MOST, err);
  if (rc == CAWB_OK) rc = cawb_request_count(&calls, request, "launch_calls", MOST, err);
  if (rc == CAWB_OK) rc = read_amount(&out->budget, request, "budget", err);
  if (rc == CAWB_OK) rc = read_amount(&out->slowest, request, "slowest", err);
  if (rc != CAWB_OK) return rc;
  if (samples == 0)
    return cawb_fail(err, CAWB_ERR_INVALID, "time: samples must be 1 to %d", MOST);
  out->warmup = (unsigned)warmup;
  out->max_samples = (unsigned)samples;
  out->launch_calls = (unsigned)calls;
  return CAWB_OK;
}

/* ---- replies ---- */

/* [{ family =, prefixes = [..] }]: kinds of one family stand together. */
static void describe_lacks(cJSON *o) {
  const char *family, *prefix, *last = "";
  cJSON *list = cJSON_AddArrayToObject(o, "lacks"), *prefixes = NULL;
  for (unsigned i = 0; (prefix = cawb_sim_lacks(i, &family)) != NULL; i++) {
    if (strcmp(family, last) != 0) {
      cJSON *one = cJSON_CreateObject();
      cJSON_AddStringToObject(one, "family", family);
      prefixes = cJSON_AddArrayToObject(one, "prefixes");
      cJSON_AddItemToArray(list, one);
      last = family;
    }
    cJSON_AddItemToArray(prefixes, cJSON_CreateString(prefix));
  }
}

cJSON *cawb_worker_describe_device(const cawb_device_info *d) {
  cJSON *o = cJSON_CreateObject();
  cJSON_AddStringToObject(o, "name", d->name);
  cJSON_AddStringToObject(o, "model", d->model);
  cJSON_AddStringToObject(o, "arch", d->arch);
  cJSON_AddStringToObject(o, "driver", d->driver);
  cJSON_AddStringToObject(o, "uuid", d->uuid);
  cJSON_AddBoolToObject(o, "modelled", d->modelled);
  cJSON_AddBoolToObject(o, "protects", d->protects);
  cJSON_AddNumberToObject(o, "sms", d->sms);
  cJSON_AddNumberToObject(o, "memory", (double)d->memory);
  cJSON_AddNumberToObject(o, "l2", (double)d->l2);
  cJSON_AddNumberToObject(o, "shared_block", (double)d->shared_block);
  cJSON_AddNumberToObject(o, "threads_block", d->threads_block);
  if (d->modelled) {
    describe_lacks(o);
    cJSON *r = cJSON_AddObjectToObject(o, "rates");
    cJSON_AddNumberToObject(r, "clock", d->rates.clock);
    cJSON_AddNumberToObject(r, "dram", d->rates.dram);
    cJSON_AddNumberToObject(r, "l2", d->rates.l2);
    cJSON_AddNumberToObject(r, "fp32", d->rates.fp32);
    cJSON_AddNumberToObject(r, "tf32", d->rates.tf32);
    cJSON_AddNumberToObject(r, "bf16", d->rates.bf16);
    cJSON_AddNumberToObject(r, "fp16", d->rates.fp16);
    cJSON_AddNumberToObject(r, "launch", d->rates.launch);
    cJSON_AddNumberToObject(r, "cache", d->rates.cache);
    cJSON_AddNumberToObject(r, "dirty", d->rates.dirty);
    cJSON_AddNumberToObject(r, "sharpness", d->rates.sharpness);
  }
  return o;
}

cJSON *cawb_worker_describe_report(const cawb_report *r) {
  cJSON *o = cJSON_CreateObject();
  struct { const char *name; uint64_t value; } counts[] = {
    { "warp_instructions", r->warp_instructions },
    { "thread_instructions", r->thread_instructions },
    { "global_requests", r->global_requests }, { "global_sectors", r->global_sectors },
    { "shared_requests", r->shared_requests },
    { "shared_wavefronts", r->shared_wavefronts }, { "branches", r->branches },
    { "divergent_branches", r->divergent_branches }, { "dram_bytes", r->dram_bytes },
    { "barriers", r->barriers }, { "races", r->races }
  };
  cJSON_AddBoolToObject(o, "counted", r->counted);
  for (size_t i = 0; r->counted && i < sizeof counts / sizeof *counts; i++)
    cJSON_AddNumberToObject(o, counts[i].name, (double)counts[i].value);
  if (r->races > 0) cJSON_AddStringToObject(o, "race", r->race);
  if (r->seconds > 0) {
    cJSON_AddNumberToObject(o, "seconds", r->seconds);
    cJSON *b = cJSON_AddObjectToObject(o, "bound");
    cJSON_AddNumberToObject(b, "memory", r->bound.memory);
    cJSON_AddNumberToObject(b, "l2", r->bound.l2);
    cJSON_AddNumberToObject(b, "l1", r->bound.l1);
    cJSON_AddNumberToObject(b, "shared", r->bound.shared);
    cJSON_AddNumberToObject(b, "issue", r->bound.issue);
    cJSON_AddNumberToObject(b, "latency", r->bound.latency);
    cJSON_AddNumberToObject(b, "blocks", r->bound.blocks);
    cJSON_AddNumberToObject(b, "launch", r->bound.launch);
  }
  return o;
}

void cawb_worker_describe_timing(cJSON *reply, const cawb_timing *t) {
  int n = (int)t->count;
  cJSON_AddItemToObject(reply, "samples", cJSON_CreateDoubleArray(t->samples, n));
  if (t->clocks != NULL && n > 0 && t->clocks[0] > 0)
    cJSON_AddItemToObject(reply, "clocks", cJSON_CreateDoubleArray(t->clocks, n));
  cJSON_AddNumberToObject(reply, "throttled", t->throttled);
  if (t->launch_bound > 0) cJSON_AddNumberToObject(reply, "launch_bound", t->launch_bound);
}

cawb_status cawb_worker_add_bytes(cJSON *reply, const unsigned char *bytes, size_t size, cawb_err *err) {
  static const char digits[] = "0123456789abcdef";
  char *text = malloc(2 * size + 1);
  if (text == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a tensor's bytes");
  for (size_t i = 0; i < size; i++) {
    text[2 * i] = digits[bytes[i] >> 4];
    text[2 * i + 1] = digits[bytes[i] & 15];
  }
  text[2 * size] = '\0';
  cJSON_AddStringToObject(reply, "bytes", text);
  free(text);
  return CAWB_OK;
}

cawb_status cawb_worker_add_changed(cJSON *reply, cawb_device *d, cawb_module *m, cawb_err *err) {
  char names[1024];
  cawb_status rc = cawb_device_changed(d, m, names, sizeof names, err);
  if (rc == CAWB_OK && names[0] != '\0') cJSON_AddStringToObject(reply, "changed", names);
  return rc;
}

cawb_status cawb_worker_describe_plan(cJSON *reply, const cawb_plan *p, int whole, cawb_err *err) {
  cJSON *steps = cawb_plan_describe(p, CAWB_PLAN_CALL), *prepared = cawb_plan_describe(p, CAWB_PLAN_PREPARE);
  if (steps != NULL) cJSON_AddItemToObject(reply, "steps", steps);
  if (prepared != NULL) cJSON_AddItemToObject(reply, "prepared", prepared);
  cJSON *all = steps != NULL && whole ? cawb_plan_export(p) : NULL;
  if (all != NULL) cJSON_AddItemToObject(reply, "export", all);
  if (steps != NULL && prepared != NULL && (all != NULL || !whole)) return CAWB_OK;
  return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a plan's steps");
}
