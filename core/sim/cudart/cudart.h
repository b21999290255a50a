/*
** cudart.h - a CUDA runtime in front of the simulated device: what its files share.
**
** libcudart.so.12 and .13 are made of this room (cmake/cudart.cmake). `cawb exec` lets a program find
** them in place of NVIDIA's. There is one runtime in a process, it opens its device at the first call,
** and every call enters and leaves it. It does not print, except what kernels print: what happened goes to the report, see note.h.
*/
#ifndef CAWB_CUDART_CUDART_H
#define CAWB_CUDART_CUDART_H

#include <cjson/cJSON.h>
#include <pthread.h>

#include "sim/cudart/errors.h"
#include "gpu/device/device.h"

/* Of the program's own place in modelled time, and of the parts of the device that work beside each other. */
enum { CAWB_ENGINE_KERNELS, CAWB_ENGINE_UP, CAWB_ENGINE_DOWN, CAWB_ENGINES };

typedef struct cawb_cudart {
  pthread_mutex_t lock;
  cawb_device *device;              /* NULL: see `why` */
  cawb_figures figures;
  cawb_err why;
  int last;                         /* what cudaGetLastError answers next */
  int broken;                       /* after a fault: what every call answers */
  int report;                       /* descriptor; -1: none */
  cJSON *told;                      /* the texts of what was found, so that each is told once */
  double host, engine[CAWB_ENGINES];        /* seconds of modelled time */
  struct cawb_cuda_module *modules;         /* see modules.h */
  struct cawb_cuda_stream *streams;         /* see streams.h */
  struct cawb_cuda_block *blocks;           /* see memory.h; in the order of their addresses */
  size_t nblocks, blocks_room, allocations;
} cawb_cudart;

/* Wait for other threads' calls. The device is open, or `device` is NULL. */
cawb_cudart *cawb_cudart_enter(void);

/* Note an error of a call (0: none), let other threads in, and return it. */
int cawb_cudart_leave(cawb_cudart *rt, int error);

/* Why nothing can be done: after a fault, or without a device. 0: all is well. */
int cawb_cudart_ready(const cawb_cudart *rt);

/* A function that programs link with: its prototype, and its definition. */
#define CUDART(type, name, ...) \
  type (name)(__VA_ARGS__); \
  __attribute__((visibility("default"))) type name(__VA_ARGS__)

/* The same for one whose work is one expression that gives an error. */
#define CUDART_CALL(name, expression, ...) \
  CUDART(int, name, __VA_ARGS__) { \
    cawb_cudart *rt = cawb_cudart_enter(); \
    return cawb_cudart_leave(rt, expression); \
  }

#endif
