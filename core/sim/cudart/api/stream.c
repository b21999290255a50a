/* stream.c - streams, events, and waiting. */
#include "sim/cudart/streams.h"

#include <stdlib.h>

enum { NON_BLOCKING = 1 };

static int stream_new(cawb_cudart *rt, void **out, unsigned flags) {
  int error = cawb_cudart_ready(rt);
  cawb_cuda_stream *s = error == CAWB_CUDA_OK ? cawb_streams_new(rt, !(flags & NON_BLOCKING)) : NULL;
  if (s == NULL) return error != CAWB_CUDA_OK ? error : CAWB_CUDA_MEMORY;
  *out = s;
  return CAWB_CUDA_OK;
}
CUDART_CALL(cudaStreamCreate, stream_new(rt, out, 0), void **out)
CUDART_CALL(cudaStreamCreateWithFlags, stream_new(rt, out, flags), void **out, unsigned flags)
CUDART_CALL(cudaStreamCreateWithPriority, ((void)priority, stream_new(rt, out, flags)), void **out, unsigned flags, int priority)

static int stream_drop(cawb_cudart *rt, void *handle) {
  cawb_cuda_stream *s = handle != NULL ? cawb_streams_find(rt, handle) : NULL;
  if (s == NULL || s->standard) return CAWB_CUDA_HANDLE;
  cawb_streams_drop(rt, s);
  return cawb_cudart_ready(rt);
}
CUDART_CALL(cudaStreamDestroy, stream_drop(rt, stream), void *stream)

static int stream_wait(cawb_cudart *rt, void *handle) {
  cawb_cuda_stream *s = cawb_streams_find(rt, handle);
  if (s == NULL) return CAWB_CUDA_HANDLE;
  cawb_streams_wait(rt, s);
  return cawb_cudart_ready(rt);
}
CUDART_CALL(cudaStreamSynchronize, stream_wait(rt, stream), void *stream)

/* Modelled time passes for the host only where it waits: a program that asks again and again has to get on. */
CUDART_CALL(cudaStreamQuery, stream_wait(rt, stream), void *stream)

static int device_wait(cawb_cudart *rt) {
  cawb_streams_wait(rt, NULL);
  return cawb_cudart_ready(rt);
}
CUDART_CALL(cudaDeviceSynchronize, device_wait(rt), void)
CUDART_CALL(cudaThreadSynchronize, device_wait(rt), void)

/* ----------------------------------------------------------------------- events */

static int event_new(cawb_cudart *rt, void **out) {
  int error = cawb_cudart_ready(rt);
  if (error != CAWB_CUDA_OK) return error;
  *out = calloc(1, sizeof(cawb_cuda_event));
  return *out != NULL ? CAWB_CUDA_OK : CAWB_CUDA_MEMORY;
}
CUDART_CALL(cudaEventCreate, event_new(rt, out), void **out)
CUDART_CALL(cudaEventCreateWithFlags, ((void)flags, event_new(rt, out)), void **out, unsigned flags)
CUDART_CALL(cudaEventDestroy, (free(event), cawb_cudart_ready(rt)), void *event)

static int record(cawb_cudart *rt, cawb_cuda_event *e, void *handle) {
  const cawb_cuda_stream *s = cawb_streams_find(rt, handle);
  if (s == NULL || e == NULL) return CAWB_CUDA_HANDLE;
  *e = (cawb_cuda_event){ cawb_streams_now(rt, s), 1 };
  return cawb_cudart_ready(rt);
}
CUDART_CALL(cudaEventRecord, record(rt, event, stream), cawb_cuda_event *event, void *stream)
CUDART_CALL(cudaEventRecordWithFlags, ((void)flags, record(rt, event, stream)), cawb_cuda_event *event, void *stream,
            unsigned flags)

static int event_wait(cawb_cudart *rt, const cawb_cuda_event *e) {
  if (e == NULL) return CAWB_CUDA_HANDLE;
  if (e->recorded && e->at > rt->host) rt->host = e->at;
  return cawb_cudart_ready(rt);
}
CUDART_CALL(cudaEventSynchronize, event_wait(rt, event), const cawb_cuda_event *event)
CUDART_CALL(cudaEventQuery, event_wait(rt, event), const cawb_cuda_event *event)

static int stream_wait_event(cawb_cudart *rt, void *handle, const cawb_cuda_event *e) {
  cawb_cuda_stream *s = cawb_streams_find(rt, handle);
  if (s == NULL || e == NULL) return CAWB_CUDA_HANDLE;
  if (e->recorded && e->at > s->ready) s->ready = e->at;
  return cawb_cudart_ready(rt);
}
CUDART_CALL(cudaStreamWaitEvent, ((void)flags, stream_wait_event(rt, stream, event)),
            void *stream, const cawb_cuda_event *event, unsigned flags)

static int elapsed(cawb_cudart *rt, float *ms, const cawb_cuda_event *a, const cawb_cuda_event *b) {
  if (a == NULL || b == NULL || !a->recorded || !b->recorded) return CAWB_CUDA_HANDLE;
  *ms = (float)((b->at - a->at) * 1e3);
  return cawb_cudart_ready(rt);
}
CUDART_CALL(cudaEventElapsedTime, elapsed(rt, ms, a, b), float *ms, const cawb_cuda_event *a, const cawb_cuda_event *b)
CUDART_CALL(cudaEventElapsedTime_v2, elapsed(rt, ms, a, b), float *ms, const cawb_cuda_event *a, const cawb_cuda_event *b)

/* ---------------------------------------------------------------- host functions */

/* All that the stream was given before is done already. */
CUDART_CALL(cudaLaunchHostFunc, ((void)stream, f(data), cawb_cudart_ready(rt)), void *stream, void (*f)(void *), void *data)
CUDART_CALL(cudaStreamAddCallback, ((void)flags, f(stream, CAWB_CUDA_OK, data), cawb_cudart_ready(rt)),
            void *stream, void (*f)(void *, int, void *), void *data, unsigned flags)

static int priorities(int *least, int *greatest) {
  if (least != NULL) *least = 0;
  if (greatest != NULL) *greatest = 0;         /* there is one */
  return CAWB_CUDA_OK;
}
CUDART_CALL(cudaDeviceGetStreamPriorityRange, priorities(least, greatest), int *least, int *greatest)

/* There are no graphs, so no stream is being captured. */
static int not_capturing(int *status) {
  *status = 0;
  return CAWB_CUDA_OK;
}
CUDART_CALL(cudaStreamIsCapturing, ((void)stream, not_capturing(status)), void *stream, int *status)
