/* copy.c - copies. */
#include <string.h>

#include "sim/cudart/memory.h"
#include "sim/cudart/modules.h"
#include "sim/cudart/streams.h"

/* Rows of `width` bytes. Where the host has a part in it, a copy without a stream is waited for. */
typedef struct shape { size_t width, height, to_pitch, from_pitch; } shape;

static double seconds_of(const cawb_cudart *rt, int way, size_t size) {
  if (way == CAWB_ENGINE_KERNELS) return rt->figures.launch + 2 * (double)size / rt->figures.dram;
  return cawb_streams_link(rt, size);
}

static int rows(cawb_cudart *rt, void *to, const void *from, const shape *r, int kind, const char *call) {
  int error = CAWB_CUDA_OK;
  for (size_t i = 0; i < r->height && error == CAWB_CUDA_OK; i++)
    error = cawb_memory_copy(rt, (char *)to + i * r->to_pitch, (const char *)from + i * r->from_pitch, r->width, kind, call);
  return error;
}

static int copy(cawb_cudart *rt, void *to, const void *from, shape r, int kind, void *stream, int wait, const char *call) {
  cawb_cuda_stream *s = cawb_streams_find(rt, stream);
  int way = cawb_memory_way(rt, to, from), error = s != NULL ? rows(rt, to, from, &r, kind, call) : CAWB_CUDA_HANDLE;
  if (error != CAWB_CUDA_OK) return error;
  cawb_streams_work(rt, s, way, seconds_of(rt, way, r.width * r.height));
  if (wait && way != CAWB_ENGINE_KERNELS) cawb_streams_wait(rt, s);
  return CAWB_CUDA_OK;
}

static shape line(size_t size) { return (shape){ size, 1, size, size }; }

CUDART_CALL(cudaMemcpy, copy(rt, to, from, line(size), kind, NULL, 1, "cudaMemcpy"),
            void *to, const void *from, size_t size, int kind)
CUDART_CALL(cudaMemcpyAsync, copy(rt, to, from, line(size), kind, stream, 0, "cudaMemcpyAsync"),
            void *to, const void *from, size_t size, int kind, void *stream)
CUDART_CALL(cudaMemcpyPeer, ((void)a, (void)b, copy(rt, to, from, line(size), 4, NULL, 1, "cudaMemcpyPeer")),
            void *to, int a, const void *from, int b, size_t size)
CUDART_CALL(cudaMemcpyPeerAsync, ((void)a, (void)b, copy(rt, to, from, line(size), 4, stream, 0, "cudaMemcpyPeerAsync")),
            void *to, int a, const void *from, int b, size_t size, void *stream)
CUDART_CALL(cudaMemcpy2D, copy(rt, to, from, ((shape){ width, height, to_pitch, from_pitch }), kind, NULL, 1, "cudaMemcpy2D"),
            void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind)
CUDART_CALL(cudaMemcpy2DAsync,
            copy(rt, to, from, ((shape){ width, height, to_pitch, from_pitch }), kind, stream, 0, "cudaMemcpy2DAsync"),
            void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind, void *stream)

/* ------------------------------------------------------------------- variables */

/* The variable's place, where [offset, offset + size) is within it. */
static int place(cawb_cudart *rt, const void *symbol, size_t offset, size_t size, void **out) {
  cawb_addr at;
  size_t whole;
  int error = cawb_cudart_ready(rt);
  if (error == CAWB_CUDA_OK) error = cawb_modules_variable(rt, symbol, &at, &whole);
  if (error != CAWB_CUDA_OK) return error;
  if (offset > whole || size > whole - offset) return CAWB_CUDA_VALUE;
  *out = (void *)(at + offset);                /* NOLINT: an address of the device */
  return CAWB_CUDA_OK;
}

static int to_symbol(cawb_cudart *rt, const void *symbol, const void *from, size_t size, size_t offset, int kind, void *stream,
                     int wait) {
  void *to;
  int error = place(rt, symbol, offset, size, &to);
  return error == CAWB_CUDA_OK ? copy(rt, to, from, line(size), kind, stream, wait, "cudaMemcpyToSymbol") : error;
}

static int from_symbol(cawb_cudart *rt, void *to, const void *symbol, size_t size, size_t offset, int kind, void *stream,
                       int wait) {
  void *from;
  int error = place(rt, symbol, offset, size, &from);
  return error == CAWB_CUDA_OK ? copy(rt, to, from, line(size), kind, stream, wait, "cudaMemcpyFromSymbol") : error;
}

CUDART_CALL(cudaMemcpyToSymbol, to_symbol(rt, symbol, from, size, offset, kind, NULL, 1),
            const void *symbol, const void *from, size_t size, size_t offset, int kind)
CUDART_CALL(cudaMemcpyToSymbolAsync, to_symbol(rt, symbol, from, size, offset, kind, stream, 0),
            const void *symbol, const void *from, size_t size, size_t offset, int kind, void *stream)
CUDART_CALL(cudaMemcpyFromSymbol, from_symbol(rt, to, symbol, size, offset, kind, NULL, 1),
            void *to, const void *symbol, size_t size, size_t offset, int kind)
CUDART_CALL(cudaMemcpyFromSymbolAsync, from_symbol(rt, to, symbol, size, offset, kind, stream, 0),
            void *to, const void *symbol, size_t size, size_t offset, int kind, void *stream)
