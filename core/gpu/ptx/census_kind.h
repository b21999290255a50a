/* census_kind.h - what one PTX instruction is, by its name: for census.c. */
#ifndef CAWB_PTX_CENSUS_KIND_H
#define CAWB_PTX_CENSUS_KIND_H

#include "gpu/ptx/scan.h"

typedef enum census_access {
  CENSUS_NONE,      /* from registers to registers, or ld.param */
  CENSUS_READ,
  CENSUS_WRITE,     /* the first address, and reads others: st, cp.async */
  CENSUS_ATOMIC
} census_access;

census_access cawb_census_access(cawb_ptx_word op);

/* A special register that tells time or place: %clock64, %globaltimer, %smid ... */
int cawb_census_telling(cawb_ptx_word operand);

/* Call `bump(data, group, key)` for each thing that the instruction counts as. */
void cawb_census_kinds(cawb_ptx_word op, void (*bump)(void *, const char *, cawb_ptx_word), void *data);

#endif
