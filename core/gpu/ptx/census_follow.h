/*
** census_follow.h - follows addresses through a module's instructions until nothing new is learned,
** and counts who is read and written. For census.c.
*/
#ifndef CAWB_PTX_CENSUS_FOLLOW_H
#define CAWB_PTX_CENSUS_FOLLOW_H

#include "gpu/ptx/census_flow.h"
#include "gpu/ptx/census_module.h"

/* "maybe": written through an address that may lead elsewhere, too. */
enum { CENSUS_READS, CENSUS_WRITES, CENSUS_ATOMICS, CENSUS_ESCAPES, CENSUS_MAYBE, CENSUS_USES };

typedef struct census_object {
  long use[CENSUS_USES];
  int mentioned;                 /* by name, in a function or an initial value */
  int addressed;                 /* a parameter that is surely an address, no number */
  int passed;                    /* a parameter of a function that others call: it stands for theirs */
} census_object;

/* A parameter of another kernel, whose address was found in memory. */
typedef struct census_distant { size_t param; long use[CENSUS_USES]; } census_distant;
enum { CENSUS_DISTANT = 64 };

typedef struct census_follow {
  const census_module *module;
  census_flow flow;
  census_object *objects;
  census_words words;
  size_t first_variable, first_param, first_function;      /* objects of the module's lists */
  size_t scope;                  /* 1 + the number of the function that is read */
  cawb_ptx_word *calls;          /* parameters of calls that it has declared */
  size_t ncalls, calls_room;
  int counting;
  long stores, called;           /* of this function: through addresses of unknown origin, to unknown code */
  census_distant distant[CENSUS_DISTANT];
  size_t ndistant;
} census_follow;

/* Learn. 0 when out of memory; free it in every case. `flow.lost` says why nothing is known. */
int  cawb_census_follow(census_follow *c, const census_module *m);
void cawb_census_follow_end(census_follow *c);

/* Count what one function does; `also` is called for each of its statements. Afterwards `stores`,
** `called` and `distant` are its own, and `objects[].use` have grown. */
void cawb_census_count(census_follow *c, size_t function, void (*also)(void *, const cawb_ptx_word *, size_t),
                       void *data);

/* The name that a call goes to, a register where that is not written there. */
cawb_ptx_word cawb_census_called(const cawb_ptx_word *w, size_t n);

#endif
