/* code.c - loads code onto a GPU and finds the kernels in it. */
#include "cuda/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- loading ---- */

/* What the driver says about an image that it refuses. */
static cawb_status refused(cawb_cuda *c, CUresult r, char *log, cawb_err *err) {
  cawb_status code = CAWB_ERR_CANDIDATE;
  const char *what = "the driver refuses the compiled code";
  if (r == CUDA_ERROR_OUT_OF_MEMORY) {
    code = CAWB_ERR_MEMORY;
    what = "no room for the compiled code and its __device__ variables";
  } else if (r == CUDA_ERROR_NO_BINARY_FOR_GPU) {
    code = CAWB_ERR_UNSUPPORTED;
    what = "the code was compiled for another GPU";
  } else if (r == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
    code = CAWB_ERR_UNSUPPORTED;
    what = "the compiler is newer than the driver: update the driver";
  }
  for (char *p = log; *p != '\0'; p++)
    if (*p == '\n' || *p == '\r') *p = ' ';
  int lost = c->cu.cuCtxSynchronize() != CUDA_SUCCESS;
  if (lost) c->base.lost = 1;
  return cawb_cuda_driver_fail(&c->cu, r, err, lost ? CAWB_ERR_DEVICE : code,
                               "%s (%s): %s%s%s", c->base.info.name, c->base.info.arch, what,
                               log[0] != '\0' ? ": " : "", log);
}

static CUresult load_image(cawb_cuda *c, CUmodule *out, const cawb_image *image,
                           char *log, size_t size) {
  CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
  void *values[] = { log, (void *)(uintptr_t)size };   /* the size goes as a pointer */
  const void *data = image->cubin != NULL ? image->cubin : image->ptx;
  return c->cu.cuModuleLoadDataEx(out, data, 2, options, values);
}

cawb_status cawb_cuda_load(cawb_device *d, const cawb_image *image, cawb_module **out,
                           cawb_err *err) {
  cawb_cuda *c = (cawb_cuda *)d;
  char log[512] = "";
  cawb_status s = cawb_cuda_enter(c, err);
  if (s != CAWB_OK) return s;
  if (image->cubin == NULL && image->ptx == NULL)
    return cawb_fail(err, CAWB_ERR_INVALID, "%s: nothing to load: neither PTX nor a cubin",
                     c->base.info.name);
  cawb_module *m = calloc(1, sizeof *m);
  if (m == NULL)
    return cawb_fail(err, CAWB_ERR_MEMORY, "%s: out of memory", c->base.info.name);
  CUresult r = load_image(c, &m->handle, image, log, sizeof log);
  log[sizeof log - 1] = '\0';
  if (r != CUDA_SUCCESS) {
    free(m);
    return refused(c, r, log, err);
  }
  m->next = c->modules;
  c->modules = m;
  if (image->ptx != NULL) s = cawb_cuda_globals_keep(c, m, image->ptx, err);
  if (s == CAWB_OK) *out = m;
  else cawb_cuda_unload(d, m);
  return s;
}

static void release(cawb_cuda *c, cawb_module **p) {
  cawb_module *m = *p;
  *p = m->next;
  c->cu.cuCtxSetCurrent(c->context);
  cawb_cuda_globals_free(c, m);
  c->cu.cuModuleUnload(m->handle);
  for (size_t i = 0; i < m->count; i++) free(m->list[i].name);
  free(m->list);
  free(m);
}

void cawb_cuda_unload(cawb_device *d, cawb_module *m) {
  cawb_cuda *c = (cawb_cuda *)d;
  cawb_module **p = &c->modules;
  while (*p != NULL && *p != m) p = &(*p)->next;
  if (*p != NULL) release(c, p);
}

void cawb_cuda_release_modules(cawb_cuda *c) {
  while (c->modules != NULL) release(c, &c->modules);
}

/* ---- kernels ---- */

static CUresult read_attributes(cawb_cuda *c, cawb_cuda_function *f) {
  const struct { CUfunction_attribute which; int *out; } wanted[] = {
    { CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &f->threads },
    { CU_FUNC_ATTRIBUTE_NUM_REGS, &f->registers },
    { CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &f->shared },
    { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &f->dynamic },
  };
  CUresult r = CUDA_SUCCESS;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted && r == CUDA_SUCCESS; i++)
    r = c->cu.cuFuncGetAttribute(wanted[i].out, wanted[i].which, f->handle);
  return r;
}

static cawb_status look_up(cawb_cuda *c, cawb_module *m, const char *name,
                           cawb_cuda_function *f, cawb_err *err) {
  CUresult r = c->cu.cuModuleGetFunction(&f->handle, m->handle, name);
  if (r == CUDA_ERROR_NOT_FOUND)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: the compiled code has no kernel of this "
                     "name; is it declared __global__?", name);
  if (r == CUDA_SUCCESS) r = read_attributes(c, f);
  return cawb_cuda_blame(c, r, name, err);
}

static cawb_status add_function(cawb_module *m, const cawb_cuda_function *f,
                                const char *name, cawb_err *err) {
  char *copy = strdup(name);
  cawb_cuda_function *list = realloc(m->list, (m->count + 1) * sizeof *list);
  if (list != NULL) m->list = list;
  if (copy == NULL || list == NULL) {
    free(copy);
    return cawb_fail(err, CAWB_ERR_MEMORY, "%s: out of memory", name);
  }
  list[m->count] = *f;
  list[m->count++].name = copy;
  return CAWB_OK;
}

cawb_status cawb_cuda_function_get(cawb_cuda *c, cawb_module *m, const char *name,
                                   cawb_cuda_function **out, cawb_err *err) {
  cawb_cuda_function f = { 0 };
  *out = NULL;
  for (size_t i = 0; i < m->count; i++)
    if (strcmp(m->list[i].name, name) == 0) {
      *out = &m->list[i];
      return CAWB_OK;
    }
  cawb_status s = look_up(c, m, name, &f, err);
  if (s == CAWB_OK) s = add_function(m, &f, name, err);
  if (s == CAWB_OK) *out = &m->list[m->count - 1];
  return s;
}
