/* streams.c - see streams.h. */
#include "sim/cudart/streams.h"

#include <stdint.h>
#include <stdlib.h>

enum { HANDLE_LEGACY = 1, HANDLE_THREAD = 2 };

static double later(double a, double b) { return a > b ? a : b; }

cawb_cuda_stream *cawb_streams_new(cawb_cudart *rt, int blocking) {
  cawb_cuda_stream *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  s->blocking = blocking;
  s->next = rt->streams;
  rt->streams = s;
  return s;
}

static cawb_cuda_stream *standard(cawb_cudart *rt) {
  for (cawb_cuda_stream *s = rt->streams; s != NULL; s = s->next)
    if (s->standard) return s;
  cawb_cuda_stream *s = cawb_streams_new(rt, 1);
  if (s != NULL) s->standard = 1;
  return s;
}

cawb_cuda_stream *cawb_streams_find(cawb_cudart *rt, void *handle) {
  if ((uintptr_t)handle <= HANDLE_THREAD) return standard(rt);
  for (cawb_cuda_stream *s = rt->streams; s != NULL; s = s->next)
    if (s == handle) return s;
  return NULL;
}

void cawb_streams_drop(cawb_cudart *rt, cawb_cuda_stream *s) {
  cawb_cuda_stream **at = &rt->streams;
  while (*at != NULL && *at != s) at = &(*at)->next;
  if (*at == NULL || s->standard) return;
  *at = s->next;
  free(s);
}

void cawb_streams_free(cawb_cudart *rt) {
  while (rt->streams != NULL) {
    cawb_cuda_stream *s = rt->streams;
    rt->streams = s->next;
    free(s);
  }
}

/* What the default stream and a blocking one must wait for beside their own work. */
static double others(const cawb_cudart *rt, const cawb_cuda_stream *s) {
  double t = 0;
  for (const cawb_cuda_stream *o = rt->streams; o != NULL && s->blocking; o = o->next)
    if (o->blocking && (s->standard || o->standard)) t = later(t, o->ready);
  return t;
}

double cawb_streams_now(const cawb_cudart *rt, const cawb_cuda_stream *s) {
  return later(later(rt->host, s->ready), others(rt, s));
}

double cawb_streams_work(cawb_cudart *rt, cawb_cuda_stream *s, int engine, double seconds) {
  double start = later(cawb_streams_now(rt, s), rt->engine[engine]);
  s->ready = rt->engine[engine] = start + seconds;
  s->launched = 0;
  return s->ready;
}

void cawb_streams_wait(cawb_cudart *rt, cawb_cuda_stream *s) {
  for (cawb_cuda_stream *o = rt->streams; o != NULL; o = o->next)
    if (s == NULL || o == s) o->launched = 0;
  if (s != NULL) rt->host = cawb_streams_now(rt, s);
  else
    for (int i = 0; i < CAWB_ENGINES; i++) rt->host = later(rt->host, rt->engine[i]);
}

/* A copy is started as a kernel is. */
double cawb_streams_link(const cawb_cudart *rt, size_t size) { return rt->figures.launch + (double)size / rt->figures.link; }
