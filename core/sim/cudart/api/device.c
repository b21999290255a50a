/* device.c - the device, errors, versions. */
#include <stdio.h>

#include "sim/cudart/cudart.h"
#include "sim/cudart/properties.h"
#include "sim/cudart/streams.h"

/* ------------------------------------------------------------------------ errors */

CUDART(const char *, cudaGetErrorName, int error) { return cawb_errors_name(error); }
CUDART(const char *, cudaGetErrorString, int error) { return cawb_errors_text(error); }

static int take_last(int forget) {
  cawb_cudart *rt = cawb_cudart_enter();
  int error = rt->device == NULL ? CAWB_CUDA_INITIALIZATION : rt->last;
  if (forget) rt->last = CAWB_CUDA_OK;
  pthread_mutex_unlock(&rt->lock);
  return error;
}
CUDART(int, cudaGetLastError, void) { return take_last(1); }
CUDART(int, cudaPeekAtLastError, void) { return take_last(0); }

/* ------------------------------------------------------------------------ devices */

static int count(const cawb_cudart *rt, int *n) {
  *n = rt->device != NULL;
  return rt->device != NULL ? CAWB_CUDA_OK : CAWB_CUDA_INITIALIZATION;
}
CUDART_CALL(cudaGetDeviceCount, count(rt, n), int *n)

static int is_first(const cawb_cudart *rt, int device) { return device == 0 ? cawb_cudart_ready(rt) : CAWB_CUDA_DEVICE; }
static int is_here(const cawb_cudart *rt, int *device) { return *device = 0, cawb_cudart_ready(rt); }

CUDART_CALL(cudaGetDevice, is_here(rt, device), int *device)
CUDART_CALL(cudaChooseDevice, ((void)wanted, is_here(rt, device)), int *device, const void *wanted)
CUDART_CALL(cudaSetDevice, is_first(rt, device), int device)
CUDART_CALL(cudaInitDevice, ((void)a, (void)b, is_first(rt, device)), int device, unsigned a, unsigned b)
CUDART_CALL(cudaSetDeviceFlags, ((void)flags, cawb_cudart_ready(rt)), unsigned flags)
CUDART_CALL(cudaGetDeviceFlags, (*flags = 0, cawb_cudart_ready(rt)), unsigned *flags)

static int describe(const cawb_cudart *rt, void *out, int device, void (*fill)(const cawb_cudart *, void *)) {
  int error = is_first(rt, device);
  if (error == CAWB_CUDA_OK) fill(rt, out);
  return error;
}
CUDART_CALL(cudaGetDeviceProperties, describe(rt, out, device, cawb_properties_13), void *out, int device)
CUDART_CALL(cudaGetDeviceProperties_v2, describe(rt, out, device, cawb_properties_12), void *out, int device)

static int attribute(const cawb_cudart *rt, int *out, int which, int device) {
  int error = is_first(rt, device);
  if (error == CAWB_CUDA_OK) *out = cawb_properties_attribute(rt, which);
  return error;
}
CUDART_CALL(cudaDeviceGetAttribute, attribute(rt, out, which, device), int *out, int which, int device)

static int bus_id(const cawb_cudart *rt, char *out, int room, int device) {
  snprintf(out, (size_t)(room > 0 ? room : 0), "0000:00:00.0");
  return is_first(rt, device);
}
CUDART_CALL(cudaDeviceGetPCIBusId, bus_id(rt, out, room, device), char *out, int room, int device)

/* Memory stays as it is: most programs call it last. */
static int reset(cawb_cudart *rt) {
  cawb_streams_wait(rt, NULL);
  return cawb_cudart_ready(rt);
}
CUDART_CALL(cudaDeviceReset, reset(rt), void)

/* ------------------------------------------------------- what changes nothing here */

CUDART_CALL(cudaDeviceSetCacheConfig, ((void)config, cawb_cudart_ready(rt)), int config)
CUDART_CALL(cudaDeviceSetSharedMemConfig, ((void)config, cawb_cudart_ready(rt)), int config)
CUDART_CALL(cudaDeviceSetLimit, ((void)limit, (void)value, cawb_cudart_ready(rt)), int limit, size_t value)
CUDART_CALL(cudaProfilerStart, cawb_cudart_ready(rt), void)
CUDART_CALL(cudaProfilerStop, cawb_cudart_ready(rt), void)
CUDART_CALL(cudaCtxResetPersistingL2Cache, cawb_cudart_ready(rt), void)
CUDART_CALL(cudaDeviceCanAccessPeer, ((void)a, (void)b, *out = 0, cawb_cudart_ready(rt)), int *out, int a, int b)

static int set_pool(void **out, void *pool) {
  *out = pool;
  return CAWB_CUDA_OK;
}
static char pool;                              /* there is one, and nothing can be said about it */
CUDART_CALL(cudaDeviceGetDefaultMemPool, ((void)device, set_pool(out, &pool)), void **out, int device)
CUDART_CALL(cudaDeviceGetMemPool, ((void)device, set_pool(out, &pool)), void **out, int device)
CUDART_CALL(cudaMemPoolSetAttribute, ((void)p, (void)what, (void)value, cawb_cudart_ready(rt)), void *p, int what, void *value)

/* ---------------------------------------------------------------------- versions */

/* The library is built for each version of the interface that programs are compiled against. */
#ifndef CAWB_CUDART_VERSION
#define CAWB_CUDART_VERSION 13
#endif
enum { VERSION = CAWB_CUDART_VERSION * 1000 };
static int version(int *out) {
  *out = VERSION;
  return CAWB_CUDA_OK;
}
CUDART_CALL(cudaDriverGetVersion, version(out), int *out)
CUDART_CALL(cudaRuntimeGetVersion, version(out), int *out)
