/* heap.c - see heap.h. Pieces have sizes of powers of two; those freed are given again first. */
#include "sim/memory/heap.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT = 16, CLASSES = 24, UNITS = (int)(SIM_HEAP_BYTES / UNIT) };

struct sim_heap {
  sim_region *region;
  uint64_t top;                 /* bytes that were ever given */
  uint32_t free[CLASSES];       /* the first free piece of a size, a unit's number + 1; 0: none */
  uint32_t next[UNITS];
  uint8_t size[UNITS];          /* of the piece that begins here: log2 of its units, + 1; 0: none does */
};

static struct sim_heap *heap_of(sim_device *d) {
  cawb_err err;
  if (d->heap != NULL) return d->heap;
  struct sim_heap *h = calloc(1, sizeof *h);
  if (h == NULL) return NULL;
  h->region = sim_region_new(d, SIM_HEAP_BYTES, "the kernels' heap", &err);
  if (h->region == NULL) {
    free(h);
    return NULL;
  }
  h->region->heap = 1;
  if (d->sample == 0 && d->sanitize) sim_region_poisoned(h->region);
  return d->heap = h;
}

static unsigned class_of(uint64_t size) {
  unsigned c = 0;
  while (c < CLASSES && (uint64_t)UNIT << c < size) c++;
  return c;
}

cawb_addr sim_heap_alloc(sim_device *d, uint64_t size) {
  struct sim_heap *h = heap_of(d);
  unsigned c = class_of(size);
  if (h == NULL || c >= CLASSES) return 0;
  uint64_t at, bytes = (uint64_t)UNIT << c;
  if (h->free[c] != 0) {
    at = (uint64_t)(h->free[c] - 1) * UNIT;
    h->free[c] = h->next[h->free[c] - 1];
  } else if (bytes > SIM_HEAP_BYTES - h->top) return 0;
  else {
    at = h->top;
    h->top += bytes;
  }
  h->size[at / UNIT] = (uint8_t)(c + 1);
  sim_region_unwritten(h->region, h->region->base + at, bytes);
  return h->region->base + at;
}

int sim_heap_free(sim_device *d, cawb_addr a) {
  struct sim_heap *h = d->heap;
  if (h == NULL || a < h->region->base || a - h->region->base >= SIM_HEAP_BYTES || (a - h->region->base) % UNIT != 0) return 0;
  uint32_t unit = (uint32_t)((a - h->region->base) / UNIT), c = h->size[unit];
  if (c == 0) return 0;
  h->size[unit] = 0;
  h->next[unit] = h->free[c - 1];
  h->free[c - 1] = unit + 1;
  sim_region_unwritten(h->region, a, (size_t)UNIT << (c - 1));
  return 1;
}

void sim_heap_drop(sim_device *d) {
  if (d->heap == NULL) return;
  if (d->slots != NULL && sim_region_at(d, d->heap->region->base) == d->heap->region) sim_region_drop(d, d->heap->region->base);
  free(d->heap);
  d->heap = NULL;
}
