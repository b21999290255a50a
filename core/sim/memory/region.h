/*
** region.h - the device's memory: regions in a wide and mostly empty address space. See memory.c.
*/
#ifndef CAWB_SIM_MEMORY_REGION_H
#define CAWB_SIM_MEMORY_REGION_H

#include "gpu/device/device.h"

typedef struct sim_device sim_device;

/*
** Device addresses are slots of 64 GiB with one region each, so that finding a
** region is a shift and everything around a tensor is a gap. The first slots
** are the windows of generic addresses onto the other spaces. A device begins with
** some of its slots (`nslots`), which all launches go through, and takes more when they are full.
*/
#define SIM_SLOT_BITS 36
#define SIM_SLOTS (1u << 14)
#define SIM_SLOTS_BEGIN 4096u
#define SIM_SLOT_FIRST 16u
#define SIM_SLOT_OFFSET (UINT64_C(1) << 34)
#define SIM_WINDOW(space) ((uint64_t)(space) << SIM_SLOT_BITS)

/* Who stored to each word (4 bytes) last and who read it, see sim/watch/race.h: both or none. And the launches, by
   their first stretch, that stored to the region and read it last; whether one has done both. */
typedef struct sim_notes {
  uint32_t *writers, *readers;
  uint32_t stored, read, mixed;
} sim_notes;

/* Sectors of 32 bytes: touched by this launch first, by it and an earlier one, by earlier ones. */
typedef struct sim_sectors { double fresh, again, earlier; } sim_sectors;

typedef struct sim_region {
  cawb_addr base;
  size_t size;
  unsigned char *host;
  uint64_t *bits;         /* sectors touched: reads now, writes now, reads and writes of the run, and of */
  size_t words;           /* launches that a dependent one does not wait for by itself; `words` 64-bit words each */
  sim_notes notes;
  uint64_t *written;      /* since it was poisoned: a bit for each byte; NULL: it was not */
  uint32_t *last;         /* by line of 128 bytes: the block that touched it last, stamped */
  sim_sectors half;       /* of a sample, see sim/time/sample.c */
  struct sim_chunk **chunks;            /* of a launch, what it has changed; see undo.c */
  int constant;           /* a variable that kernels do not store to */
  int guarded;            /* a tensor that they must not store to */
  double grown;           /* what is not executed touches so much more */
  int heap;               /* what kernels allocate: pieces change hands */
  int attached;           /* mapped, and no area of malloc's */
  char label[48];
} sim_region;

enum { SIM_READS_NOW, SIM_WRITES_NOW, SIM_READS_RUN, SIM_WRITES_RUN, SIM_READS_AHEAD, SIM_WRITES_AHEAD, SIM_BITMAPS };

/* memory.c */
void *sim_area_new(size_t size);                   /* aligned to 128 bytes */
void  sim_area_free(void *area);                   /* NULL is a no-op */
sim_region *sim_region_new(sim_device *d, size_t size, const char *label, cawb_err *err);
void        sim_region_drop(sim_device *d, cawb_addr a);
sim_region *sim_region_at(const sim_device *d, cawb_addr a);
sim_region *sim_region_near(const sim_device *d, cawb_addr a);
int         sim_regions_follow(sim_device *d);     /* make notes; 0 when out of memory */
void        sim_regions_unfollow(sim_device *d);   /* as if no block had ever stored or read */
const sim_region *sim_region_trespassed(const sim_device *d);   /* guarded, and a kernel stored there; or NULL */
void        sim_region_poisoned(sim_region *r);    /* from now on `written` is kept, if memory allows */
void        sim_region_written(sim_region *r, cawb_addr a, size_t size);
void        sim_region_unwritten(sim_region *r, cawb_addr a, size_t size);
void        sim_regions_forget(sim_device *d);     /* clear the touched sectors */
uint64_t    sim_region_touch(sim_region *r, int map, cawb_addr a, size_t size);  /* those new to it */
cawb_status sim_memory_protect(cawb_device *d, cawb_addr a, cawb_err *err);
cawb_status sim_memory_alloc(cawb_device *d, size_t size, const char *label,
                             cawb_addr *out, cawb_err *err);
void        sim_memory_free(cawb_device *d, cawb_addr a);
cawb_status sim_memory_write(cawb_device *, cawb_addr, const void *, size_t, cawb_err *);
cawb_status sim_memory_read(cawb_device *, void *, cawb_addr, size_t, cawb_err *);
cawb_status sim_memory_copy(cawb_device *, cawb_addr, cawb_addr, size_t, cawb_err *);
cawb_status sim_memory_fill(cawb_device *, cawb_addr, uint32_t, size_t, cawb_err *);
cawb_status sim_memory_attach(cawb_device *, const cawb_share *, cawb_addr *, cawb_err *);

#endif
