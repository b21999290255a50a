/*
** cudnn.c - see cudnn.h. Types, functions and numbers are those of cuDNN's manual (8 and 9),
** of the older of its two interfaces: the graph interface says the same in many more words.
**
** A transposed convolution is what the library calls the gradient of a convolution's input:
** its x is that gradient's "dy", its y is "dx".
*/
#include "cuda/cudnn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/vendor.h"

enum { SUCCESS = 0, NOT_SUPPORTED = 3000 };                        /* cudnnStatus_t */
enum { DATA_FLOAT = 0, DATA_HALF = 2, DATA_BFLOAT16 = 9 };         /* cudnnDataType_t */
enum { FORMAT_NCHW = 0, FORMAT_NHWC = 1 };                         /* cudnnTensorFormat_t */
enum { MATH_DEFAULT = 0, MATH_TENSOR_OP = 1, MATH_FMA = 3 };       /* cudnnMathType_t */
enum { CROSS_CORRELATION = 1, PROPAGATE_NAN = 1, DETERMINISTIC = 1 };
enum { ACTIVATION_RELU = 1, ACTIVATION_IDENTITY = 5 };             /* cudnnActivationMode_t */
enum { PRECOMP_GEMM = 1 };     /* cudnnConvolutionFwdAlgo_t: the one that adds a bias alone */

#define ALGORITHMS 8           /* at most, of either direction */

typedef struct perf {          /* of both directions */
  int algo, status;
  float time;
  size_t memory;
  int determinism, math;
  int reserved[3];
} perf;

typedef struct table {
  int (*create)(void **);
  int (*destroy)(void *);
  int (*set_stream)(void *, void *);
  size_t (*version)(void);
  const char *(*error)(int);
  int (*tensor_create)(void **);
  int (*tensor_destroy)(void *);
  int (*tensor_set)(void *, int type, int n, const int *dims, const int *strides);
  int (*filter_create)(void **);
  int (*filter_destroy)(void *);
  int (*filter_set)(void *, int type, int format, int n, const int *dims);
  int (*conv_create)(void **);
  int (*conv_destroy)(void *);
  int (*conv_set)(void *, int n, const int *pad, const int *stride, const int *dilation, int mode,
                  int type);
  int (*conv_groups)(void *, int);
  int (*conv_math)(void *, int);
  int (*act_create)(void **);
  int (*act_destroy)(void *);
  int (*act_set)(void *, int mode, int nan, double);
  int (*choose_forward)(void *, void *x, void *w, void *conv, void *y, int wanted, int *got, perf *);
  int (*choose_backward)(void *, void *w, void *dy, void *conv, void *dx, int wanted, int *got, perf *);
  int (*forward)(void *, const void *alpha, void *dx, const void *x, void *dw, const void *w,
                 void *conv, int algo, void *workspace, size_t, const void *beta, void *dy, void *y);
  int (*fused)(void *, const void *alpha, void *dx, const void *x, void *dw, const void *w,
               void *conv, int algo, void *workspace, size_t, const void *alpha2, void *dz,
               const void *z, void *db, const void *bias, void *act, void *dy, void *y);
  int (*backward)(void *, const void *alpha, void *dw, const void *w, void *ddy, const void *dy,
                  void *conv, int algo, void *workspace, size_t, const void *beta, void *ddx,
                  void *dx);
  int (*add)(void *, const void *alpha, void *da, const void *a, const void *beta, void *dc, void *c);
  int (*activate)(void *, void *act, const void *alpha, void *dx, const void *x, const void *beta,
                  void *dy, void *y);
} table;

#define S(member, name) { "cudnn" name, offsetof(table, member) }
static const cawb_vendor_symbol symbols[] = {
  S(create, "Create"), S(destroy, "Destroy"), S(set_stream, "SetStream"),
  S(version, "GetVersion"), S(error, "GetErrorString"),
  S(tensor_create, "CreateTensorDescriptor"), S(tensor_destroy, "DestroyTensorDescriptor"),
  S(tensor_set, "SetTensorNdDescriptor"), S(filter_create, "CreateFilterDescriptor"),
  S(filter_destroy, "DestroyFilterDescriptor"), S(filter_set, "SetFilterNdDescriptor"),
  S(conv_create, "CreateConvolutionDescriptor"), S(conv_destroy, "DestroyConvolutionDescriptor"),
  S(conv_set, "SetConvolutionNdDescriptor"), S(conv_groups, "SetConvolutionGroupCount"),
  S(conv_math, "SetConvolutionMathType"), S(act_create, "CreateActivationDescriptor"),
  S(act_destroy, "DestroyActivationDescriptor"), S(act_set, "SetActivationDescriptor"),
  S(choose_forward, "GetConvolutionForwardAlgorithm_v7"),
  S(choose_backward, "GetConvolutionBackwardDataAlgorithm_v7"),
  S(forward, "ConvolutionForward"), S(fused, "ConvolutionBiasActivationForward"),
  S(backward, "ConvolutionBackwardData"), S(add, "AddTensor"), S(activate, "ActivationForward")
};
#undef S

