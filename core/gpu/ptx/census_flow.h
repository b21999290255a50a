/*
** census_flow.h - which addresses registers and memory may hold, for census.c.
**
** An object is what an address leads to: what a parameter points to, a variable of the module, all
** shared memory, all local memory. A set of objects is kept for each register of each function, for
** each parameter of a call, and for the content of each object: sets only grow, without regard to
** the order of instructions. Everything that parameters point to has one content, for two of them
** may be the same tensor.
*/
#ifndef CAWB_PTX_CENSUS_FLOW_H
#define CAWB_PTX_CENSUS_FLOW_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/ptx/scan.h"

enum { CENSUS_WORLD, CENSUS_SHARED, CENSUS_LOCAL, CENSUS_OBJECTS };   /* the first objects */
enum { CENSUS_ADDRESS, CENSUS_VALUE, CENSUS_OTHER, CENSUS_TEMPS };

typedef uint64_t *census_set;    /* `width` words, one bit for each object; owned by the flow */

typedef struct census_flow {
  size_t width, nobjects;
  census_set *content;           /* of each object */
  census_set temp[CENSUS_TEMPS]; /* for whoever needs one for a moment */
  struct census_slot *slot;      /* of registers: open addressing */
  size_t room, used;
  struct census_chunk *chunks;   /* where sets lie */
  size_t bytes, work;            /* spent so far */
  int changed;                   /* a set grew since this was cleared */
  const char *lost;              /* why nothing is known any more, or NULL */
} census_flow;

/* 0 when out of memory. */
int  cawb_census_flow_begin(census_flow *f, size_t nobjects);
void cawb_census_flow_end(census_flow *f);

/* The set of a register of a function (any number that stands for it); NULL where nothing was put
** into it yet. */
census_set cawb_census_known(census_flow *f, size_t scope, cawb_ptx_word name);

/* Put more into the set of a register, into a content, or into a temporary set, which is not noted
** as a change. What cannot be kept makes `lost`. `from` may be NULL. */
void cawb_census_learn(census_flow *f, size_t scope, cawb_ptx_word name, const uint64_t *from);
void cawb_census_add(census_flow *f, census_set to, const uint64_t *from);
void cawb_census_join(census_flow *f, census_set temp, const uint64_t *from);

void cawb_census_clear(const census_flow *f, census_set s);
int  cawb_census_none(const census_flow *f, const uint64_t *s);
void cawb_census_put(census_set s, size_t object);

/* The first object of a set from `object` on; nobjects behind the last. */
size_t cawb_census_next(const census_flow *f, const uint64_t *s, size_t object);

/* Spend work on something else. */
void cawb_census_work(census_flow *f, size_t work);

#endif
