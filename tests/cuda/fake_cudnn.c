/* fake_cudnn.c - a libcudnn.so without a GPU behind it; see fake_libraries.h. */
#include "fake_libraries.h"

#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

fake_cudnn fake_cudnn_state;
#define F fake_cudnn_state

typedef struct desc { int type, format, n, dims[5], strides[5], mode; } desc;
typedef struct perf { int algo, status; float time; size_t memory; int determinism, math, reserved[3]; } perf;

static int make(void *out) { F.live++; *(void **)out = calloc(1, sizeof(desc)); return 0; }
static int unmake(void *p) { F.live--; free(p); return 0; }

int cudnnCreate(void **h) { return make(h); }
int cudnnDestroy(void *h) { return unmake(h); }
int cudnnSetStream(void *h, void *s) { F.stream = s; return 0; }
size_t cudnnGetVersion(void) { return 91002; }
const char *cudnnGetErrorString(int s) { return s == 3000 ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_OTHER"; }
int cudnnCreateTensorDescriptor(void **d) { return make(d); }
int cudnnDestroyTensorDescriptor(void *d) { return unmake(d); }
int cudnnSetTensorNdDescriptor(desc *d, int type, int n, const int *dims, const int *strides) {
  d->type = type;
  d->n = n;
  memcpy(d->dims, dims, (size_t)n * sizeof *dims);
  memcpy(d->strides, strides, (size_t)n * sizeof *strides);
  return 0;
}
int cudnnCreateFilterDescriptor(void **d) { return make(d); }
int cudnnDestroyFilterDescriptor(void *d) { return unmake(d); }
int cudnnSetFilterNdDescriptor(desc *d, int type, int format, int n, const int *dims) {
  d->format = format;
  return cudnnSetTensorNdDescriptor(d, type, n, dims, dims);
}
int cudnnCreateConvolutionDescriptor(void **d) { return make(d); }
int cudnnDestroyConvolutionDescriptor(void *d) { return unmake(d); }
int cudnnSetConvolutionNdDescriptor(desc *d, int n, const int *pad, const int *stride, const int *dilation,
                                    int mode, int type) {
  memcpy(F.pad, pad, (size_t)n * sizeof *pad);
  memcpy(F.stride, stride, (size_t)n * sizeof *stride);
  memcpy(F.dilation, dilation, (size_t)n * sizeof *dilation);
  return mode == 1 && type == 0 ? 0 : 2000;
}
int cudnnSetConvolutionGroupCount(void *d, int groups) { F.groups = groups; return 0; }
int cudnnSetConvolutionMathType(void *d, int math) { F.math = math; return 0; }
int cudnnCreateActivationDescriptor(void **d) { return make(d); }
int cudnnDestroyActivationDescriptor(void *d) { return unmake(d); }
int cudnnSetActivationDescriptor(desc *d, int mode, int nan, double coefficient) { d->mode = mode; return 0; }

/* The best one adds in no fixed order and the next needs no tensor cores; 1 fuses a bias. */
static int list(int wanted, int *got, perf *out) {
  static const perf all[] = {
    { .algo = 6, .determinism = 0, .math = 3 }, { .algo = 5, .determinism = 1, .math = 3 },
    { .algo = 1, .determinism = 1, .math = 0 }, { .algo = 0, .determinism = 1, .math = 1 }
  };
  F.asked++;
  for (*got = 0; *got < 4 && *got < wanted; ++*got) {
    out[*got] = all[*got];
    out[*got].memory = F.least;
  }
  return 0;
}
int cudnnGetConvolutionForwardAlgorithm_v7(void *h, desc *x, desc *w, void *c, desc *y, int wanted, int *got,
                                           perf *out) {
  return list(wanted, got, out);
}
int cudnnGetConvolutionBackwardDataAlgorithm_v7(void *h, desc *w, desc *dy, void *c, desc *dx, int wanted,
                                                int *got, perf *out) {
  return list(wanted, got, out);
}

static int note(const desc *x, const desc *w, const desc *y, int algo, float *out) {
  if (F.refused > 0) return F.refused--, 3000;
  memcpy(F.x, x->dims, sizeof F.x);
  memcpy(F.w, w->dims, sizeof F.w);
  memcpy(F.y, y->dims, sizeof F.y);
  memcpy(F.strides, x->strides, sizeof F.strides);
  F.type = x->type;
  F.format = w->format;
  F.algorithm = algo;
  *out = 1;
  return 0;
}
int cudnnConvolutionForward(void *h, const float *alpha, desc *dx, const void *x, desc *dw, const void *w,
                            void *c, int algo, void *ws, size_t n, const float *beta, desc *dy, float *y) {
  F.forward++;
  return *alpha == 1 && *beta == 0 ? note(dx, dw, dy, algo, y) : 2000;
}
int cudnnConvolutionBiasActivationForward(void *h, const float *alpha, desc *dx, const void *x, desc *dw,
                                          const void *w, void *c, int algo, void *ws, size_t n,
                                          const float *alpha2, desc *dz, const void *z, desc *db,
                                          const void *bias, desc *act, desc *dy, float *y) {
  F.fused++;
  F.activation = act->mode;
  if (db->dims[1] != dy->dims[1] || *alpha2 != 0) return 2000;
  return act->mode == 5 && algo != 1 ? 3000 : note(dx, dw, dy, algo, y);
}
int cudnnConvolutionBackwardData(void *h, const float *alpha, desc *dw, const void *w, desc *ddy, const void *dy,
                                 void *c, int algo, void *ws, size_t n, const float *beta, desc *ddx, float *dx) {
  F.backward++;
  return note(ddy, dw, ddx, algo, dx);
}
int cudnnAddTensor(void *h, const float *alpha, desc *da, const float *a, const float *beta, desc *dc, float *c) {
  F.added++;
  *c += *a;
  return *beta == 1 ? 0 : 2000;
}
int cudnnActivationForward(void *h, desc *act, const void *alpha, desc *dx, const float *x, const float *beta,
                           desc *dy, float *y) {
  F.activated++;
  F.activation = act->mode;
  return 0;
}
