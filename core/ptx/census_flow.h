/*
** census_flow.h - which registers hold addresses of what, for census.c. A source is a
** parameter of the function or a variable of the module; a register holds a set of them.
*/
#ifndef CAWB_PTX_CENSUS_FLOW_H
#define CAWB_PTX_CENSUS_FLOW_H

#include <stdint.h>

#include "ptx/scan.h"

enum { CENSUS_SLOTS = 8192, CENSUS_SOURCES = 64 };   /* the last source stands for all further ones */

typedef struct census_flow {
  struct { cawb_ptx_word reg; uint64_t from; } slot[CENSUS_SLOTS];
  unsigned used;
  int changed;                 /* a set grew since this was cleared */
} census_flow;

uint64_t cawb_census_bit(unsigned source);
void     cawb_census_learn(census_flow *f, cawb_ptx_word reg, uint64_t from);
uint64_t cawb_census_from(const census_flow *f, cawb_ptx_word reg);

#endif
