/* launch.h - a program's launches. */
#ifndef CAWB_CUDART_LAUNCH_H
#define CAWB_CUDART_LAUNCH_H

#include "sim/cudart/cudart.h"

/* As C++ passes it. */
typedef struct cawb_dim3 { unsigned x, y, z; } cawb_dim3;

typedef struct cawb_cuda_launch {
  cawb_dim3 grid, block, cluster;
  size_t shared;
  int cooperative;
  void *stream;
  int dependent;
} cawb_cuda_launch;

/* `arguments` are the addresses of the kernel's parameters. Returns an error's number. */
int cawb_launch(cawb_cudart *rt, const void *handle, const cawb_cuda_launch *how, void **arguments);

#endif
