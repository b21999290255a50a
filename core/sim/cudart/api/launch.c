/* launch.c - launches, and what is asked about kernels. */
#include "sim/cudart/launch.h"

#include <stdlib.h>
#include <string.h>

#include "sim/cudart/modules.h"
#include "sim/cudart/note.h"

typedef struct configuration { cawb_dim3 grid, block; size_t shared; void *stream; } configuration;

/* Between `<<<` and `>>>`, of this thread: arguments may launch kernels themselves. */
enum { NESTED = 16 };
static _Thread_local configuration waiting[NESTED];
static _Thread_local unsigned nwaiting;

CUDART(unsigned, __cudaPushCallConfiguration, cawb_dim3 grid, cawb_dim3 block, size_t shared, void *stream) {
  if (nwaiting == NESTED) return 1;
  waiting[nwaiting++] = (configuration){ grid, block, shared, stream };
  return 0;
}

CUDART(int, __cudaPopCallConfiguration, cawb_dim3 *grid, cawb_dim3 *block, size_t *shared, void *stream) {
  if (nwaiting == 0) return CAWB_CUDA_MISSING_CONFIGURATION;
  const configuration *c = &waiting[--nwaiting];
  *grid = c->grid;
  *block = c->block;
  *shared = c->shared;
  memcpy(stream, &c->stream, sizeof c->stream);
  return CAWB_CUDA_OK;
}

static cawb_cuda_launch plain(cawb_dim3 grid, cawb_dim3 block, size_t shared, void *stream) {
  return (cawb_cuda_launch){ grid, block, { 1, 1, 1 }, shared, 0, stream, 0 };
}

static int launch(const void *handle, cawb_cuda_launch how, void **arguments) {
  cawb_cudart *rt = cawb_cudart_enter();
  return cawb_cudart_leave(rt, cawb_launch(rt, handle, &how, arguments));
}

CUDART(int, cudaLaunchKernel, const void *f, cawb_dim3 grid, cawb_dim3 block, void **args, size_t shared, void *stream) {
  return launch(f, plain(grid, block, shared, stream), args);
}

/* A kernel's handle is its host function. */
CUDART(int, __cudaGetKernel, const void **kernel, const void *f) {
  *kernel = f;
  return CAWB_CUDA_OK;
}

CUDART(int, __cudaLaunchKernel, const void *f, cawb_dim3 grid, cawb_dim3 block, void **args, size_t shared, void *stream) {
  return launch(f, plain(grid, block, shared, stream), args);
}

CUDART(int, cudaLaunchCooperativeKernel, const void *f, cawb_dim3 grid, cawb_dim3 block, void **args, size_t shared,
       void *stream) {
  cawb_cuda_launch how = plain(grid, block, shared, stream);
  how.cooperative = 1;
  return launch(f, how, args);
}

/* As the programmer's guide lays them out. */
enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4, ATTRIBUTE_PROGRAMMATIC = 6 };
typedef struct attribute { int id; unsigned unused; union { unsigned word[16]; cawb_dim3 cluster; } value; } attribute;
typedef struct extended {
  cawb_dim3 grid, block;
  size_t shared;
  void *stream;
  const attribute *attributes;
  unsigned nattributes;
} extended;

CUDART(int, cudaLaunchKernelExC, const extended *c, const void *f, void **args) {
  cawb_cuda_launch how = plain(c->grid, c->block, c->shared, c->stream);
  for (unsigned i = 0; i < c->nattributes; i++) {
    const attribute *a = &c->attributes[i];
    if (a->id == ATTRIBUTE_CLUSTER) how.cluster = a->value.cluster;
    if (a->id == ATTRIBUTE_COOPERATIVE) how.cooperative = a->value.word[0] != 0;
    if (a->id == ATTRIBUTE_PROGRAMMATIC) how.dependent = a->value.word[0] != 0;
  }
  return launch(f, how, args);
}

/* ------------------------------------------------------------------ questions */

