/*
** census_reach.h - what becomes of the memory that an instruction reaches: counts, and contents. For
** census_follow.c.
*/
#ifndef CAWB_PTX_CENSUS_REACH_H
#define CAWB_PTX_CENSUS_REACH_H

#include "gpu/ptx/census_follow.h"

/* Where an instruction says that memory is: CENSUS_SHARED, CENSUS_LOCAL, or one of these. */
enum { CENSUS_NOWHERE = CENSUS_OBJECTS, CENSUS_CONSTANT };

/* The space that the first address is in, or the others: copies name two, the written one first. */
int  cawb_census_space(cawb_ptx_word op, int first);

/* Count, while counting. A write whose address may lead to several things is a "maybe". */
void cawb_census_use(census_follow *c, const uint64_t *from, int how);
void cawb_census_written(census_follow *c, const uint64_t *from, int how);

/* What may be found at an address, joined into `to`; and what is put there. */
void cawb_census_contents(census_follow *c, census_set to, const uint64_t *from, int space);
void cawb_census_store(census_follow *c, const uint64_t *to, int space, const uint64_t *value);

#endif
