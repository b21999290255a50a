/*
** library.c - library calls on a GPU. A library is opened at its first use and
** closed with the device. What a call needs, its descriptors and algorithm, is made once
** and found again by the call's description.
*/
#include <stdlib.h>
#include <string.h>

#include "cuda/cublaslt.h"
#include "cuda/cudnn.h"
#include "cuda/device.h"

#define MOST_CALLS 256u        /* kept from one plan to the next */

typedef struct call {
  struct call *next;
  cawb_step_kind kind;
  cawb_gemm gemm;              /* one of the two descriptions */
  cawb_conv conv;
  cawb_product *product;       /* and what was made of it */
  cawb_convolution *convolution;
} call;

struct cawb_cuda_libraries {
  cawb_cublaslt *cublaslt;
  cawb_cudnn *cudnn;
  call *calls;
  unsigned count;
};

/* ---- calls ---- */

static void free_call(call *k) {
  cawb_product_free(k->product);
  cawb_convolution_free(k->convolution);
  free(k);
}

static void forget_calls(cawb_cuda_libraries *l) {
  while (l->calls != NULL) {
    call *k = l->calls;
    l->calls = k->next;
    free_call(k);
  }
  l->count = 0;
}

/* Padding that differs costs a second search, no more. */
static int same(const call *k, const cawb_step *s) {
  if (k->kind != s->kind) return 0;
  return s->kind == CAWB_STEP_GEMM ? memcmp(&k->gemm, s->gemm, sizeof k->gemm) == 0     /* NOLINT */
                                   : memcmp(&k->conv, s->conv, sizeof k->conv) == 0;    /* NOLINT */
}

static call *find_call(const cawb_cuda_libraries *l, const cawb_step *s) {
  for (call *k = l != NULL ? l->calls : NULL; k != NULL; k = k->next)
    if (same(k, s)) return k;
  return NULL;
}

