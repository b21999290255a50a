/*
** guard.c - finds writes just out of bounds, and says which tensor's. Each buffer
** lies between two guards of secret bytes, the second one starting right behind its last byte;
** they are read back after a candidate ran. What no kernel can write to needs none.
*/
#include "cuda/device.h"

#include <string.h>

#define GUARD CAWB_CUDA_GUARD
#define ALIGN 256u                  /* what cuMemAlloc promises; buffers keep it */
#define GUARD_MOST (GUARD + ALIGN)  /* the second guard also fills up the last ALIGN */

typedef struct zone { CUdeviceptr at; size_t size; uint64_t seed; } zone;

/*
** splitmix64 (Steele, Lea, Flood 2014). Each guard has its own stream: a kernel
** that copies one element too many from a like buffer must not copy the same bytes.
*/
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static void spell_zone(const zone *z, uint64_t out[GUARD_MOST / 8]) {
  for (size_t i = 0; i < GUARD_MOST / 8; i++) out[i] = mix(z->seed + i);
}

static zone front_zone(const cawb_cuda_region *r) {
  return (zone){ r->addr - GUARD, GUARD, mix(r->seed) };
}

static zone back_zone(const cawb_cuda_region *r) {
  return (zone){ r->addr + r->size, r->total - GUARD - r->size, mix(~r->seed) };
}

static CUresult write_zone(cawb_cuda *c, const zone *z) {
  uint64_t bytes[GUARD_MOST / 8];
  spell_zone(z, bytes);
  CUresult r = c->cu.cuMemcpyHtoDAsync(z->at, bytes, z->size, c->stream);
  CUresult end = c->cu.cuStreamSynchronize(c->stream);   /* `bytes` is on the stack */
  return r != CUDA_SUCCESS ? r : end;
}

void cawb_cuda_guard_layout(cawb_cuda *c, cawb_cuda_region *r) {
  r->total = GUARD + (r->size + ALIGN - 1) / ALIGN * ALIGN + GUARD;
  r->seed = c->secret = mix(c->secret);
}

CUresult cawb_cuda_guard_write(cawb_cuda *c, const cawb_cuda_region *region) {
  zone front = front_zone(region), back = back_zone(region);
  CUresult r = write_zone(c, &front);
  return r == CUDA_SUCCESS ? write_zone(c, &back) : r;
}

static int is_guarded(const cawb_cuda_region *r) { return r->total != 0 && !r->sealed; }

static size_t count_guarded(const cawb_cuda *c) {
  size_t n = 0;
  for (const cawb_cuda_region *r = c->regions; r != NULL; r = r->next) n += (size_t)is_guarded(r);
  return n;
}

static cawb_status grow_staging(cawb_cuda *c, size_t size, cawb_err *err) {
  if (c->staging_size >= size) return CAWB_OK;
  if (c->staging != NULL) c->cu.cuMemFreeHost(c->staging);
  c->staging = NULL;
  c->staging_size = 0;
  cawb_status s = cawb_cuda_check(c, c->cu.cuMemAllocHost(&c->staging, size),
                                  "host memory for checking bounds", err);
  if (s == CAWB_OK) c->staging_size = size;
  return s;
}

/* All guards into the staging memory, in one batch, two slots a buffer. */
static cawb_status read_guards(cawb_cuda *c, cawb_err *err) {
  char *slot = c->staging;
  CUresult r = CUDA_SUCCESS;
  for (const cawb_cuda_region *g = c->regions; g != NULL && r == CUDA_SUCCESS; g = g->next) {
    if (!is_guarded(g)) continue;
    zone front = front_zone(g), back = back_zone(g);
    r = c->cu.cuMemcpyDtoHAsync(slot, front.at, front.size, c->stream);
    if (r == CUDA_SUCCESS)
      r = c->cu.cuMemcpyDtoHAsync(slot + GUARD_MOST, back.at, back.size, c->stream);
    slot += (size_t)2 * GUARD_MOST;
  }
  CUresult end = c->cu.cuStreamSynchronize(c->stream);
  if (r == CUDA_SUCCESS) r = end;
  return cawb_cuda_check(c, r, "reading the bounds of buffers", err);
}

typedef struct damage { size_t count, first, last; } damage;   /* offsets in the zone */

static damage compare_zone(const zone *z, const void *found) {
  uint64_t wanted[GUARD_MOST / 8];
  damage d = { 0, 0, 0 };
  spell_zone(z, wanted);
  if (memcmp(wanted, found, z->size) == 0) return d;
  for (size_t i = 0; i < z->size; i++)
    if (((const unsigned char *)wanted)[i] != ((const unsigned char *)found)[i]) {
      if (d.count++ == 0) d.first = i;
      d.last = i;
    }
  return d;
}

static cawb_status check_region(const cawb_cuda_region *g, const char *slot,
                                const char *who, cawb_err *err) {
  zone front = front_zone(g), back = back_zone(g);
  damage d = compare_zone(&back, slot + GUARD_MOST);
  if (d.count != 0)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: wrote past the end of %s: %zu bytes "
      "changed, the first at byte %zu of a buffer of %zu; test the index (if (i < n))",
      who, g->label, d.count, g->size + d.first, g->size);
  d = compare_zone(&front, slot);
  if (d.count != 0)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: wrote before the start of %s: %zu bytes "
      "changed, the nearest %zu bytes before it; check for negative indices",
      who, g->label, d.count, (size_t)GUARD - d.last);
  return CAWB_OK;
}

cawb_status cawb_cuda_guard_check(cawb_cuda *c, const char *who, cawb_err *err) {
  size_t n = count_guarded(c);
  if (n == 0) return CAWB_OK;
  cawb_status s = grow_staging(c, n * 2 * GUARD_MOST, err);
  if (s == CAWB_OK) s = read_guards(c, err);
  const char *slot = c->staging;
  for (const cawb_cuda_region *g = c->regions; g != NULL; g = g->next) {
    if (!is_guarded(g) || (s != CAWB_OK && s != CAWB_ERR_CANDIDATE)) continue;
    cawb_status one = check_region(g, slot, who, s == CAWB_OK ? err : NULL);
    if (one != CAWB_OK) cawb_cuda_guard_write(c, g);   /* the next run starts clean */
    if (s == CAWB_OK) s = one;
    slot += (size_t)2 * GUARD_MOST;
  }
  return s;
}
