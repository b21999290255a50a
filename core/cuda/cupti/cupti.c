/* cupti.c - see cupti.h: finds and opens libcupti, and puts its failures in words. */
#include "cuda/cupti/cupti.h"

#include <cupti_result.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cupti/library.h"

/*
** CUPTI asks the loader for these by name. A toolkit's folder is on the loader's path and that of a PyPI package
** is not, so those beside libcupti are loaded first. Where there are none CUPTI itself says so.
*/
static void open_parts(const char *library) {
  static const char *const parts[] = { "libnvperf_host.so", "libnvperf_target.so" };
  const char *name = strrchr(library, '/');
  char path[4200];
  if (name == NULL) return;                /* the loader's own */
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    snprintf(path, sizeof path, "%.*s/%s", (int)(name - library), library, parts[i]);
    dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  }
}

static cawb_status open_library(cawb_cupti *c, const cawb_places *places, cawb_err *err) {
  cawb_status s = cawb_locate_library(&c->found, places, "libcupti.so", err);
  if (s != CAWB_OK) return s;
  /* NODELETE: it hooks itself into the driver and starts threads. */
  c->handle = dlopen(c->found.path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (c->handle == NULL)
    return cawb_fail(err, CAWB_ERR_MISSING, "libcupti cannot be loaded (%s); install a CUDA "
                     "toolkit and set CAWB_CUDA_HOME to it", dlerror());
  void *f = dlsym(c->handle, "cuptiGetResultString");
  if (f == NULL)
    return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "%s is not NVIDIA's CUPTI", c->found.path);
  memcpy(&c->spell, &f, sizeof f);
  open_parts(c->found.path);
  return CAWB_OK;
}

cawb_status cawb_cupti_open(cawb_cupti **out, const cawb_places *places, cawb_err *err) {
  *out = NULL;
  cawb_cupti *c = calloc(1, sizeof *c);
  if (c == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for CUPTI");
  cawb_status s = open_library(c, places, err);
  if (s == CAWB_OK) *out = c;
  else cawb_cupti_close(c);
  return s;
}

void cawb_cupti_close(cawb_cupti *c) {
  if (c == NULL) return;
  if (c->handle != NULL) dlclose(c->handle);
  free(c);
}

const cawb_found *cawb_cupti_library(const cawb_cupti *c) { return &c->found; }

cawb_status cawb_cupti_resolve(const cawb_cupti *c, void *table,
                               const cawb_cupti_symbol *symbols, size_t n, cawb_err *err) {
  for (size_t i = 0; i < n; i++) {
    void *f = dlsym(c->handle, symbols[i].name);
    if (f == NULL)
      return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "%s has no %s, it is older than CUDA 12.6: "
                       "install a newer CUDA toolkit and set CAWB_CUDA_HOME to it",
                       c->found.path, symbols[i].name);
    memcpy((char *)table + symbols[i].offset, &f, sizeof f);
  }
  return CAWB_OK;
}

/* What helps against a refusal; "" where nothing is known to. */
static const char *remedy(int result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return "; the driver keeps counters to administrators: load the kernel module nvidia "
             "with NVreg_RestrictProfilingToAdminUsers=0, or give the process CAP_SYS_ADMIN";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "; the owner of this virtual GPU has to allow profiling";
    case CUPTI_ERROR_HARDWARE_BUSY:
      return "; another profiler (ncu, nsys, DCGM) holds the counters: end it and try again";
    case CUPTI_ERROR_INVALID_CHIP_NAME:
      return "; this CUPTI is older than the GPU: install a newer CUDA toolkit and set "
             "CAWB_CUDA_HOME to it";
    default:
      return "";
  }
}

cawb_status cawb_cupti_check(const cawb_cupti *c, int result, const char *what,
                             cawb_err *err) {
  if (result == CUPTI_SUCCESS) return CAWB_OK;
  const char *text = NULL;
  c->spell(result, &text);     /* leaves NULL for a code that it does not know */
  if (text == NULL)
    return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "CUPTI: %s: error %d", what, result);
  return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "CUPTI: %s: %s%s", what, text, remedy(result));
}
