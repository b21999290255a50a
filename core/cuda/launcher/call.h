/*
** call.h - functions of Python's that call a package: addresses of tensors, memory of PyTorch's allocator and launches in one step, without
** a line of Python. Loaded by ctypes.PyDLL: the caller holds Python's lock. A function that fails has set Python's error.
*/
#ifndef CAWB_CUDA_LAUNCHER_CALL_H
#define CAWB_CUDA_LAUNCHER_CALL_H

#include <stdint.h>

#include "cuda/launcher/launcher.h"
#include "cuda/launcher/python.h"

#define CAWB_CALL_NONE UINT64_MAX     /* of an argument that no kernel takes */

/* A part of an allocation: the tensor's number, and bytes behind the allocation's begin. */
typedef struct cawb_call_place { uint64_t tensor, plus; } cawb_call_place;

/* The form that an argument has to have. */
typedef struct cawb_call_form { uint64_t arg, dims; const int64_t *size, *stride; } cawb_call_form;

/* A result: a computed tensor, seen by as_strided(*object) where there is an object; or an argument; or the object itself. */
enum { CAWB_RESULT_MADE, CAWB_RESULT_ARGUMENT, CAWB_RESULT_OBJECT };
typedef struct cawb_call_result { uint64_t kind, number; PyObject *object; } cawb_call_result;

/* Functions of PyTorch's C interface; NULL where it has none. 0: fine. */
typedef struct cawb_call_torch {
  uint64_t offset;                    /* of the tensor in its Python object, in bytes; 0: not known */
  int (*address)(void *tensor, void **out);
  int (*dims)(void *tensor, int64_t *out);
  int (*sizes)(void *tensor, int64_t **out);
  int (*strides)(void *tensor, int64_t **out);
} cawb_call_torch;

typedef struct cawb_call_about {
  cawb_launcher *launcher;
  uint64_t first, count, graph;       /* steps before `first` compute from parameters alone */
  uint64_t alignment, device;
  uint64_t ntensors, nargs, nread, nmade, nscratch, nkept, nloose, nresults;
  const uint64_t *table;              /* addresses by tensor, of those that never move */
  const uint64_t *args;               /* tensors of arguments */
  const uint64_t *read;               /* arguments that the first steps read */
  const uint64_t *made;               /* tensors of `forms` */
  const cawb_call_place *scratch, *kept;      /* of one allocation each; what is kept, the first steps make */
  const cawb_call_form *loose;        /* arguments whose forms nobody guards */
  const cawb_call_result *results;
  const cawb_call_torch *torch;
  PyObject *forms;                    /* arguments of `empty` for each computed tensor */
  PyObject *scratch_form, *kept_form;
  PyObject *empty, *current_device, *stream_of, *device_number;
  PyObject *elsewhere;                /* called where another device is the current one */
  PyObject *aligned;                  /* a copy of a tensor that begins where no kernel takes one */
  PyObject *asked;                    /* (function, arguments) of each setting that a choice depends on */
} cawb_call_about;

/* A capsule for a package. `about` and its objects are borrowed: the functions below keep their owner. NULL: failed. */
PyObject *cawb_call_new(const cawb_call_about *about);

/* A function that calls it; `keep` stays as long as the function. */
PyObject *cawb_call_run(PyObject *capsule, PyObject *keep);

/* A function that calls it where it was chosen, with arguments of the right forms, and else `other`, with the same arguments. */
PyObject *cawb_call_entry(PyObject *capsule, PyObject *other, PyObject *keep);

/* Choose it while settings are these, a tuple as of `asked`; or, with `chosen` 0, choose it not. */
int cawb_call_choose(PyObject *capsule, int chosen, PyObject *settings);

#endif
