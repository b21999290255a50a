/*
** fake_driver.c - a libcuda.so.1 for the launcher (core/cuda/launcher): it starts nothing and writes down what it is asked, a line
** each, into the file $FAKE_LOG. $FAKE_FAIL names a function that fails, in the first $FAKE_TIMES failures of all; $FAKE_CAPTURING says that streams are being captured.
*/
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { int id; char pad[4]; unsigned dim[16]; } attribute;
typedef struct { unsigned g[3], b[3], shared; void *stream; attribute *attrs; unsigned n; } config;
typedef struct { void *f; unsigned g[3], b[3], shared; void **params, **extra; } kernel_node;
typedef struct { unsigned long long a; size_t pitch; unsigned value, element; size_t width, height; } memset_node;

static void *next = (void *)0x100;
static int graphs;                   /* that were not destroyed */

static void say(const char *text) {
  FILE *f = fopen(getenv("FAKE_LOG"), "a");
  fprintf(f, "%s\n", text);
  fclose(f);
}

static int failed;                   /* how often, of all */

static int fails(const char *name) {
  const char *which = getenv("FAKE_FAIL"), *times = getenv("FAKE_TIMES");
  if (which == NULL || strcmp(which, name) != 0) return 0;
  return times == NULL || failed++ < atoi(times) ? 700 : 0;
}

static void block(char *out, void **extra) {
  const unsigned char *args = extra != NULL ? extra[1] : NULL;
  size_t n = extra != NULL ? *(size_t *)extra[3] : 0;
  for (size_t i = 0; i < n; i++) out += sprintf(out, "%02x", args[i]);
  *out = '\0';
}

int cuCtxGetCurrent(void **c) { *c = (void *)1; return 0; }
int cuModuleLoadData(void **m, const void *data) { *m = (void *)data; return fails("load"); }
int cuModuleUnload(void *m) { (void)m; return 0; }
int cuModuleGetFunction(void **f, void *m, const char *name) { (void)m; *f = (void *)name; return fails("find"); }
int cuStreamIsCapturing(void *s, int *status) { (void)s; *status = getenv("FAKE_CAPTURING") != NULL; return 0; }
int cuGetErrorName(int code, const char **name) { *name = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "?"; return 0; }

/* $FAKE_MAJOR: the compute capability. */
int cuCtxGetDevice(int *device) { *device = 3; return 0; }

int cuDeviceGetAttribute(int *value, int which, int device) {
  const char *major = getenv("FAKE_MAJOR");
  *value = which == 75 && device == 3 && major != NULL ? atoi(major) : 0;
  return 0;
}

int cuFuncSetAttribute(void *f, int what, int value) {
  char text[256];
  snprintf(text, sizeof text, "set %s %d %d", (char *)f, what, value);
  say(text);
  return 0;
}

int cuLaunchKernelEx(const config *c, void *f, void **p, void **extra) {
  char text[4096], args[2048];
  (void)p;
  block(args, extra);
  snprintf(text, sizeof text, "launch %s %u %u %u attrs %u args %s stream %p%s", (char *)f, c->g[0], c->b[0], c->shared, c->n, args, c->stream,
           c->n > 0 && c->attrs[c->n - 1].id == 6 && c->attrs[c->n - 1].dim[0] ? " programmatic" : "");
  say(text);
  return fails("launch");
}

int cuMemsetD32Async(unsigned long long a, unsigned v, size_t n, void *s) {
  char text[256];
  snprintf(text, sizeof text, "fill %llx %u %zu stream %p", a, v, n, s);
  say(text);
  return 0;
}

int cuGraphCreate(void **g, unsigned flags) { (void)flags; *g = (void *)2; graphs++; return fails("graph"); }
int cuGraphDestroy(void *g) { (void)g; graphs--; return 0; }
int cuGraphExecDestroy(void *g) { (void)g; return 0; }

int cuGraphAddKernelNode(void **node, void *g, void **after, size_t n, const kernel_node *k) {
  char text[4096], args[2048];
  (void)g;
  *node = next = (char *)next + 1;
  block(args, k->extra);
  snprintf(text, sizeof text, "node %s %u %u %u after %zu args %s", (char *)k->f, k->g[0], k->b[0], k->shared, n == 1 ? (size_t)((char *)next - (char *)after[0]) : 0, args);
  say(text);
  return 0;
}

int cuGraphAddMemsetNode(void **node, void *g, void **after, size_t n, const memset_node *m, void *context) {
  char text[256];
  (void)g, (void)after, (void)context;
  *node = next = (char *)next + 1;
  snprintf(text, sizeof text, "memset node %llx %u %u %zu %zu after %zu", m->a, m->value, m->element, m->width, m->height, n);
  say(text);
  return 0;
}

int cuGraphAddDependencies_v2(void *g, void **from, void **to, const unsigned char *data, size_t n) {
  char text[256];
  (void)g;
  snprintf(text, sizeof text, "edge %zu %d %d %d", n == 1 ? (size_t)((char *)to[0] - (char *)from[0]) : 0, data[0], data[1], data[2]);
  say(text);
  return fails("edges");
}

int cuGraphKernelNodeSetAttribute(void *node, int id, const void *value) {
  char text[256];
  (void)node;
  snprintf(text, sizeof text, "attribute %d %u", id, *(const unsigned *)value);
  say(text);
  return 0;
}

int cuGraphInstantiateWithFlags(void **exec, void *g, unsigned long long flags) { (void)g, (void)flags; *exec = (void *)3; return fails("instantiate"); }

int cuGraphExecKernelNodeSetParams(void *exec, void *node, const kernel_node *k) {
  char text[4096], args[2048];
  (void)exec, (void)node;
  block(args, k->extra);
  snprintf(text, sizeof text, "change %s args %s", (char *)k->f, args);
  say(text);
  return graphs > 0 ? fails("change") : 1;           /* as the driver: its nodes went with the graph */
}

int cuGraphExecMemsetNodeSetParams(void *exec, void *node, const memset_node *m, void *context) {
  char text[256];
  (void)exec, (void)node, (void)context;
  snprintf(text, sizeof text, "change memset %llx", m->a);
  say(text);
  return 0;
}

int cuGraphLaunch(void *exec, void *s) {
  char text[256];
  (void)exec;
  snprintf(text, sizeof text, "graph stream %p", s);
  say(text);
  return 0;
}
