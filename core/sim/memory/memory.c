/* memory.c - the device's memory: regions in a wide and mostly empty address space. */
#include "sim/memory/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGN = 128, FOLLOWED_MOST = 1 << 28, LARGE = 1 << 20 };

/* Memory for vector code; the block that malloc gave is noted before it. */
void *sim_area_new(size_t size) {
  void *block = size < SIZE_MAX - (size_t)2 * ALIGN ? malloc(size + (size_t)2 * ALIGN) : NULL;
  if (block == NULL) return NULL;
  unsigned char *at = (unsigned char *)block + sizeof block;
  at += (ALIGN - (uintptr_t)at % ALIGN) % ALIGN;
  memcpy(at - sizeof block, &block, sizeof block);
  return at;
}

void sim_area_free(void *area) {
  void *block;
  if (area == NULL) return;
  memcpy(&block, (unsigned char *)area - sizeof block, sizeof block);
  free(block);
}

static cawb_addr slot_base(unsigned slot) {
  return ((cawb_addr)slot << SIM_SLOT_BITS) + SIM_SLOT_OFFSET;   /* NOLINT: it is unsigned */
}

/* A free slot, never the one freed last: stale pointers should find a gap. */
static unsigned find_slot(sim_device *d) {
  for (unsigned i = 0; i < d->nslots; i++) {
    unsigned slot = d->next_slot;
    d->next_slot = slot + 1 < d->nslots ? slot + 1 : SIM_SLOT_FIRST;
    if (d->slots[slot] == NULL) return slot;
  }
  if (d->nslots == SIM_SLOTS) return 0;
  unsigned slot = d->nslots;
  d->nslots *= 2;
  d->next_slot = slot + 1;
  return slot;
}

static sim_region *region_blank(sim_device *d, size_t size, const char *label, cawb_err *err) {
  unsigned slot = find_slot(d);
  sim_region *r = slot != 0 ? calloc(1, sizeof *r) : NULL;
  if (r == NULL) {
    cawb_fail(err, CAWB_ERR_MEMORY, slot == 0 ? "more than %u allocations at once" : "out of memory",
              SIM_SLOTS);
    return NULL;
  }
  r->base = slot_base(slot);
  r->size = size;
  r->grown = 1;
  r->words = size / 32 / 64 + 1;
  r->bits = calloc(r->words * SIM_BITMAPS, sizeof *r->bits);
  r->last = calloc(size / 128 + 1, sizeof *r->last);
  if (r->bits == NULL || r->last == NULL) {
    free(r->bits);
    free(r->last);
    free(r);
    cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for the accounts of %zu bytes", size);
    return NULL;
  }
  snprintf(r->label, sizeof r->label, "%s", label != NULL ? label : "");
  d->slots[slot] = r;
  return r;
}

/* Contents are NaN as floats: what was never written should show. Where blocks are sampled,
** zeros that take no room until they are touched. */
static unsigned char *room_for(const sim_device *d, size_t size) {
  if (d->sample > 0) {
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at != MAP_FAILED ? at : NULL;
  }
  unsigned char *at = sim_area_new(size);
  if (at != NULL) memset(at, 0xff, size);
  return at;
}

sim_region *sim_region_new(sim_device *d, size_t size, const char *label, cawb_err *err) {
  if (size > (size_t)d->model->memory) {
    cawb_fail(err, CAWB_ERR_MEMORY, "%s has %zu bytes, more than the %zu of the device", label, size,
              (size_t)d->model->memory);
    return NULL;
  }
  sim_region *r = region_blank(d, size, label, err);
  if (r == NULL) return NULL;
  r->host = room_for(d, size);
  r->attached = d->sample > 0;
  if (r->host == NULL) {
    sim_region_drop(d, r->base);
    cawb_fail(err, CAWB_ERR_MEMORY, "the machine has no %zu bytes for '%s'", size, label);
    return NULL;
  }
  return r;
}

void sim_region_drop(sim_device *d, cawb_addr a) {
  sim_region *r = sim_region_at(d, a);
  if (r == NULL || r->base != a) return;
  d->slots[a >> SIM_SLOT_BITS] = NULL;
  if (r->attached) munmap(r->host, r->size);
  else sim_area_free(r->host);
  if (r->notes.writers != NULL) d->followed -= r->size;
  free(r->notes.writers);
  free(r->notes.readers);
  free(r->written);
  free(r->chunks);
  free(r->bits);
  free(r->last);
  free(r);
}

sim_region *sim_region_at(const sim_device *d, cawb_addr a) {
  cawb_addr slot = a >> SIM_SLOT_BITS;
  return slot < SIM_SLOTS ? d->slots[slot] : NULL;
}

