/* properties.c - see properties.h. */
#include "sim/cudart/properties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The layout of cudaDeviceProp, with the fields that CUDA 13 has no more in OLD. What is not named here is 0. */
#define LAYOUT(OLD) { \
  char name[256], uuid[16], luid[8]; \
  unsigned node; \
  size_t memory, shared_block; \
  int registers_block, warp; \
  size_t pitch; \
  int threads_block, block[3], grid[3]; \
  OLD(int clock;) \
  size_t constant; \
  int major, minor; \
  size_t texture[2]; \
  OLD(int overlap;) \
  int sms; \
  OLD(int timeout;) \
  int integrated, maps_host; \
  OLD(int mode;) \
  int texture_1d[2]; \
  OLD(int texture_1d_linear;) \
  int textures[2 + 2 + 3 + 2 + 3 + 3 + 1 + 2 + 3 + 2 + 1 + 2 + 3 + 2 + 3 + 1 + 2]; \
  size_t surface; \
  int concurrent, ecc, bus, slot, domain, tcc, engines, unified; \
  OLD(int memory_clock;) \
  int bus_width, l2, l2_persisting, threads_sm, priorities, l1_global, l1_local; \
  size_t shared_sm; \
  int registers_sm, managed, boards, board, host_atomics; \
  OLD(int double_ratio;) \
  int pageable, managed_concurrent, preemption, host_pointer, cooperative; \
  OLD(int cooperative_many;) \
  size_t shared_optin; \
  int page_tables, managed_direct, blocks_sm, window; \
  size_t shared_reserved; \
  int further[96]; \
}
#define KEEP(...) __VA_ARGS__
#define DROP(...)
typedef struct LAYOUT(KEEP) layout_12;
typedef struct LAYOUT(DROP) layout_13;

enum { ENDS_12 = 1032, ENDS_13 = 1008, CONSTANT = 65536, WITHOUT_ASKING = 48 << 10, RESERVED = 1024 };

static int arch_of(const cawb_cudart *rt) { return (int)strtol(rt->figures.arch + strlen("sm_"), NULL, 10); }

#define FILL(p, rt) do { \
  const cawb_figures *f = &(rt)->figures; \
  memset((p), 0, sizeof *(p)); \
  snprintf((p)->name, sizeof (p)->name, "%s", f->model); \
  (p)->memory = (size_t)f->memory; \
  (p)->shared_block = WITHOUT_ASKING; \
  (p)->registers_block = (p)->registers_sm = (int)f->registers_sm; \
  (p)->warp = 32; \
  (p)->pitch = 2147483647; \
  (p)->threads_block = (p)->block[0] = (p)->block[1] = (int)f->threads_block; \
  (p)->block[2] = 64; \
  (p)->grid[0] = 2147483647; \
  (p)->grid[1] = (p)->grid[2] = 65535; \
  (p)->constant = CONSTANT; \
  (p)->major = arch_of(rt) / 10; \
  (p)->minor = arch_of(rt) % 10; \
  (p)->sms = (int)f->sms; \
  (p)->maps_host = (p)->concurrent = (p)->unified = (p)->l1_global = (p)->l1_local = 1; \
  (p)->managed = (p)->managed_concurrent = (p)->cooperative = 1; \
  (p)->engines = 2; \
  (p)->l2 = (int)f->l2; \
  (p)->threads_sm = (int)f->threads_sm; \
  (p)->shared_sm = (size_t)f->shared_sm; \
  (p)->shared_optin = (size_t)f->shared_block; \
  (p)->blocks_sm = (int)f->blocks_sm; \
  (p)->shared_reserved = RESERVED; \
} while (0)

void cawb_properties_12(const cawb_cudart *rt, void *out) {
  layout_12 p;
  FILL(&p, rt);
  p.clock = (int)(rt->figures.clock / 1e3);
  p.overlap = 1;
  memcpy(out, &p, ENDS_12);
}

void cawb_properties_13(const cawb_cudart *rt, void *out) {
  layout_13 p;
  FILL(&p, rt);
  memcpy(out, &p, ENDS_13);
}

/* The numbers are enum cudaDeviceAttr's. */
int cawb_properties_attribute(const cawb_cudart *rt, int which) {
  layout_13 p;
  FILL(&p, rt);
  const struct { int which, value; } list[] = {
    { 1, p.threads_block }, { 2, p.block[0] }, { 3, p.block[1] }, { 4, p.block[2] }, { 5, p.grid[0] }, { 6, p.grid[1] },
    { 7, p.grid[2] }, { 8, (int)p.shared_block }, { 9, (int)p.constant }, { 10, p.warp }, { 11, (int)p.pitch },
    { 12, p.registers_block }, { 13, (int)(rt->figures.clock / 1e3) }, { 15, 1 }, { 16, p.sms }, { 19, 1 }, { 31, 1 },
    { 38, p.l2 }, { 39, p.threads_sm }, { 40, p.engines }, { 41, 1 }, { 75, p.major }, { 76, p.minor }, { 79, 1 }, { 80, 1 },
    { 81, (int)p.shared_sm }, { 82, p.registers_sm }, { 83, 1 }, { 89, 1 }, { 95, 1 }, { 97, (int)p.shared_optin },
    { 106, p.blocks_sm }, { 111, RESERVED }, { 115, 1 }, { 120, p.major >= 9 }
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (list[i].which == which) return list[i].value;
  return 0;
}
