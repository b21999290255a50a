/*
** globals.c - a module's __device__ variables, put back before every
** measured call to what they were when the module was loaded. A candidate that
** keeps results in them finds nothing the next time; one that keeps a counter
** there still starts from its initial value. Their names are read from the PTX.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device.h"
#include "gpu/ptx/scan.h"

enum { LONGEST_NAME = 1024 };

/*
** The name in `.global [.attribute(...)] .align N .type NAME`, which begins behind
** `*at`; an empty word where there is none. Words with a dot are not names.
*/
static cawb_ptx_word declared_name(const char **at) {
  for (;;) {
    size_t number;
    cawb_ptx_word w = cawb_ptx_next(at);
    if (w.size == 0 || cawb_ptx_is(w, ";")) return (cawb_ptx_word){ "", 0 };
    if (w.text[0] == '.' || w.text[0] == '(' || w.text[0] == ')') continue;
    if (cawb_ptx_number(w, &number)) continue;
    return w;
  }
}

static cawb_status add(cawb_cuda *c, cawb_module *m, const char *name, CUdeviceptr at, size_t size, cawb_err *err) {
  cawb_cuda_global *list = realloc(m->globals, (m->nglobals + 1) * sizeof *list);
  if (list == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "%s: out of memory", c->base.info.name);
  m->globals = list;
  cawb_cuda_global g = { .at = at, .size = size };
  snprintf(g.name, sizeof g.name, "%.47s", name);
  if (c->cu.cuMemAlloc(&g.copy, size) != CUDA_SUCCESS)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "no room for a second copy of the __device__ "
                     "variables (%zu bytes): use scratch() in the plan instead", size);
  list[m->nglobals++] = g;
  CUresult r = c->cu.cuMemcpyDtoDAsync(g.copy, g.at, size, c->stream);
  return cawb_cuda_check(c, r, "copying __device__ variables", err);
}

/* One that the compiler left out is not found, and needs nothing. */
static cawb_status find(cawb_cuda *c, cawb_module *m, cawb_ptx_word name, cawb_err *err) {
  char text[LONGEST_NAME];
  CUdeviceptr at;
  size_t size;
  if (name.size == 0 || name.size >= sizeof text) return CAWB_OK;
  memcpy(text, name.text, name.size);
  text[name.size] = '\0';
  CUresult r = c->cu.cuModuleGetGlobal(&at, &size, m->handle, text);
  if (r == CUDA_ERROR_NOT_FOUND || (r == CUDA_SUCCESS && size == 0)) return CAWB_OK;
  if (r != CUDA_SUCCESS) return cawb_cuda_check(c, r, "looking up a __device__ variable", err);
  return add(c, m, text, at, size, err);
}

cawb_status cawb_cuda_globals_keep(cawb_cuda *c, cawb_module *m, const char *ptx, cawb_err *err) {
  cawb_status s = CAWB_OK;
  cawb_ptx_word w, last = { "", 0 };
  for (const char *at = ptx; s == CAWB_OK && (w = cawb_ptx_next(&at)).size > 0; last = w)
    if (cawb_ptx_is(w, ".global") && !cawb_ptx_is(last, ".ptr"))   /* .ptr: of a parameter */
      s = find(c, m, declared_name(&at), err);
  if (s == CAWB_OK && m->nglobals > 0)
    s = cawb_cuda_check(c, c->cu.cuStreamSynchronize(c->stream), "copying __device__ variables", err);
  return s;
}

CUresult cawb_cuda_globals_restore(cawb_cuda *c, const cawb_module *m) {
  CUresult r = CUDA_SUCCESS;
  for (size_t i = 0; i < m->nglobals && r == CUDA_SUCCESS; i++)
    r = c->cu.cuMemcpyDtoDAsync(m->globals[i].at, m->globals[i].copy, m->globals[i].size, c->stream);
  return r;
}

enum { PIECE = 1 << 20 };        /* bytes that are compared at a time */

static cawb_status differs(cawb_cuda *c, const cawb_cuda_global *g, char *room, int *out, cawb_err *err) {
  CUresult r = CUDA_SUCCESS;
  for (size_t at = 0; at < g->size && r == CUDA_SUCCESS && !*out; at += PIECE) {
    size_t n = g->size - at < PIECE ? g->size - at : PIECE;
    r = c->cu.cuMemcpyDtoHAsync(room, g->at + at, n, c->stream);
    if (r == CUDA_SUCCESS) r = c->cu.cuMemcpyDtoHAsync(room + PIECE, g->copy + at, n, c->stream);
    if (r == CUDA_SUCCESS) r = c->cu.cuStreamSynchronize(c->stream);
    if (r == CUDA_SUCCESS) *out = memcmp(room, room + PIECE, n) != 0;
  }
  return cawb_cuda_check(c, r, "reading __device__ variables", err);
}

cawb_status cawb_cuda_globals_changed(cawb_device *d, cawb_module *m, char *names, size_t room, cawb_err *err) {
  cawb_cuda *c = (cawb_cuda *)d;
  if (m->nglobals == 0) return CAWB_OK;
  char *pieces = malloc(2 * (size_t)PIECE);
  if (pieces == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "%s: out of memory", d->info.name);
  cawb_status s = CAWB_OK;
  for (size_t i = 0; i < m->nglobals && s == CAWB_OK; i++) {
    int other = 0;
    s = differs(c, &m->globals[i], pieces, &other, err);
    if (s == CAWB_OK && other) cawb_device_name(names, room, m->globals[i].name);
  }
  free(pieces);
  return s;
}

void cawb_cuda_globals_free(cawb_cuda *c, cawb_module *m) {
  for (size_t i = 0; i < m->nglobals; i++) c->cu.cuMemFree(m->globals[i].copy);
  free(m->globals);
  m->globals = NULL;
  m->nglobals = 0;
}