/* The region whose edge is nearest to `a`; NULL if there is none at all. */
sim_region *sim_region_near(const sim_device *d, cawb_addr a) {
  sim_region *best = NULL;
  cawb_addr least = UINT64_MAX;
  for (unsigned i = SIM_SLOT_FIRST; i < d->nslots; i++) {
    sim_region *r = d->slots[i];
    if (r == NULL) continue;
    cawb_addr far = a < r->base ? r->base - a : a - r->base < r->size ? 0 : a - r->base - r->size;
    if (best == NULL || far < least) best = r, least = far;
  }
  return best;
}

static size_t words_of(const sim_region *r) { return r->size / 4 + 1; }

static int follow(sim_region *r) {
  r->notes.writers = calloc(words_of(r), sizeof *r->notes.writers);
  r->notes.readers = calloc(words_of(r), sizeof *r->notes.readers);
  if (r->notes.writers != NULL && r->notes.readers != NULL) return 1;
  free(r->notes.writers);
  free(r->notes.readers);
  r->notes = (sim_notes){ .writers = NULL };
  return 0;
}

/* Notes are as large as what they are about: only so much, and what is never stored to costs nothing. */
int sim_regions_follow(sim_device *d) {
  for (unsigned i = SIM_SLOT_FIRST; i < d->nslots; i++) {
    sim_region *r = d->slots[i];
    if (r == NULL || r->notes.writers != NULL || r->size > FOLLOWED_MOST - d->followed || r->heap) continue;
    if (!follow(r)) return 0;
    d->followed += r->size;
  }
  return 1;
}

void sim_regions_unfollow(sim_device *d) {
  for (unsigned i = SIM_SLOT_FIRST; i < d->nslots; i++) {
    sim_region *r = d->slots[i];
    if (r == NULL || r->notes.writers == NULL) continue;
    memset(r->notes.writers, 0, words_of(r) * sizeof *r->notes.writers);
    memset(r->notes.readers, 0, words_of(r) * sizeof *r->notes.readers);
    r->notes.stored = r->notes.read = r->notes.mixed = 0;
  }
}

void sim_regions_forget(sim_device *d) {
  for (unsigned i = SIM_SLOT_FIRST; i < d->nslots; i++)
    if (d->slots[i] != NULL)
      memset(d->slots[i]->bits, 0, d->slots[i]->words * SIM_BITMAPS * sizeof *d->slots[i]->bits);
}

uint64_t sim_region_touch(sim_region *r, int map, cawb_addr a, size_t size) {
  uint64_t *bits = r->bits + (size_t)map * r->words, fresh = 0, from = a - r->base;
  for (uint64_t k = from / 32; size > 0 && k <= (from + size - 1) / 32; k++) {
    fresh += !(bits[k / 64] >> (k % 64) & 1);
    bits[k / 64] |= UINT64_C(1) << (k % 64);
  }
  return fresh;
}

/* Without memory for it nobody looks: that is no reason to fail. */
void sim_region_poisoned(sim_region *r) {
  size_t words = r->size / 64 + 1;
  if (r->written == NULL) r->written = calloc(words, sizeof *r->written);
  else memset(r->written, 0, words * sizeof *r->written);
}

static void set_bits(sim_region *r, cawb_addr a, size_t size, int set) {
  uint64_t from = a - r->base, end = from + size;
  if (r->written == NULL) return;
  for (uint64_t i = from; i < end;) {
    uint64_t last = (i | 63) < end - 1 ? i | 63 : end - 1, m = UINT64_MAX << (i & 63) & UINT64_MAX >> (63 - (last & 63));
    if (set) r->written[i / 64] |= m;
    else r->written[i / 64] &= ~m;
    i = last + 1;
  }
}

void sim_region_written(sim_region *r, cawb_addr a, size_t size) { set_bits(r, a, size, 1); }
void sim_region_unwritten(sim_region *r, cawb_addr a, size_t size) { set_bits(r, a, size, 0); }

const sim_region *sim_region_trespassed(const sim_device *d) {
  for (unsigned i = SIM_SLOT_FIRST; i < d->nslots; i++) {
    const sim_region *r = d->slots[i];
    if (r == NULL || !r->guarded) continue;
    const uint64_t *bits = r->bits + SIM_WRITES_RUN * r->words;
    for (size_t k = 0; k < r->words; k++)
      if (bits[k] != 0) return r;
  }
  return NULL;
}

/* ------------------------------------------------------ the device's table */

cawb_status sim_memory_protect(cawb_device *d, cawb_addr a, cawb_err *err) {
  sim_region *r = sim_region_at((sim_device *)d, a);
  (void)err;
  if (r != NULL) r->guarded = 1;
  return CAWB_OK;
}

cawb_status sim_memory_alloc(cawb_device *d, size_t size, const char *label, cawb_addr *out, cawb_err *err) {
  sim_region *r = sim_region_new((sim_device *)d, size, label, err);
  if (r == NULL) return CAWB_ERR_MEMORY;
  *out = r->base;
  return CAWB_OK;
}

