/* note.c - see note.h. */
#include "sim/cudart/note.h"

#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/cudart/modules.h"

enum { TOLD_MOST = 100 };       /* texts that differ; further ones are dropped */

void cawb_note_open(cawb_cudart *rt, const char *path) {
  rt->report = *path != '\0' ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
}

void cawb_note_close(cawb_cudart *rt) {
  if (rt->report >= 0) close(rt->report);
  rt->report = -1;
  cJSON_Delete(rt->told);
  rt->told = NULL;
}

/* A full disk is no reason to end a program: its report is then cut short, and says no "end". */
static void write_line(const cawb_cudart *rt, cJSON *json) {
  char *text = rt->report >= 0 ? cJSON_PrintUnformatted(json) : NULL;
  size_t size = text != NULL ? strlen(text) : 0;
  if (text != NULL) {
    text[size] = '\n';                          /* in place of the NUL */
    if (write(rt->report, text, size + 1) < 0) text[0] = '\0';
  }
  cJSON_free(text);
  cJSON_Delete(json);
}

static cJSON *event(const char *name) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "event", name);
  return json;
}

void cawb_note_begin(cawb_cudart *rt) {
  cJSON *json = event("begin");
  cJSON_AddStringToObject(json, "device", cawb_device_about(rt->device)->name);
  cJSON_AddStringToObject(json, "model", cawb_device_about(rt->device)->model);
  write_line(rt, json);
}

static int is_new(cawb_cudart *rt, const char *text) {
  if (rt->told == NULL) rt->told = cJSON_CreateObject();
  if (cJSON_GetArraySize(rt->told) >= TOLD_MOST || cJSON_HasObjectItem(rt->told, text)) return 0;
  return cJSON_AddTrueToObject(rt->told, text) != NULL;
}

/* The simulator calls every source kernel.cu. */
static void name_source(char *out, size_t room, const char *text, const char *source) {
  static const char theirs[] = ", kernel.cu line ";
  const char *at = source[0] != '\0' ? strstr(text, theirs) : NULL;
  if (at == NULL) snprintf(out, room, "%s", text);
  else snprintf(out, room, "%.*s, %s line %s", (int)(at - text), text, source, at + sizeof theirs - 1);
}

void cawb_note_found(cawb_cudart *rt, const char *kind, const char *text, const char *source) {
  char named[2048];
  name_source(named, sizeof named, text, source);
  if (!is_new(rt, named)) return;
  cJSON *json = event("found");
  cJSON_AddStringToObject(json, "kind", kind);
  cJSON_AddStringToObject(json, "text", named);
  write_line(rt, json);
}

void cawb_note_stop(cawb_cudart *rt, const char *kind, const char *text) {
  if (!is_new(rt, text)) return;
  cJSON *json = event("stop");
  cJSON_AddStringToObject(json, "kind", kind);
  cJSON_AddStringToObject(json, "text", text);
  write_line(rt, json);
}

static void add_counts(cJSON *json, const cawb_report *r) {
  const struct { const char *name; double value; } numbers[] = {
    { "seconds", r->seconds }, { "warp_instructions", (double)r->warp_instructions },
    { "global_requests", (double)r->global_requests }, { "global_sectors", (double)r->global_sectors },
    { "shared_requests", (double)r->shared_requests }, { "shared_wavefronts", (double)r->shared_wavefronts },
    { "branches", (double)r->branches }, { "divergent_branches", (double)r->divergent_branches },
    { "dram_bytes", (double)r->dram_bytes }, { "races", (double)r->races }
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    cJSON_AddNumberToObject(json, numbers[i].name, numbers[i].value);
}

static void add_bounds(cJSON *json, const cawb_report *r) {
  const struct { const char *name; double value; } bounds[] = {
    { "memory", r->bound.memory }, { "l2", r->bound.l2 }, { "l1", r->bound.l1 }, { "shared", r->bound.shared },
    { "issue", r->bound.issue }, { "latency", r->bound.latency }, { "blocks", r->bound.blocks },
    { "launch", r->bound.launch }
  };
  cJSON *bound = cJSON_AddObjectToObject(json, "bound");
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
    cJSON_AddNumberToObject(bound, bounds[i].name, bounds[i].value);
}

static void note_kernel(const cawb_cudart *rt, const cawb_cuda_kernel *k) {
  cJSON *json = event("kernel");
  cJSON_AddStringToObject(json, "name", k->plain);
  cJSON_AddStringToObject(json, "mangled", k->name);
  cJSON_AddNumberToObject(json, "launches", (double)k->launches);
  add_counts(json, &k->sum);
  add_bounds(json, &k->sum);
  write_line(rt, json);
}

void cawb_note_end(cawb_cudart *rt) {
  for (const cawb_cuda_module *m = rt->modules; m != NULL; m = m->next)
    for (size_t i = 0; i < m->nkernels; i++)
      if (m->kernels[i].launches > 0) note_kernel(rt, &m->kernels[i]);
  cJSON *json = event("end");
  double last = rt->host;
  for (int i = 0; i < CAWB_ENGINES; i++) last = rt->engine[i] > last ? rt->engine[i] : last;
  cJSON_AddNumberToObject(json, "seconds", last);
  write_line(rt, json);
}
