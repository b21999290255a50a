/*
** kernels.h - what a compiled candidate offers: its kernels and their parameters,
** read from PTX text, and their resources, read from ptxas' report in the log.
** The table is owned by the caller; cawb_ptx_free releases everything in it.
*/
#ifndef CAWB_PTX_KERNELS_H
#define CAWB_PTX_KERNELS_H

#include <stddef.h>

#include "base/err.h"

typedef enum cawb_param_kind {
  CAWB_PARAM_INT,      /* integer of `size` bytes, signed or not: PTX does not say */
  CAWB_PARAM_FLOAT,    /* 4 or 8 bytes */
  CAWB_PARAM_POINTER,  /* 8 bytes, seen used as a global address */
  CAWB_PARAM_BYTES     /* a struct by value */
} cawb_param_kind;

typedef struct cawb_param {
  cawb_param_kind kind;
  size_t size, align, offset;   /* bytes; offset in the parameter block */
} cawb_param;

typedef struct cawb_kernel {
  char *name;                   /* as PTX spells it (mangled) */
  char *plain;                  /* the function's own name; equals name for extern "C" */
  cawb_param *params;
  size_t nparams, args_size;    /* args_size: bytes of the whole parameter block */
  int waits;                    /* every thread first waits for the launch before: griddepcontrol.wait, ahead of branches and memory; no ld.nc */
  /* from ptxas; -1 where the log does not say */
  long registers, spill_stores, spill_loads, stack, shared, constant, barriers;
} cawb_kernel;

typedef struct cawb_kernels {
  cawb_kernel *list;
  size_t count;
} cawb_kernels;

/* Read the entries of `ptx`; `log` (may be NULL) is NVRTC's, with ptxas -v. */
cawb_status cawb_ptx_kernels(cawb_kernels *out, const char *ptx, const char *log,
                             cawb_err *err);
void        cawb_ptx_free(cawb_kernels *k);

/* By full name, else by plain name where only one kernel bears it, else NULL. */
const cawb_kernel *cawb_ptx_find(const cawb_kernels *k, const char *name);

#endif
