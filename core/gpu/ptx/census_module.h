/*
** census_module.h - what a module declares: its functions with their parameters, and its variables.
** For census.c.
*/
#ifndef CAWB_PTX_CENSUS_MODULE_H
#define CAWB_PTX_CENSUS_MODULE_H

#include "gpu/ptx/census_text.h"

typedef struct census_variable {
  cawb_ptx_word name;
  const char *space;             /* "global", "const", "shared" */
  size_t bytes;
  const char *values;            /* behind "=", up to ";"; NULL: it has no initial value */
} census_variable;

typedef struct census_param {
  cawb_ptx_word name;
  int wide;                      /* 8 bytes or more: it can hold an address */
} census_param;

typedef struct census_function {
  cawb_ptx_word name, result;    /* `result` of no size: it returns nothing */
  int entry;
  size_t first, nparams;         /* of the module's parameters */
  const char *body, *end;        /* behind "{" and behind "}"; NULL: only declared */
} census_function;

typedef struct census_module {
  census_variable *variables;
  census_function *functions;
  census_param *params;
  size_t nvariables, nfunctions, nparams;
  size_t variables_room, functions_room, params_room;
} census_module;

/* 0 when out of memory; free it in every case. */
int  cawb_census_module_read(census_module *m, const char *ptx);
void cawb_census_module_free(census_module *m);

#endif