void sim_memory_free(cawb_device *d, cawb_addr a) {
  sim_region_drop((sim_device *)d, a);
}

/* The host's address of [a, a + size), which must lie within one region. */
static unsigned char *host_of(cawb_device *d, cawb_addr a, size_t size, const char *what, cawb_err *err) {
  const sim_region *r = sim_region_at((sim_device *)d, a);
  if (r != NULL && a - r->base <= r->size && r->size - (a - r->base) >= size) return r->host + (a - r->base);
  r = sim_region_near((sim_device *)d, a);
  cawb_fail(err, CAWB_ERR_INVALID, "%s of %zu bytes at 0x%llx is outside of every allocation "
            "(nearest: '%s', %zu bytes at 0x%llx)", what, size, (unsigned long long)a,
            r != NULL ? r->label : "none", r != NULL ? r->size : 0,
            (unsigned long long)(r != NULL ? r->base : 0));
  return NULL;
}

cawb_status sim_memory_write(cawb_device *d, cawb_addr dst, const void *src, size_t size, cawb_err *err) {
  unsigned char *to = host_of(d, dst, size, "a write", err);
  if (to == NULL) return CAWB_ERR_INVALID;
  if (size > 0) memcpy(to, src, size);
  sim_region_written(sim_region_at((sim_device *)d, dst), dst, size);
  return CAWB_OK;
}

cawb_status sim_memory_read(cawb_device *d, void *dst, cawb_addr src, size_t size, cawb_err *err) {
  const unsigned char *from = host_of(d, src, size, "a read", err);
  if (from == NULL) return CAWB_ERR_INVALID;
  if (size > 0) memcpy(dst, from, size);
  return CAWB_OK;
}

cawb_status sim_memory_copy(cawb_device *d, cawb_addr dst, cawb_addr src, size_t size, cawb_err *err) {
  unsigned char *to = host_of(d, dst, size, "a copy", err);
  const unsigned char *from = to != NULL ? host_of(d, src, size, "a copy", err) : NULL;
  if (from == NULL) return CAWB_ERR_INVALID;
  memmove(to, from, size);
  sim_region_written(sim_region_at((sim_device *)d, dst), dst, size);
  return CAWB_OK;
}

static void fill_words(unsigned char *to, uint32_t pattern, size_t size) {
  for (size_t i = 0; i < size; i += 4) memcpy(to + i, &pattern, 4);
}

/* Pages that are given back are zero. */
static void fill_zeros(unsigned char *to, size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), head = (page - (uintptr_t)to % page) % page;
  size_t whole = (size - head) / page * page;
  memset(to, 0, head);
  madvise(to + head, whole, MADV_DONTNEED);
  memset(to + head + whole, 0, size - head - whole);
}

cawb_status sim_memory_fill(cawb_device *d, cawb_addr dst, uint32_t pattern, size_t size, cawb_err *err) {
  if (size % 4 != 0)
    return cawb_fail(err, CAWB_ERR_INVALID, "a fill's %zu bytes are not a multiple of 4", size);
  unsigned char *to = host_of(d, dst, size, "a fill", err);
  if (to == NULL) return CAWB_ERR_INVALID;
  const sim_device *s = (sim_device *)d;
  if (s->sample == 0 || size < LARGE) fill_words(to, pattern, size);
  else if (pattern == 0) fill_zeros(to, size);    /* anything else would take room */
  sim_region_written(sim_region_at((sim_device *)d, dst), dst, size);
  return CAWB_OK;
}

cawb_status sim_memory_attach(cawb_device *d, const cawb_share *share, cawb_addr *out, cawb_err *err) {
  if (share->fd < 0)
    return cawb_fail(err, CAWB_ERR_INVALID, "a simulated device attaches memory by file descriptor");
  if (share->size == 0) return cawb_fail(err, CAWB_ERR_INVALID, "cannot attach memory of no bytes");
  off_t there = lseek(share->fd, 0, SEEK_END);
  if (there >= 0 && (size_t)there < share->size)
    return cawb_fail(err, CAWB_ERR_INVALID, "the shared memory has %lld bytes, not %zu", (long long)there,
                     share->size);
  void *at = mmap(NULL, share->size, PROT_READ | PROT_WRITE, MAP_SHARED, share->fd, 0);
  if (at == MAP_FAILED)
    return cawb_fail_errno(err, CAWB_ERR_IO, "cannot map %zu bytes of shared memory", share->size);
  sim_region *r = region_blank((sim_device *)d, share->size,
                               share->label != NULL ? share->label : "shared memory", err);
  if (r == NULL) {
    munmap(at, share->size);
    return CAWB_ERR_MEMORY;
  }
  r->host = at;
  r->attached = 1;
  *out = r->base;
  return CAWB_OK;
}
