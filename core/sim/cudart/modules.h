/*
** modules.h - what a program registers before main: device code, and the host's handles of its kernels and
** variables. A module is loaded when something of it is used for the first time.
*/
#ifndef CAWB_CUDART_MODULES_H
#define CAWB_CUDART_MODULES_H

#include "sim/cudart/cudart.h"
#include "gpu/ptx/kernels.h"

typedef struct cawb_cuda_kernel {
  const void *handle;              /* the host function that launches it */
  char *name, *plain;              /* as PTX spells it; for people: once it is loaded */
  char source[64];                 /* the file that its lines are of, "" where nothing says so */
  const cawb_kernel *parameters;   /* NULL: not loaded, or not in the PTX */
  size_t shared_most;              /* what cudaFuncSetAttribute allowed; 0: nothing was said */
  uint64_t launches;
  cawb_report sum;                 /* of all launches */
} cawb_cuda_kernel;

typedef struct cawb_cuda_variable {
  const void *handle;
  char *name;
  size_t size;
} cawb_cuda_variable;

typedef struct cawb_cuda_module {
  const void *data;                /* the fat binary */
  int tried;                       /* to load it */
  cawb_module *loaded;             /* NULL: not, see `why` */
  cawb_err why;
  cawb_kernels table;
  cawb_cuda_kernel *kernels;
  cawb_cuda_variable *variables;
  size_t nkernels, nvariables;
  struct cawb_cuda_module *next;
} cawb_cuda_module;

cawb_cuda_module *cawb_modules_add(cawb_cudart *rt, const void *data);
void cawb_modules_add_kernel(cawb_cuda_module *m, const void *handle, const char *name);
void cawb_modules_add_variable(cawb_cuda_module *m, const void *handle, const char *name, size_t size);
void cawb_modules_free(cawb_cudart *rt);

/* By its handle, with its module loaded, or an error's number. What cannot be loaded is told once. */
int cawb_modules_kernel(cawb_cudart *rt, const void *handle, cawb_cuda_module **m, cawb_cuda_kernel **k);
int cawb_modules_variable(cawb_cudart *rt, const void *handle, cawb_addr *at, size_t *size);

#endif