typedef struct function_attributes {
  size_t shared, constant, local;
  int threads, registers, ptx, binary, cache, shared_most, carveout, cluster[6], unused[16];
} function_attributes;

static int facts_of(cawb_cudart *rt, const void *f, unsigned threads, size_t shared, cawb_kernel_facts *facts,
                    cawb_cuda_kernel **k) {
  cawb_cuda_module *m;
  cawb_err err;
  int error = cawb_cudart_ready(rt);
  if (error == CAWB_CUDA_OK) error = cawb_modules_kernel(rt, f, &m, k);
  if (error != CAWB_CUDA_OK) return error;
  return cawb_device_kernel(rt->device, m->loaded, (*k)->name, threads, shared, facts, &err) == CAWB_OK
    ? CAWB_CUDA_OK : CAWB_CUDA_FUNCTION;
}

static int attributes(cawb_cudart *rt, function_attributes *out, const void *f) {
  cawb_kernel_facts facts;
  cawb_cuda_kernel *k;
  int error = facts_of(rt, f, 0, 0, &facts, &k), arch;
  if (error != CAWB_CUDA_OK) return error;
  arch = (int)strtol(cawb_device_about(rt->device)->arch + strlen("sm_"), NULL, 10);
  memset(out, 0, sizeof *out);
  out->shared = facts.shared;
  out->local = facts.local;
  out->threads = (int)facts.threads;
  out->registers = (int)facts.registers;
  out->ptx = out->binary = arch;
  out->shared_most = (int)(k->shared_most > 49152 ? k->shared_most : 49152 - facts.shared);
  return CAWB_CUDA_OK;
}
CUDART_CALL(cudaFuncGetAttributes, attributes(rt, out, f), function_attributes *out, const void *f)

enum { FUNCTION_SHARED_MOST = 8 };

static int set_attribute(cawb_cudart *rt, const void *f, int what, int value) {
  cawb_kernel_facts facts;
  cawb_cuda_kernel *k;
  int error = facts_of(rt, f, 0, 0, &facts, &k);
  if (error != CAWB_CUDA_OK || what != FUNCTION_SHARED_MOST) return error;
  if (value < 0 || (size_t)value + facts.shared > cawb_device_about(rt->device)->shared_block) return CAWB_CUDA_VALUE;
  k->shared_most = (size_t)value;
  return CAWB_CUDA_OK;
}
CUDART_CALL(cudaFuncSetAttribute, set_attribute(rt, f, what, value), const void *f, int what, int value)
CUDART_CALL(cudaFuncSetCacheConfig, ((void)f, (void)config, cawb_cudart_ready(rt)), const void *f, int config)
CUDART_CALL(cudaFuncSetSharedMemConfig, ((void)f, (void)config, cawb_cudart_ready(rt)), const void *f, int config)

static int name_of(cawb_cudart *rt, const char **out, const void *f) {
  cawb_cuda_module *m;
  cawb_cuda_kernel *k;
  int error = cawb_modules_kernel(rt, f, &m, &k);
  if (error == CAWB_CUDA_OK) *out = k->name;
  return error;
}
CUDART_CALL(cudaFuncGetName, name_of(rt, out, f), const char **out, const void *f)

static int occupancy(cawb_cudart *rt, int *blocks, const void *f, int threads, size_t shared) {
  cawb_kernel_facts facts;
  cawb_cuda_kernel *k;
  int error = threads > 0 ? facts_of(rt, f, (unsigned)threads, shared, &facts, &k) : CAWB_CUDA_VALUE;
  if (error == CAWB_CUDA_OK) *blocks = (int)facts.resident;
  return error;
}
CUDART_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor, occupancy(rt, blocks, f, threads, shared),
            int *blocks, const void *f, int threads, size_t shared)
CUDART_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, ((void)flags, occupancy(rt, blocks, f, threads, shared)),
            int *blocks, const void *f, int threads, size_t shared, unsigned flags)