struct cawb_cudnn {
  cawb_vendor vendor;
  table f;
  void *handle;
};

typedef struct way { int algo, math, fused; size_t memory; } way;

struct cawb_convolution {
  cawb_cudnn *library;
  cawb_conv conv;
  void *x, *w, *y, *bias, *desc, *act;
  way list[2 * ALGORITHMS];
  int count, at;
};

/* ---- the library ---- */

cawb_status cawb_cudnn_open(cawb_cudnn **out, const cawb_places *places, void *stream,
                            cawb_err *err) {
  *out = NULL;
  cawb_cudnn *l = calloc(1, sizeof *l);
  if (l == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for cuDNN");
  cawb_status s = cawb_vendor_open(&l->vendor, "libcudnn.so", places, &l->f, symbols,
                                   sizeof symbols / sizeof *symbols, err);
  int r = s == CAWB_OK ? l->f.create(&l->handle) : SUCCESS;
  if (s == CAWB_OK && r == SUCCESS) r = l->f.set_stream(l->handle, stream);
  if (r != SUCCESS)
    s = cawb_fail(err, CAWB_ERR_UNSUPPORTED, "cuDNN does not start: %s (%s)", l->f.error(r),
                  l->vendor.found.path);
  if (s == CAWB_OK) *out = l;
  else cawb_cudnn_close(l);
  return s;
}

void cawb_cudnn_close(cawb_cudnn *l) {
  if (l == NULL) return;
  if (l->handle != NULL) l->f.destroy(l->handle);
  cawb_vendor_close(&l->vendor);
  free(l);
}

/* ---- descriptions ---- */

static int type_of(const cawb_conv *v) {
  return v->dtype == CAWB_FLOAT16 ? DATA_HALF : v->dtype == CAWB_BFLOAT16 ? DATA_BFLOAT16 : DATA_FLOAT;
}

/* Strict float32 leaves the tensor cores alone. */
static int math_of(const cawb_conv *v) {
  if (v->dtype != CAWB_FLOAT32) return MATH_TENSOR_OP;
  return v->compute == CAWB_COMPUTE_TF32 ? MATH_DEFAULT : MATH_FMA;
}

static void to_ints(int *out, const int64_t *list, int n) {
  for (int i = 0; i < n; i++) out[i] = list[i] > INT32_MAX ? 0 : (int)list[i];   /* 0 is refused */
}

static int make_tensor(const cawb_convolution *c, void **out, const cawb_conv_tensor *t) {
  int dims[CAWB_CONV_RANK], strides[CAWB_CONV_RANK], n = c->conv.space + 2;
  to_ints(dims, t->shape, n);
  to_ints(strides, t->strides, n);
  int r = c->library->f.tensor_create(out);
  return r == SUCCESS ? c->library->f.tensor_set(*out, type_of(&c->conv), n, dims, strides) : r;
}

static int64_t space_of(const cawb_conv_tensor *t, int space) {
  int64_t all = 1;
  for (int i = 0; i < space; i++) all *= t->shape[i + 2];
  return all;
}

static int channels_last(const cawb_conv_tensor *t, int space) {
  return t->strides[1] == 1 && space_of(t, space) > 1;
}

/* Weights of a single point lie alike in both orders: then as x does. */
static int make_filter(cawb_convolution *c) {
  const cawb_conv *v = &c->conv;
  int dims[CAWB_CONV_RANK];
  int last = channels_last(space_of(&v->w, v->space) > 1 ? &v->w : &v->x, v->space);
  to_ints(dims, v->w.shape, v->space + 2);
  int r = c->library->f.filter_create(&c->w);
  return r == SUCCESS ? c->library->f.filter_set(c->w, type_of(v), last ? FORMAT_NHWC : FORMAT_NCHW,
                                                 v->space + 2, dims) : r;
}

static int make_desc(cawb_convolution *c) {
  const cawb_conv *v = &c->conv;
  const table *f = &c->library->f;
  int pad[3], stride[3], dilation[3];
  to_ints(pad, v->padding, v->space);
  to_ints(stride, v->stride, v->space);
  to_ints(dilation, v->dilation, v->space);
  int r = f->conv_create(&c->desc);
  if (r == SUCCESS)
    r = f->conv_set(c->desc, v->space, pad, stride, dilation, CROSS_CORRELATION, DATA_FLOAT);
  if (r == SUCCESS) r = f->conv_groups(c->desc, (int)v->groups);
  return r == SUCCESS ? f->conv_math(c->desc, math_of(v)) : r;
}

static int make_epilogue(cawb_convolution *c) {
  const cawb_conv *v = &c->conv;
  cawb_conv_tensor bias = { .shape = { 1, v->y.shape[1], 1, 1, 1 },
                            .strides = { v->y.shape[1], 1, 1, 1, 1 } };
  int mode = v->epilogue & CAWB_EPILOGUE_RELU ? ACTIVATION_RELU : ACTIVATION_IDENTITY;
  int r = make_tensor(c, &c->bias, &bias);
  if (r == SUCCESS) r = c->library->f.act_create(&c->act);
  return r == SUCCESS ? c->library->f.act_set(c->act, mode, PROPAGATE_NAN, 0) : r;
}

static int describe(cawb_convolution *c) {
  int r = make_tensor(c, &c->x, &c->conv.x);
  if (r == SUCCESS) r = make_tensor(c, &c->y, &c->conv.y);
  if (r == SUCCESS) r = make_filter(c);
  if (r == SUCCESS) r = make_desc(c);
  return r == SUCCESS ? make_epilogue(c) : r;
}

/* ---- algorithms ---- */

static int is_strict(const cawb_conv *v) {
  return v->dtype == CAWB_FLOAT32 && v->compute == CAWB_COMPUTE_FLOAT32;
}

static void add_way(cawb_convolution *c, const perf *p, int fused) {
  int math = is_strict(&c->conv) ? MATH_FMA : p->math;
  c->list[c->count++] = (way){ .algo = p->algo, .math = math, .fused = fused, .memory = p->memory };
}

/* The library fuses a bias, with or without ReLU, into a forward convolution. */
static int can_fuse(const cawb_conv *v, int algo) {
  if (v->transposed || (v->epilogue & CAWB_EPILOGUE_BIAS) == 0) return 0;
  return (v->epilogue & CAWB_EPILOGUE_RELU) != 0 || algo == PRECOMP_GEMM;
}

/* Those that fit, the best first; ones that add in a different order each time last. */
static void list_ways(cawb_convolution *c, const perf *all, int n) {
  for (int wanted = DETERMINISTIC; wanted >= 0; wanted--)
    for (int i = 0; i < n; i++) {
      const perf *p = &all[i];
      int other = is_strict(&c->conv) && p->math != MATH_FMA && p->math != MATH_DEFAULT;
      if (p->status != SUCCESS || p->memory > c->conv.workspace || p->determinism != wanted || other)
        continue;
      if (can_fuse(&c->conv, p->algo)) add_way(c, p, 1);
      add_way(c, p, (c->conv.epilogue == 0));
    }
}

static int ask(cawb_convolution *c, perf all[ALGORITHMS], int *n) {
  const table *f = &c->library->f;
  void *h = c->library->handle;
  memset(all, 0, ALGORITHMS * sizeof *all);
  *n = 0;
  int r = c->conv.transposed
    ? f->choose_backward(h, c->w, c->x, c->desc, c->y, ALGORITHMS, n, all)
    : f->choose_forward(h, c->x, c->w, c->desc, c->y, ALGORITHMS, n, all);
  if (r == SUCCESS) list_ways(c, all, *n);
  return r == SUCCESS && c->count == 0 ? NOT_SUPPORTED : r;
}

static cawb_status refuse(const cawb_convolution *c, const perf *all, int n, int r, cawb_err *err) {
  size_t least = SIZE_MAX;
  for (int i = 0; i < n; i++)
    if (all[i].status == SUCCESS && all[i].memory < least) least = all[i].memory;
  if (least != SIZE_MAX && least > c->conv.workspace)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "conv: no algorithm of cuDNN needs as little as "
                     "workspace = %zu; give it %zu bytes", c->conv.workspace, least);
  return cawb_fail(err, CAWB_ERR_CANDIDATE, "conv: cuDNN cannot compute this convolution of %s with "
                   "compute '%s' (%s): change type or layout, or write a kernel",
                   cawb_dtype_name(c->conv.dtype), cawb_compute_name(c->conv.compute),
                   c->library->f.error(r));
}

