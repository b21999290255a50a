/* memory.c - buffers on a GPU, their own or another process's. */
#include "cuda/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the buffers ---- */

static cawb_cuda_region **find_region(cawb_cuda *c, cawb_addr a) {
  cawb_cuda_region **p = &c->regions;
  while (*p != NULL && (*p)->addr != a) p = &(*p)->next;
  return p;
}

/* The buffer that [a, a + size) lies in, or NULL. */
static const cawb_cuda_region *find_owner(const cawb_cuda *c, cawb_addr a, size_t size) {
  const cawb_cuda_region *r = c->regions;
  while (r != NULL && !(a >= r->addr && a - r->addr <= r->size && size <= r->size - (a - r->addr)))
    r = r->next;
  return r;
}

int cawb_cuda_owns(const cawb_cuda *c, cawb_addr a, size_t size) {
  return find_owner(c, a, size) != NULL;
}

static cawb_status new_region(cawb_cuda_region **out, const char *label, cawb_err *err) {
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "%s: out of memory", label);
  snprintf((*out)->label, sizeof (*out)->label, "%s", label);
  return CAWB_OK;
}

static void add_region(cawb_cuda *c, cawb_cuda_region *r) {
  r->next = c->regions;
  c->regions = r;
}

static cawb_status no_room(cawb_cuda *c, CUresult r, const char *label, size_t size,
                           cawb_err *err) {
  size_t left = 0, all = 0;
  if (r != CUDA_ERROR_OUT_OF_MEMORY) return cawb_cuda_check(c, r, "allocating", err);
  c->cu.cuMemGetInfo(&left, &all);
  return cawb_fail(err, CAWB_ERR_MEMORY, "%s: no room for %s: it takes %zu bytes and %zu of "
                   "%zu are free; shrink the task, or end other programs on this GPU",
                   c->base.info.name, label, size, left, all);
}

/* A region's memory and its guards; nothing stays of what failed. */
static CUresult make_memory(cawb_cuda *c, cawb_cuda_region *g) {
  CUresult r = cawb_cuda_map_make(c, g);
  if (r != CUDA_SUCCESS) return r;
  r = cawb_cuda_guard_write(c, g);
  if (r != CUDA_SUCCESS) cawb_cuda_map_free(c, g);
  return r;
}

cawb_status cawb_cuda_alloc(cawb_device *d, size_t size, const char *label,
                            cawb_addr *out, cawb_err *err) {
  cawb_cuda *c = (cawb_cuda *)d;
  cawb_cuda_region *g = NULL;
  cawb_status s = cawb_cuda_enter(c, err);
  if (s != CAWB_OK) return s;
  if (size > SIZE_MAX / 2) return no_room(c, CUDA_ERROR_OUT_OF_MEMORY, label, size, err);
  s = new_region(&g, label, err);
  if (s != CAWB_OK) return s;
  g->size = size;
  cawb_cuda_guard_layout(c, g);
  CUresult r = make_memory(c, g);
  if (r != CUDA_SUCCESS) {
    free(g);
    return no_room(c, r, label, size, err);
  }
  add_region(c, g);
  *out = g->addr;
  return CAWB_OK;
}

static void release(cawb_cuda *c, cawb_cuda_region **p) {
  cawb_cuda_region *g = *p;
  *p = g->next;
  if (g->total != 0) cawb_cuda_map_free(c, g);
  else c->cu.cuIpcCloseMemHandle(g->addr);
  free(g);
}

/* Freeing what this device does not hold does nothing: there is no one to tell. */
void cawb_cuda_free(cawb_device *d, cawb_addr a) {
  cawb_cuda *c = (cawb_cuda *)d;
  cawb_cuda_region **p = find_region(c, a);
  c->cu.cuCtxSetCurrent(c->context);
  if (*p != NULL) release(c, p);
}

cawb_status cawb_cuda_protect(cawb_device *d, cawb_addr a, cawb_err *err) {
  cawb_cuda *c = (cawb_cuda *)d;
  cawb_status s = cawb_cuda_enter(c, err);
  cawb_cuda_region *g = *find_region(c, a);
  if (s != CAWB_OK || g == NULL || g->mapped == 0 || g->sealed) return s;
  s = cawb_cuda_check(c, cawb_cuda_map_allow(c, g, 0), "making an input read-only", err);
  g->sealed = s == CAWB_OK;
  return s;
}

void cawb_cuda_detach(cawb_device *d, cawb_addr a) { cawb_cuda_free(d, a); }

