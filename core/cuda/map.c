/*
** map.c - where a buffer lies: physical memory of its own, mapped into a range
** of addresses that is larger on both sides, so that what goes far astray meets nothing and
** faults. What kernels may only read is mapped so. Making a mapping takes 0.1 ms and changing
** its rights 0.05 ms whatever its size (H100, driver 580), so nothing is pooled.
*/
#include "cuda/device.h"

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

static CUmemAllocationProp kind_of(const cawb_cuda *c) {
  return (CUmemAllocationProp){
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = c->device }
  };
}

cawb_status cawb_cuda_map_open(cawb_cuda *c, cawb_err *err) {
  CUmemAllocationProp kind = kind_of(c);
  int able = 0;
  cawb_status s = cawb_cuda_check(c, c->cu.cuDeviceGetAttribute(
    &able, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, c->device),
    "reading its properties", err);
  if (s == CAWB_OK && able)
    s = cawb_cuda_check(c, c->cu.cuMemGetAllocationGranularity(
      &c->granule, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM), "reading its properties", err);
  c->base.info.protects = c->granule != 0;
  return s;
}

static CUdeviceptr mapping(const cawb_cuda *c, const cawb_cuda_region *g) {
  return g->base + c->granule;
}

CUresult cawb_cuda_map_allow(cawb_cuda *c, const cawb_cuda_region *g, int writing) {
  CUmemAccessDesc access = {
    .location = kind_of(c).location,
    .flags = writing ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ
  };
  return c->cu.cuMemSetAccess(mapping(c, g), g->mapped, &access, 1);
}

/* Memory for all of the range but one granule at each end. */
static CUresult fill_range(cawb_cuda *c, cawb_cuda_region *g) {
  CUmemAllocationProp kind = kind_of(c);
  CUresult r = c->cu.cuMemCreate(&g->memory, g->mapped, &kind, 0);
  if (r != CUDA_SUCCESS) return r;
  r = c->cu.cuMemMap(mapping(c, g), g->mapped, 0, g->memory, 0);
  if (r == CUDA_SUCCESS) {
    r = cawb_cuda_map_allow(c, g, 1);
    if (r == CUDA_SUCCESS) return r;
    c->cu.cuMemUnmap(mapping(c, g), g->mapped);
  }
  c->cu.cuMemRelease(g->memory);
  return r;
}

/* The buffer ends where its memory does, up to the guard behind it. */
static CUresult make_range(cawb_cuda *c, cawb_cuda_region *g) {
  g->mapped = round_up(g->total, c->granule);
  size_t span = g->mapped + 2 * c->granule;
  CUresult r = c->cu.cuMemAddressReserve(&g->base, span, 0, 0, 0);
  if (r != CUDA_SUCCESS) return r;
  r = fill_range(c, g);
  if (r != CUDA_SUCCESS) c->cu.cuMemAddressFree(g->base, span);
  else g->addr = mapping(c, g) + g->mapped - g->total + CAWB_CUDA_GUARD;
  return r;
}

CUresult cawb_cuda_map_make(cawb_cuda *c, cawb_cuda_region *g) {
  if (c->granule != 0) return make_range(c, g);
  CUresult r = c->cu.cuMemAlloc(&g->base, g->total);
  if (r == CUDA_SUCCESS) g->addr = g->base + CAWB_CUDA_GUARD;
  return r;
}

void cawb_cuda_map_free(cawb_cuda *c, const cawb_cuda_region *g) {
  if (g->mapped == 0) {
    c->cu.cuMemFree(g->base);
    return;
  }
  c->cu.cuMemUnmap(mapping(c, g), g->mapped);
  c->cu.cuMemRelease(g->memory);
  c->cu.cuMemAddressFree(g->base, g->mapped + 2 * c->granule);
}
