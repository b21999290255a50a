/* fake_cublaslt.c - a libcublasLt.so without a GPU behind it; see fake_libraries.h. */
#include "fake_libraries.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

fake_cublaslt fake_cublaslt_state;
#define F fake_cublaslt_state

typedef struct desc { int compute, scale, trans_a, trans_b, epilogue, bias_type; void *bias; } desc;
typedef struct layout { int type; uint64_t rows, cols; int64_t ld; int count; int64_t batch; } layout;
typedef struct pref { uint64_t workspace; uint32_t align_a; } pref;
typedef struct found {
  uint64_t algo[8];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} found;

static void *make(size_t size) { F.live++; return calloc(1, size); }
static int unmake(void *p) { F.live--; free(p); return 0; }

int cublasLtCreate(void **h) { *h = make(1); return 0; }
int cublasLtDestroy(void *h) { return unmake(h); }
size_t cublasLtGetVersion(void) { return 130102; }
const char *cublasLtGetStatusName(int s) { return s == 15 ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_OTHER"; }
int cublasLtMatmulDescCreate(desc **d, int compute, int scale) {
  *d = make(sizeof **d);
  (*d)->compute = compute;
  (*d)->scale = scale;
  return 0;
}
int cublasLtMatmulDescDestroy(void *d) { return unmake(d); }
int cublasLtMatmulDescSetAttribute(desc *d, int what, const void *v, size_t size) {
  switch (what) {
    case 3: memcpy(&d->trans_a, v, size); return 0;
    case 4: memcpy(&d->trans_b, v, size); return 0;
    case 7: memcpy(&d->epilogue, v, size); return 0;
    case 8: memcpy(&d->bias, v, size); return 0;
    case 26: memcpy(&d->bias_type, v, size); return 0;
    default: return 7;
  }
}
int cublasLtMatrixLayoutCreate(layout **l, int type, uint64_t rows, uint64_t cols, int64_t ld) {
  if (ld < (int64_t)rows) return 7;
  *l = make(sizeof **l);
  **l = (layout){ type, rows, cols, ld, 1, 0 };
  return 0;
}
int cublasLtMatrixLayoutDestroy(void *l) { return unmake(l); }
int cublasLtMatrixLayoutSetAttribute(layout *l, int what, const void *v, size_t size) {
  if (what == 5) memcpy(&l->count, v, size);
  else if (what == 6) memcpy(&l->batch, v, size);
  else return 7;
  return 0;
}
int cublasLtMatmulPreferenceCreate(pref **p) { *p = make(sizeof **p); return 0; }
int cublasLtMatmulPreferenceDestroy(void *p) { return unmake(p); }
int cublasLtMatmulPreferenceSetAttribute(pref *p, int what, const void *v, size_t size) {
  if (what == 1) memcpy(&p->workspace, v, size);
  if (what == 5) memcpy(&p->align_a, v, size);
  return 0;
}
int cublasLtMatmulAlgoGetHeuristic(void *h, desc *d, void *a, void *b, void *c, void *dd, const pref *p,
                                   int wanted, found *out, int *got) {
  F.asked++;
  F.align_a = p->align_a;
  *got = 0;
  if (F.none || p->workspace < F.least) return 15;
  for (int i = 0; i < 3 && i < wanted; i++) {
    memset(&out[i], 0, sizeof out[i]);
    out[i].algo[0] = 60 + (uint64_t)i;
    out[i].workspace = F.least;
    (*got)++;
  }
  return 0;
}
int cublasLtMatmulAlgoConfigGetAttribute(const uint64_t *algo, int what, int *v, size_t size, size_t *n) {
  *v = (int)algo[0];
  *n = size;
  return what;
}

static float at(const float *m, const layout *l, int trans, int64_t which, uint64_t i, uint64_t j) {
  return m[which * l->batch + (int64_t)(trans ? j + i * (uint64_t)l->ld : i + j * (uint64_t)l->ld)];
}

int cublasLtMatmul(void *h, const desc *d, const float *alpha, const float *a, const layout *la,
                   const float *b, const layout *lb, const float *beta, const float *c, const layout *lc,
                   float *out, const layout *ld, const uint64_t *algo, void *workspace, size_t size,
                   void *stream) {
  uint64_t k = d->trans_a ? la->rows : la->cols;
  if (algo[0] - 60 < (uint64_t)F.refused) return 15;
  F.ran++;
  F.compute = d->compute;
  F.epilogue = d->epilogue;
  F.algorithm = (int)algo[0];
  F.workspace = size;
  F.stream = stream;
  if (la->type != 0) return 0;                       /* only floats are computed */
  for (int64_t s = 0; s < ld->count; s++)
    for (uint64_t i = 0; i < ld->rows; i++)
      for (uint64_t j = 0; j < ld->cols; j++) {
        float sum = 0, *to = &out[s * ld->batch + (int64_t)(i + j * (uint64_t)ld->ld)];
        for (uint64_t n = 0; n < k; n++) sum += at(a, la, d->trans_a, s, i, n) * at(b, lb, d->trans_b, s, n, j);
        sum = *alpha * sum + (*beta != 0 ? *beta * *to : 0);
        if (d->epilogue & 4) sum += ((const float *)d->bias)[i];
        *to = (d->epilogue & 2) && sum < 0 ? 0 : sum;
      }
  return 0;
}