cawb_status cawb_convolution_new(cawb_convolution **out, cawb_cudnn *l, const cawb_conv *v,
                                 cawb_err *err) {
  perf all[ALGORITHMS];
  int n = 0;
  *out = NULL;
  cawb_convolution *c = calloc(1, sizeof *c);
  if (c == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a convolution");
  c->library = l;
  c->conv = *v;
  int r = describe(c);
  if (r == SUCCESS) r = ask(c, all, &n);
  if (r == SUCCESS) {
    *out = c;
    return CAWB_OK;
  }
  cawb_status s = refuse(c, all, n, r, err);
  cawb_convolution_free(c);
  return s;
}

void cawb_convolution_free(cawb_convolution *c) {
  if (c == NULL) return;
  const table *f = &c->library->f;
  if (c->act != NULL) f->act_destroy(c->act);
  if (c->bias != NULL) f->tensor_destroy(c->bias);
  if (c->desc != NULL) f->conv_destroy(c->desc);
  if (c->w != NULL) f->filter_destroy(c->w);
  if (c->y != NULL) f->tensor_destroy(c->y);
  if (c->x != NULL) f->tensor_destroy(c->x);
  free(c);
}

void cawb_convolution_choice(const cawb_convolution *c, cawb_choice *out) {
  size_t v = c->library->f.version();     /* 90100 is 9.1.0; before 9, 8907 is 8.9.7 */
  size_t major = v < 10000 ? v / 1000 : v / 10000, rest = v < 10000 ? v % 1000 : v % 10000;
  const way *w = &c->list[c->at];
  out->algorithm = w->algo;
  out->workspace = w->memory;
  out->fused = w->fused;
  snprintf(out->library, sizeof out->library, "cuDNN %zu.%zu.%zu", major, rest / 100, rest % 100);
}

int cawb_convolution_next(cawb_convolution *c) {
  if (c->at + 1 >= c->count) return 0;
  c->at++;
  return 1;
}

/* ---- execution ---- */

static const float one = 1, zero = 0;

static void *pointer(cawb_addr a) { return (void *)(uintptr_t)a; }

static int convolve(const cawb_convolution *c, const way *w, const cawb_addr *at) {
  const table *f = &c->library->f;
  void *h = c->library->handle, *space = pointer(at[CAWB_OPERAND_WORKSPACE]);
  void *x = pointer(at[CAWB_OPERAND_X]), *y = pointer(at[CAWB_OPERAND_Y]);
  void *weight = pointer(at[CAWB_OPERAND_W]), *bias = pointer(at[CAWB_OPERAND_BIAS]);
  if (c->conv.transposed)
    return f->backward(h, &one, c->w, weight, c->x, x, c->desc, w->algo, space, w->memory, &zero,
                       c->y, y);
  if (w->fused && c->conv.epilogue != 0)
    return f->fused(h, &one, c->x, x, c->w, weight, c->desc, w->algo, space, w->memory, &zero, c->y,
                    y, c->bias, bias, c->act, c->y, y);
  return f->forward(h, &one, c->x, x, c->w, weight, c->desc, w->algo, space, w->memory, &zero, c->y,
                    y);
}

/* What is not fused, in place. */
static int finish(const cawb_convolution *c, const cawb_addr *at) {
  const table *f = &c->library->f;
  void *h = c->library->handle, *y = pointer(at[CAWB_OPERAND_Y]);
  int r = SUCCESS;
  if (c->conv.epilogue & CAWB_EPILOGUE_BIAS)
    r = f->add(h, &one, c->bias, pointer(at[CAWB_OPERAND_BIAS]), &one, c->y, y);
  if (r == SUCCESS && c->conv.epilogue & CAWB_EPILOGUE_RELU)
    r = f->activate(h, c->act, &one, c->y, y, &zero, c->y, y);
  return r;
}

int cawb_convolution_enqueue(cawb_convolution *c, const cawb_addr operand[CAWB_OPERANDS]) {
  const way *w = &c->list[c->at];
  int r = c->library->f.conv_math(c->desc, w->math);
  if (r == SUCCESS) r = convolve(c, w, operand);
  return r == SUCCESS && !w->fused ? finish(c, operand) : r;
}

const char *cawb_convolution_explain(const cawb_convolution *c, int status) {
  return c->library->f.error(status);
}
