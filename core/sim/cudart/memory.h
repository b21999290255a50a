/*
** memory.h - the program's memory on the device. Memory that both sides see (pinned, managed) is mapped at one
** address: a shared file that the device attaches and this process maps at the same place.
*/
#ifndef CAWB_CUDART_MEMORY_H
#define CAWB_CUDART_MEMORY_H

#include "sim/cudart/cudart.h"

enum { CAWB_BLOCK_DEVICE, CAWB_BLOCK_PINNED, CAWB_BLOCK_MANAGED, CAWB_BLOCK_VARIABLE };

typedef struct cawb_cuda_block {
  cawb_addr at;
  size_t size;
  int kind;
} cawb_cuda_block;

/* All return an error's number. `call` is the function that was called, for messages. */
int cawb_memory_new(cawb_cudart *rt, void **out, size_t size, const char *call);
int cawb_memory_new_both(cawb_cudart *rt, void **out, size_t size, int kind, const char *call);
int cawb_memory_free(cawb_cudart *rt, const void *p, const char *call);
int cawb_memory_know(cawb_cudart *rt, cawb_addr at, size_t size);          /* a variable */
void cawb_memory_free_all(cawb_cudart *rt);

const cawb_cuda_block *cawb_memory_at(const cawb_cudart *rt, const void *p);   /* NULL: not the device's */

/* Between any two places; `kind` is what the program says that they are (cudaMemcpyKind). */
int cawb_memory_copy(cawb_cudart *rt, void *to, const void *from, size_t size, int kind, const char *call);
int cawb_memory_set(cawb_cudart *rt, void *to, int value, size_t size, const char *call);

/* Which engine a copy takes: CAWB_ENGINE_UP, CAWB_ENGINE_DOWN, or that of kernels, within the device. */
int cawb_memory_way(const cawb_cudart *rt, const void *to, const void *from);

#endif
