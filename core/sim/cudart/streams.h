/*
** streams.h - streams and events in modelled time. Work is done when it is asked for, in the order of the calls,
** which is one of the orders that streams allow; when it would have been done is computed: behind the work before it
** in its stream, behind what its stream waits for, and when the engine that it takes is free. Kernels share one engine,
** copies have one for each direction. The host's own work takes no time.
*/
#ifndef CAWB_CUDART_STREAMS_H
#define CAWB_CUDART_STREAMS_H

#include "sim/cudart/cudart.h"

typedef struct cawb_cuda_stream {
  double ready;                    /* when all that was asked for is done */
  int blocking;                    /* it and the default stream wait for each other */
  int launched;                    /* the last that it was given, and nobody has waited for, is a launch */
  int standard;                    /* it is the default stream, which is never destroyed */
  struct cawb_cuda_stream *next;
} cawb_cuda_stream;

typedef struct cawb_cuda_event {
  double at;
  int recorded;
} cawb_cuda_event;

/* A program's handle: NULL, 1 and 2 are the default stream. NULL: there is no such stream. */
cawb_cuda_stream *cawb_streams_find(cawb_cudart *rt, void *handle);
cawb_cuda_stream *cawb_streams_new(cawb_cudart *rt, int blocking);
void cawb_streams_drop(cawb_cudart *rt, cawb_cuda_stream *s);
void cawb_streams_free(cawb_cudart *rt);

/* Work of so many seconds; returns when it is done. */
double cawb_streams_work(cawb_cudart *rt, cawb_cuda_stream *s, int engine, double seconds);

void   cawb_streams_wait(cawb_cudart *rt, cawb_cuda_stream *s);      /* the host, for a stream; NULL: for all */
double cawb_streams_now(const cawb_cudart *rt, const cawb_cuda_stream *s);        /* what an event there would say */
double cawb_streams_link(const cawb_cudart *rt, size_t size);              /* seconds of a copy over the link */

#endif
