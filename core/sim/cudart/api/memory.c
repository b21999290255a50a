/* memory.c - allocating, setting and asking about memory. */
#include "sim/cudart/memory.h"

#include <string.h>

#include "sim/cudart/modules.h"
#include "sim/cudart/note.h"
#include "sim/cudart/streams.h"

CUDART_CALL(cudaMalloc, cawb_memory_new(rt, p, size, "cudaMalloc"), void **p, size_t size)
CUDART_CALL(cudaMallocAsync, ((void)stream, cawb_memory_new(rt, p, size, "cudaMallocAsync")),
            void **p, size_t size, void *stream)
CUDART_CALL(cudaMallocFromPoolAsync, ((void)pool, (void)stream, cawb_memory_new(rt, p, size, "cudaMallocFromPoolAsync")),
            void **p, size_t size, void *pool, void *stream)
CUDART_CALL(cudaMallocManaged, ((void)flags, cawb_memory_new_both(rt, p, size, CAWB_BLOCK_MANAGED, "cudaMallocManaged")),
            void **p, size_t size, unsigned flags)
CUDART_CALL(cudaMallocHost, cawb_memory_new_both(rt, p, size, CAWB_BLOCK_PINNED, "cudaMallocHost"), void **p, size_t size)
CUDART_CALL(cudaHostAlloc, ((void)flags, cawb_memory_new_both(rt, p, size, CAWB_BLOCK_PINNED, "cudaHostAlloc")),
            void **p, size_t size, unsigned flags)

/* Work that frees memory waits for all that is under way. */
static int release(cawb_cudart *rt, void *p, const char *call) {
  cawb_streams_wait(rt, NULL);
  return cawb_memory_free(rt, p, call);
}
CUDART_CALL(cudaFree, release(rt, p, "cudaFree"), void *p)
CUDART_CALL(cudaFreeAsync, ((void)stream, cawb_memory_free(rt, p, "cudaFreeAsync")), void *p, void *stream)
CUDART_CALL(cudaFreeHost, release(rt, p, "cudaFreeHost"), void *p)

/* Copies from and to it are as always; the device cannot be made to see it. */
CUDART_CALL(cudaHostRegister, ((void)p, (void)size, (void)flags, cawb_cudart_ready(rt)), void *p, size_t size, unsigned flags)
CUDART_CALL(cudaHostUnregister, ((void)p, cawb_cudart_ready(rt)), void *p)

static int device_pointer(cawb_cudart *rt, void **out, void *p) {
  *out = cawb_memory_at(rt, p) != NULL ? p : NULL;
  return *out != NULL ? CAWB_CUDA_OK : CAWB_CUDA_UNSUPPORTED;
}
CUDART_CALL(cudaHostGetDevicePointer, ((void)flags, device_pointer(rt, out, p)), void **out, void *p, unsigned flags)

/* -------------------------------------------------------------------- in rows */

enum { PITCH = 512 };
static size_t rounded(size_t width) { return (width + PITCH - 1) / PITCH * PITCH; }

static int rows(cawb_cudart *rt, void **p, size_t *pitch, size_t width, size_t height) {
  *pitch = rounded(width);
  return cawb_memory_new(rt, p, *pitch * height, "cudaMallocPitch");
}
CUDART_CALL(cudaMallocPitch, rows(rt, p, pitch, width, height), void **p, size_t *pitch, size_t width, size_t height)

/* ---------------------------------------------------------------------- setting */

static int set(cawb_cudart *rt, void *to, int value, size_t size, void *stream, const char *call) {
  cawb_cuda_stream *s = cawb_streams_find(rt, stream);
  int error = s != NULL ? cawb_memory_set(rt, to, value, size, call) : CAWB_CUDA_HANDLE;
  if (error == CAWB_CUDA_OK)
    cawb_streams_work(rt, s, CAWB_ENGINE_KERNELS, rt->figures.launch + (double)size / rt->figures.dram);
  return error;
}
CUDART_CALL(cudaMemset, set(rt, p, value, size, NULL, "cudaMemset"), void *p, int value, size_t size)
CUDART_CALL(cudaMemsetAsync, set(rt, p, value, size, stream, "cudaMemsetAsync"), void *p, int value, size_t size, void *stream)

