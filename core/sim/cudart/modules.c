/* modules.c - see modules.h. */
#include "sim/cudart/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cudart/fatbin.h"
#include "sim/cudart/memory.h"
#include "sim/cudart/note.h"

/* ---------------------------------------------------------------- registering */

cawb_cuda_module *cawb_modules_add(cawb_cudart *rt, const void *data) {
  cawb_cuda_module *m = calloc(1, sizeof *m);
  if (m == NULL) return NULL;
  m->data = data;
  m->next = rt->modules;
  rt->modules = m;
  return m;
}

/* One more, all zero; NULL when out of memory. Lists grow at the powers of two. */
static void *grow(void *list, size_t count, size_t size) {
  size_t room = count == 0 ? 1 : 2 * count;
  return (count & (count - 1)) == 0 ? realloc(list, room * size) : list;
}

void cawb_modules_add_kernel(cawb_cuda_module *m, const void *handle, const char *name) {
  cawb_cuda_kernel *list = m != NULL ? grow(m->kernels, m->nkernels, sizeof *list) : NULL;
  if (list == NULL) return;
  m->kernels = list;
  list[m->nkernels] = (cawb_cuda_kernel){ .handle = handle, .name = strdup(name) };
  m->nkernels += list[m->nkernels].name != NULL;
}

void cawb_modules_add_variable(cawb_cuda_module *m, const void *handle, const char *name, size_t size) {
  cawb_cuda_variable *list = m != NULL ? grow(m->variables, m->nvariables, sizeof *list) : NULL;
  if (list == NULL) return;
  m->variables = list;
  list[m->nvariables] = (cawb_cuda_variable){ handle, strdup(name), size };
  m->nvariables += list[m->nvariables].name != NULL;
}

static void module_free(cawb_cudart *rt, cawb_cuda_module *m) {
  if (rt->device != NULL) cawb_device_unload(rt->device, m->loaded);
  for (size_t i = 0; i < m->nkernels; i++) {
    free(m->kernels[i].name);
    free(m->kernels[i].plain);
  }
  for (size_t i = 0; i < m->nvariables; i++) free(m->variables[i].name);
  free(m->kernels);
  free(m->variables);
  cawb_ptx_free(&m->table);
  free(m);
}

void cawb_modules_free(cawb_cudart *rt) {
  while (rt->modules != NULL) {
    cawb_cuda_module *m = rt->modules;
    rt->modules = m->next;
    module_free(rt, m);
  }
}

/* -------------------------------------------------------------------- loading */

/* The number in `text`'s first mark, and the name in quotes behind the mark with that number. */
static void find_source(char *out, size_t room, const char *ptx, const char *body) {
  const char *loc = body != NULL ? strstr(body, ".loc\t") : NULL;
  char mark[48], path[512] = "";
  if (loc == NULL) return;
  snprintf(mark, sizeof mark, ".file\t%lu \"", strtoul(loc + strlen(".loc\t"), NULL, 10));
  const char *at = strstr(ptx, mark);
  if (at == NULL || sscanf(at + strlen(mark), "%511[^\"]", path) != 1) return;
  const char *slash = strrchr(path, '/');
  snprintf(out, room, "%.*s", (int)room - 1, slash != NULL ? slash + 1 : path);
}

/* The simulator takes the lines of a kernel to be of the file that its first one is of. */
static void name_source(cawb_cuda_kernel *k, const char *ptx) {
  char mark[512];
  snprintf(mark, sizeof mark, ".entry %.490s(", k->name);
  find_source(k->source, sizeof k->source, ptx, strstr(ptx, mark));
}

/* What the table of kernels knows of those that were registered. */
static void connect(cawb_cuda_module *m, const char *ptx) {
  for (size_t i = 0; i < m->nkernels; i++) {
    cawb_cuda_kernel *k = &m->kernels[i];
    k->parameters = cawb_ptx_find(&m->table, k->name);
    name_source(k, ptx);
    k->plain = strdup(k->parameters != NULL ? k->parameters->plain : k->name);
  }
}

static cawb_status load_image(cawb_cudart *rt, cawb_cuda_module *m, const cawb_fatbin *f) {
  cawb_image image = { .ptx = f->ptx, .cubin = f->cubin, .cubin_size = f->cubin_size };
  cawb_status status = cawb_device_load(rt->device, &image, &m->loaded, &m->why);
  if (status == CAWB_OK) status = cawb_ptx_kernels(&m->table, f->ptx, NULL, &m->why);
  if (status == CAWB_OK) connect(m, f->ptx);
  return status;
}

static cawb_status load(cawb_cudart *rt, cawb_cuda_module *m) {
  cawb_fatbin f;
  unsigned arch = (unsigned)strtoul(cawb_device_about(rt->device)->arch + strlen("sm_"), NULL, 10);
  cawb_status status = cawb_fatbin_read(&f, m->data, arch, &m->why);
  if (status == CAWB_OK) status = load_image(rt, m, &f);
  cawb_fatbin_free(&f);
  return status;
}

static int ready(cawb_cudart *rt, cawb_cuda_module *m) {
  if (!m->tried && load(rt, m) != CAWB_OK) {
    cawb_note_stop(rt, "code", m->why.msg);
    cawb_device_unload(rt->device, m->loaded);
    m->loaded = NULL;
  }
  m->tried = 1;
  return m->loaded != NULL ? CAWB_CUDA_OK : CAWB_CUDA_NO_IMAGE;
}

int cawb_modules_kernel(cawb_cudart *rt, const void *handle, cawb_cuda_module **found, cawb_cuda_kernel **k) {
  for (cawb_cuda_module *m = rt->modules; m != NULL; m = m->next)
    for (size_t i = 0; i < m->nkernels; i++) {
      if (m->kernels[i].handle != handle) continue;
      *found = m;
      *k = &m->kernels[i];
      int error = ready(rt, m);
      return error != CAWB_CUDA_OK || (*k)->parameters != NULL ? error : CAWB_CUDA_FUNCTION;
    }
  return CAWB_CUDA_FUNCTION;
}

static int find_variable(cawb_cudart *rt, cawb_cuda_module *m, const cawb_cuda_variable *v, cawb_addr *at, size_t *size) {
  cawb_err err;
  int error = ready(rt, m);
  if (error != CAWB_CUDA_OK) return error;
  if (cawb_device_variable(rt->device, m->loaded, v->name, at, size, &err) != CAWB_OK) return CAWB_CUDA_SYMBOL;
  return cawb_memory_know(rt, *at, *size);
}

int cawb_modules_variable(cawb_cudart *rt, const void *handle, cawb_addr *at, size_t *size) {
  for (cawb_cuda_module *m = rt->modules; m != NULL; m = m->next)
    for (size_t i = 0; i < m->nvariables; i++)
      if (m->variables[i].handle == handle) return find_variable(rt, m, &m->variables[i], at, size);
  return CAWB_CUDA_SYMBOL;
}