/* The libraries that the call needs, opened. */
static cawb_status open_libraries(cawb_cuda *c, cawb_step_kind kind, const char *site_packages,
                                  cawb_err *err) {
  cawb_places places;
  if (c->libraries == NULL) c->libraries = calloc(1, sizeof *c->libraries);
  cawb_cuda_libraries *l = c->libraries;
  if (l == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for libraries");
  cawb_places_default(&places, site_packages);
  if (kind == CAWB_STEP_GEMM && l->cublaslt == NULL)
    return cawb_cublaslt_open(&l->cublaslt, &places, err);
  if (kind == CAWB_STEP_CONV && l->cudnn == NULL)
    return cawb_cudnn_open(&l->cudnn, &places, c->stream, err);
  return CAWB_OK;
}

static cawb_status make_call(cawb_cuda *c, const cawb_step *s, call **out, cawb_err *err) {
  cawb_cuda_libraries *l = c->libraries;
  call *k = calloc(1, sizeof *k);
  if (k == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a library call");
  k->kind = s->kind;
  if (s->kind == CAWB_STEP_GEMM) memcpy(&k->gemm, s->gemm, sizeof k->gemm);
  else memcpy(&k->conv, s->conv, sizeof k->conv);
  cawb_status rc = s->kind == CAWB_STEP_GEMM
    ? cawb_product_new(&k->product, l->cublaslt, &k->gemm, err)
    : cawb_convolution_new(&k->convolution, l->cudnn, &k->conv, err);
  if (rc != CAWB_OK) {
    free(k);
    return rc;
  }
  k->next = l->calls;
  l->calls = *out = k;
  l->count++;
  return CAWB_OK;
}

static cawb_status ready_call(cawb_cuda *c, const cawb_step *s, const char *site_packages,
                              call **out, int *made, cawb_err *err) {
  *out = find_call(c->libraries, s);
  *made = *out == NULL;
  if (!*made) return CAWB_OK;
  cawb_status rc = open_libraries(c, s->kind, site_packages, err);
  return rc == CAWB_OK ? make_call(c, s, out, err) : rc;
}

static int enqueue(cawb_cuda *c, const call *k, const cawb_step *s) {
  return k->kind == CAWB_STEP_GEMM ? cawb_product_enqueue(k->product, s->operand, c->stream)
                                   : cawb_convolution_enqueue(k->convolution, s->operand);
}

/* ---- bounds ---- */

static cawb_status check_bounds(const cawb_cuda *c, const cawb_step *s, cawb_err *err) {
  size_t size[CAWB_OPERANDS];
  if (s->kind == CAWB_STEP_GEMM) cawb_gemm_sizes(s->gemm, size);
  else cawb_conv_sizes(s->conv, size);
  for (int i = 0; i < CAWB_OPERANDS; i++)
    if (size[i] > 0 && !cawb_cuda_owns(c, s->operand[i], size[i]))
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: operand %d: %zu bytes at 0x%llx lie in no one "
                       "buffer of the plan", cawb_cuda_step_name(s), i + 1, size[i],
                       (unsigned long long)s->operand[i]);
  return CAWB_OK;
}

/* ---- the device's operations ---- */

cawb_status cawb_cuda_library_prepare(cawb_cuda *c, const cawb_step *s, cawb_err *err) {
  call *k;
  int made;
  cawb_status rc = check_bounds(c, s, err);
  return rc == CAWB_OK ? ready_call(c, s, NULL, &k, &made, err) : rc;
}

CUresult cawb_cuda_library_enqueue(cawb_cuda *c, const cawb_step *s) {
  const call *k = find_call(c->libraries, s);
  if (k == NULL) return CUDA_ERROR_NOT_FOUND;
  return enqueue(c, k, s) == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

static const char *explain(const call *k, int status) {
  return k->kind == CAWB_STEP_GEMM ? cawb_product_explain(k->product, status)
                                   : cawb_convolution_explain(k->convolution, status);
}

static int next_algorithm(const call *k) {
  return k->kind == CAWB_STEP_GEMM ? cawb_product_next(k->product)
                                   : cawb_convolution_next(k->convolution);
}

/* Heuristics promise what some algorithms then refuse. The first use also loads code, which
** must not happen while a plan is recorded. */
static cawb_status try_call(cawb_cuda *c, const call *k, const cawb_step *s, cawb_err *err) {
  int status = enqueue(c, k, s);
  while (status != 0 && next_algorithm(k)) status = enqueue(c, k, s);
  CUresult r = c->cu.cuStreamSynchronize(c->stream);
  if (r != CUDA_SUCCESS) return cawb_cuda_blame(c, r, cawb_cuda_step_name(s), err);
  if (status == 0) return CAWB_OK;
  return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: the library refuses it: %s", cawb_cuda_step_name(s),
                   explain(k, status));
}

static void drop_newest(cawb_cuda_libraries *l) {
  call *k = l->calls;
  l->calls = k->next;
  l->count--;
  free_call(k);
}

static cawb_status choose(cawb_cuda *c, const cawb_step *s, const char *site_packages,
                          cawb_choice *out, cawb_err *err) {
  call *k;
  int made;
  cawb_status rc = check_bounds(c, s, err);
  if (rc == CAWB_OK) rc = ready_call(c, s, site_packages, &k, &made, err);
  if (rc != CAWB_OK) return rc;
  if (made) rc = try_call(c, k, s, err);
  if (rc != CAWB_OK) drop_newest(c->libraries);
  else if (s->kind == CAWB_STEP_GEMM) cawb_product_choice(k->product, out);
  else cawb_convolution_choice(k->convolution, out);
  return rc;
}

cawb_status cawb_cuda_choose(cawb_device *d, const cawb_step *steps, size_t n,
                             const char *site_packages, cawb_choice *choices, cawb_err *err) {
  cawb_cuda *c = (cawb_cuda *)d;
  cawb_status rc = cawb_cuda_enter(c, err);
  if (c->libraries != NULL && c->libraries->count > MOST_CALLS) forget_calls(c->libraries);
  for (size_t i = 0; i < n && rc == CAWB_OK; i++)
    if (cawb_cuda_is_library(&steps[i])) rc = choose(c, &steps[i], site_packages, &choices[i], err);
  return rc;
}

void cawb_cuda_release_libraries(cawb_cuda *c) {
  cawb_cuda_libraries *l = c->libraries;
  if (l == NULL) return;
  forget_calls(l);
  cawb_cudnn_close(l->cudnn);
  cawb_cublaslt_close(l->cublaslt);
  free(l);
  c->libraries = NULL;
}