cawb_status cawb_cuda_attach(cawb_device *d, const cawb_share *share, cawb_addr *out,
                             cawb_err *err) {
  cawb_cuda *c = (cawb_cuda *)d;
  cawb_cuda_region *g = NULL;
  CUipcMemHandle handle;
  CUdeviceptr at = 0, base = 0;
  _Static_assert(sizeof handle == sizeof share->ipc, "a CUDA IPC handle is 64 bytes");
  memcpy(&handle, share->ipc, sizeof handle);
  cawb_status s = cawb_cuda_enter(c, err);
  if (s == CAWB_OK) s = new_region(&g, "attached memory", err);
  if (s != CAWB_OK) return s;
  CUresult r = c->cu.cuIpcOpenMemHandle(&at, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  if (r != CUDA_SUCCESS) {
    free(g);
    return cawb_cuda_check(c, r, "attaching another process's memory", err);
  }
  g->addr = at;
  g->size = share->size;
  /* A handle stands for the whole allocation that a tensor lies in. */
  size_t whole = 0;
  if (c->cu.cuMemGetAddressRange(&base, &whole, at) == CUDA_SUCCESS && base == at)
    g->size = whole;
  add_region(c, g);
  *out = g->addr;
  return CAWB_OK;
}

void cawb_cuda_release_memory(cawb_cuda *c) {
  while (c->regions != NULL) release(c, &c->regions);
  if (c->staging != NULL) c->cu.cuMemFreeHost(c->staging);
  if (c->flush != 0) c->cu.cuMemFree(c->flush);
}

/* ---- moving bytes ---- */

static cawb_status enter_range(cawb_cuda *c, cawb_addr a, size_t size, const char *what,
                               cawb_err *err) {
  cawb_status s = cawb_cuda_enter(c, err);
  if (s != CAWB_OK || cawb_cuda_owns(c, a, size)) return s;
  return cawb_fail(err, CAWB_ERR_INVALID, "%s: %s: %zu bytes at 0x%llx lie in no buffer",
                   c->base.info.name, what, size, (unsigned long long)a);
}

/* What one operation writes to: kernels may not be allowed to, for this long it is. */
static CUresult unseal(cawb_cuda *c, cawb_addr dst, const cawb_cuda_region **out) {
  const cawb_cuda_region *g = find_owner(c, dst, 1);
  *out = g != NULL && g->sealed ? g : NULL;
  return *out != NULL ? cawb_cuda_map_allow(c, g, 1) : CUDA_SUCCESS;
}

/* The operation's end: `r` is how it was put on the stream. */
static cawb_status finish(cawb_cuda *c, const cawb_cuda_region *sealed, CUresult r,
                          const char *what, cawb_err *err) {
  CUresult end = c->cu.cuStreamSynchronize(c->stream);
  if (r == CUDA_SUCCESS) r = end;
  end = sealed != NULL ? cawb_cuda_map_allow(c, sealed, 0) : CUDA_SUCCESS;
  return cawb_cuda_check(c, r != CUDA_SUCCESS ? r : end, what, err);
}

cawb_status cawb_cuda_write(cawb_device *d, cawb_addr dst, const void *src, size_t size,
                            cawb_err *err) {
  cawb_cuda *c = (cawb_cuda *)d;
  const cawb_cuda_region *sealed;
  cawb_status s = enter_range(c, dst, size, "write", err);
  if (s != CAWB_OK || size == 0) return s;
  CUresult r = unseal(c, dst, &sealed);
  if (r == CUDA_SUCCESS) r = c->cu.cuMemcpyHtoDAsync(dst, src, size, c->stream);
  return finish(c, sealed, r, "write", err);
}

cawb_status cawb_cuda_read(cawb_device *d, void *dst, cawb_addr src, size_t size,
                           cawb_err *err) {
  cawb_cuda *c = (cawb_cuda *)d;
  cawb_status s = enter_range(c, src, size, "read", err);
  if (s != CAWB_OK || size == 0) return s;
  return finish(c, NULL, c->cu.cuMemcpyDtoHAsync(dst, src, size, c->stream), "read", err);
}

cawb_status cawb_cuda_copy(cawb_device *d, cawb_addr dst, cawb_addr src, size_t size,
                           cawb_err *err) {
  cawb_cuda *c = (cawb_cuda *)d;
  const cawb_cuda_region *sealed;
  cawb_status s = enter_range(c, dst, size, "copy to", err);
  if (s == CAWB_OK) s = enter_range(c, src, size, "copy from", err);
  if (s != CAWB_OK || size == 0) return s;
  CUresult r = unseal(c, dst, &sealed);
  if (r == CUDA_SUCCESS) r = c->cu.cuMemcpyDtoDAsync(dst, src, size, c->stream);
  return finish(c, sealed, r, "copy", err);
}

cawb_status cawb_cuda_fill(cawb_device *d, cawb_addr dst, uint32_t pattern, size_t size,
                           cawb_err *err) {
  cawb_cuda *c = (cawb_cuda *)d;
  const cawb_cuda_region *sealed;
  cawb_status s = enter_range(c, dst, size, "fill", err);
  if (s != CAWB_OK || size == 0) return s;
  if (size % 4 != 0 || dst % 4 != 0)
    return cawb_fail(err, CAWB_ERR_INVALID, "%s: fill: %zu bytes at 0x%llx are not whole "
                     "words of 4 bytes", c->base.info.name, size, (unsigned long long)dst);
  CUresult r = unseal(c, dst, &sealed);
  if (r == CUDA_SUCCESS) r = c->cu.cuMemsetD32Async(dst, pattern, size / 4, c->stream);
  return finish(c, sealed, r, "fill", err);
}