static int set_rows(cawb_cudart *rt, void *to, size_t pitch, int value, size_t width, size_t height, void *stream,
                    const char *call) {
  int error = CAWB_CUDA_OK;
  for (size_t i = 0; i < height && error == CAWB_CUDA_OK; i++)
    error = set(rt, (char *)to + i * pitch, value, width, stream, call);
  return error;
}
CUDART_CALL(cudaMemset2D, set_rows(rt, p, pitch, value, width, height, NULL, "cudaMemset2D"),
            void *p, size_t pitch, int value, size_t width, size_t height)
CUDART_CALL(cudaMemset2DAsync, set_rows(rt, p, pitch, value, width, height, stream, "cudaMemset2DAsync"),
            void *p, size_t pitch, int value, size_t width, size_t height, void *stream)

/* --------------------------------------------------------------------- questions */

static size_t taken(const cawb_cudart *rt) {
  size_t sum = 0;
  for (size_t i = 0; i < rt->nblocks; i++) sum += rt->blocks[i].size;
  return sum;
}

static int memory_info(cawb_cudart *rt, size_t *free_now, size_t *total) {
  int error = cawb_cudart_ready(rt);
  if (error != CAWB_CUDA_OK) return error;
  *total = cawb_device_about(rt->device)->memory;
  *free_now = *total - (taken(rt) < *total ? taken(rt) : *total);
  return CAWB_CUDA_OK;
}
CUDART_CALL(cudaMemGetInfo, memory_info(rt, free_now, total), size_t *free_now, size_t *total)

typedef struct pointer_attributes { int type, device; void *on_device, *on_host; long unused[8]; } pointer_attributes;

static int pointer(cawb_cudart *rt, pointer_attributes *out, const void *p) {
  enum { UNREGISTERED, HOST, DEVICE, MANAGED };
  static const int types[] = { [CAWB_BLOCK_DEVICE] = DEVICE, [CAWB_BLOCK_PINNED] = HOST, [CAWB_BLOCK_MANAGED] = MANAGED,
                               [CAWB_BLOCK_VARIABLE] = DEVICE };
  const cawb_cuda_block *b = cawb_memory_at(rt, p);
  memset(out, 0, sizeof *out);
  out->type = b != NULL ? types[b->kind] : UNREGISTERED;
  if (b != NULL) out->on_device = (void *)p;
  if (out->type != DEVICE) out->on_host = (void *)p;
  return cawb_cudart_ready(rt);
}
CUDART_CALL(cudaPointerGetAttributes, pointer(rt, out, p), pointer_attributes *out, const void *p)

/* Managed memory is where both see it: nothing is moved, and advice changes nothing. The arguments differ between versions. */
CUDART_CALL(cudaMemPrefetchAsync, ((void)p, cawb_cudart_ready(rt)), const void *p)
CUDART_CALL(cudaMemAdvise, ((void)p, cawb_cudart_ready(rt)), const void *p)
CUDART_CALL(cudaMemPrefetchAsync_v2, ((void)p, cawb_cudart_ready(rt)), const void *p)
CUDART_CALL(cudaMemAdvise_v2, ((void)p, cawb_cudart_ready(rt)), const void *p)
CUDART_CALL(cudaStreamAttachMemAsync, ((void)stream, (void)p, cawb_cudart_ready(rt)), void *stream, void *p)

/* --------------------------------------------------------------------- variables */

static int symbol_address(cawb_cudart *rt, void **out, const void *symbol) {
  cawb_addr at;
  size_t size;
  int error = cawb_cudart_ready(rt);
  if (error == CAWB_CUDA_OK) error = cawb_modules_variable(rt, symbol, &at, &size);
  if (error == CAWB_CUDA_OK) *out = (void *)at;              /* NOLINT: an address of the device */
  return error;
}
CUDART_CALL(cudaGetSymbolAddress, symbol_address(rt, out, symbol), void **out, const void *symbol)

static int symbol_size(cawb_cudart *rt, size_t *out, const void *symbol) {
  cawb_addr at;
  int error = cawb_cudart_ready(rt);
  return error == CAWB_CUDA_OK ? cawb_modules_variable(rt, symbol, &at, out) : error;
}
CUDART_CALL(cudaGetSymbolSize, symbol_size(rt, out, symbol), size_t *out, const void *symbol)
