/*
** cublaslt.c - see cublaslt.h. Types, functions and numbers are those of cuBLASLt's manual
** (13.0); the library keeps them from one major version to the next.
**
** It thinks in columns: a row-major c = a b is its column-major C' = B' A', which needs no
** copies. Its "rows" are then our columns, along which it adds a bias.
*/
#include "cuda/cublaslt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/vendor.h"

enum { SUCCESS = 0, NOT_SUPPORTED = 15 };                          /* cublasStatus_t */
enum { R_32F = 0, R_16F = 2, R_16BF = 14 };                        /* cudaDataType */
enum { COMPUTE_32F = 68, FAST_16F = 74, FAST_16BF = 75, FAST_TF32 = 77 };  /* cublasComputeType_t */
enum { OP_N = 0, OP_T = 1 };                                       /* cublasOperation_t */
enum { DESC_TRANSA = 3, DESC_TRANSB = 4, DESC_EPILOGUE = 7, DESC_BIAS_POINTER = 8,
       DESC_BIAS_DATA_TYPE = 26 };
enum { LAYOUT_BATCH_COUNT = 5, LAYOUT_BATCH_OFFSET = 6 };
enum { PREF_WORKSPACE = 1, PREF_ALIGN_A = 5, PREF_ALIGN_B = 6, PREF_ALIGN_C = 7, PREF_ALIGN_D = 8 };
enum { EPILOGUE_DEFAULT = 1, EPILOGUE_RELU = 2, EPILOGUE_BIAS = 4, EPILOGUE_GELU = 32 };
enum { ALGO_ID = 0 };

#define CHOICES 8              /* algorithms asked for */
#define GENEROUS ((size_t)4 << 30)   /* a workspace in which every algorithm fits */

typedef struct algorithm { uint64_t data[8]; } algorithm;
typedef struct heuristic {
  algorithm algo;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} heuristic;

typedef struct table {
  int (*create)(void **);
  int (*destroy)(void *);
  size_t (*version)(void);
  const char *(*status)(int);
  int (*desc_create)(void **, int compute, int scale);
  int (*desc_destroy)(void *);
  int (*desc_set)(void *, int what, const void *, size_t);
  int (*layout_create)(void **, int type, uint64_t rows, uint64_t cols, int64_t ld);
  int (*layout_destroy)(void *);
  int (*layout_set)(void *, int what, const void *, size_t);
  int (*pref_create)(void **);
  int (*pref_destroy)(void *);
  int (*pref_set)(void *, int what, const void *, size_t);
  int (*choose)(void *, void *desc, void *a, void *b, void *c, void *d, void *pref, int wanted,
                heuristic *, int *got);
  int (*algo_get)(const algorithm *, int what, void *, size_t, size_t *);
  int (*matmul)(void *, void *desc, const void *alpha, const void *a, void *da, const void *b,
                void *db, const void *beta, const void *c, void *dc, void *d, void *dd,
                const algorithm *, void *workspace, size_t, void *stream);
} table;

static const cawb_vendor_symbol symbols[] = {
  { "cublasLtCreate", offsetof(table, create) }, { "cublasLtDestroy", offsetof(table, destroy) },
  { "cublasLtGetVersion", offsetof(table, version) },
  { "cublasLtGetStatusName", offsetof(table, status) },
  { "cublasLtMatmulDescCreate", offsetof(table, desc_create) },
  { "cublasLtMatmulDescDestroy", offsetof(table, desc_destroy) },
  { "cublasLtMatmulDescSetAttribute", offsetof(table, desc_set) },
  { "cublasLtMatrixLayoutCreate", offsetof(table, layout_create) },
  { "cublasLtMatrixLayoutDestroy", offsetof(table, layout_destroy) },
  { "cublasLtMatrixLayoutSetAttribute", offsetof(table, layout_set) },
  { "cublasLtMatmulPreferenceCreate", offsetof(table, pref_create) },
  { "cublasLtMatmulPreferenceDestroy", offsetof(table, pref_destroy) },
  { "cublasLtMatmulPreferenceSetAttribute", offsetof(table, pref_set) },
  { "cublasLtMatmulAlgoGetHeuristic", offsetof(table, choose) },
  { "cublasLtMatmulAlgoConfigGetAttribute", offsetof(table, algo_get) },
  { "cublasLtMatmul", offsetof(table, matmul) }
};

struct cawb_cublaslt {
  cawb_vendor vendor;
  table f;
  void *handle;
};

struct cawb_product {
  cawb_cublaslt *library;
  cawb_gemm gemm;
  void *desc, *a, *b, *c, *pref;   /* a is the library's first factor: our b */
  heuristic list[CHOICES];
  int count, at;
};

/* ---- the library ---- */

cawb_status cawb_cublaslt_open(cawb_cublaslt **out, const cawb_places *places, cawb_err *err) {
  *out = NULL;
  cawb_cublaslt *l = calloc(1, sizeof *l);
  if (l == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for cuBLASLt");
  cawb_status s = cawb_vendor_open(&l->vendor, "libcublasLt.so", places, &l->f, symbols,
                                   sizeof symbols / sizeof *symbols, err);
  int r = s == CAWB_OK ? l->f.create(&l->handle) : SUCCESS;
  if (r != SUCCESS)
    s = cawb_fail(err, CAWB_ERR_UNSUPPORTED, "cuBLASLt does not start: %s (%s)", l->f.status(r),
                  l->vendor.found.path);
  if (s == CAWB_OK) *out = l;
  else cawb_cublaslt_close(l);
  return s;
}

void cawb_cublaslt_close(cawb_cublaslt *l) {
  if (l == NULL) return;
  if (l->handle != NULL) l->f.destroy(l->handle);
  cawb_vendor_close(&l->vendor);
  free(l);
}

/* ---- a product ---- */

static void *pointer(cawb_addr a) { return (void *)(uintptr_t)a; }

static int type_of(cawb_dtype t) {
  return t == CAWB_FLOAT16 ? R_16F : t == CAWB_BFLOAT16 ? R_16BF : R_32F;
}

/* Factors of 16 bits are multiplied exactly. */
static int compute_of(const cawb_gemm *g) {
  static const int of[] = { COMPUTE_32F, FAST_TF32, FAST_16BF, FAST_16F };
  return g->a.dtype == CAWB_FLOAT32 ? of[g->compute] : COMPUTE_32F;
}

static int epilogue_of(const cawb_gemm *g) {
  int e = (g->epilogue & CAWB_EPILOGUE_RELU ? EPILOGUE_RELU : 0) |
          (g->epilogue & CAWB_EPILOGUE_GELU_TANH ? EPILOGUE_GELU : 0) |
          (g->epilogue & CAWB_EPILOGUE_BIAS ? EPILOGUE_BIAS : 0);
  return e != 0 ? e : EPILOGUE_DEFAULT;
}

static int make_desc(cawb_product *p) {
  const table *f = &p->library->f;
  const cawb_gemm *g = &p->gemm;
  int ta = g->b.column == 1 ? OP_N : OP_T, tb = g->a.column == 1 ? OP_N : OP_T;
  int epilogue = epilogue_of(g), bias = type_of(g->c.dtype);
  int r = f->desc_create(&p->desc, compute_of(g), R_32F);
  if (r == SUCCESS) r = f->desc_set(p->desc, DESC_TRANSA, &ta, sizeof ta);
  if (r == SUCCESS) r = f->desc_set(p->desc, DESC_TRANSB, &tb, sizeof tb);
  if (r == SUCCESS) r = f->desc_set(p->desc, DESC_EPILOGUE, &epilogue, sizeof epilogue);
  if (r != SUCCESS || (g->epilogue & CAWB_EPILOGUE_BIAS) == 0) return r;
  r = f->desc_set(p->desc, DESC_BIAS_DATA_TYPE, &bias, sizeof bias);
  void *like = pointer(g->bias_align);       /* heuristics read the pointer's alignment */
  return r == SUCCESS ? f->desc_set(p->desc, DESC_BIAS_POINTER, &like, sizeof like) : r;
}

/* Our matrix of `rows` x `cols` as it lies in memory, in columns. */
static int make_layout(cawb_product *p, void **out, const cawb_matrix *m, int64_t rows, int64_t cols) {
  const table *f = &p->library->f;
  int plain = m->column == 1, count = (int)p->gemm.count;
  int r = f->layout_create(out, type_of(m->dtype), (uint64_t)(plain ? cols : rows),
                           (uint64_t)(plain ? rows : cols), plain ? m->row : m->column);
  if (r != SUCCESS || count == 1) return r;
  r = f->layout_set(*out, LAYOUT_BATCH_COUNT, &count, sizeof count);
  return r == SUCCESS ? f->layout_set(*out, LAYOUT_BATCH_OFFSET, &m->batch, sizeof m->batch) : r;
}

static int make_preference(cawb_product *p) {
  const table *f = &p->library->f;
  const struct { int what; uint32_t align; } aligns[] = {
    { PREF_ALIGN_A, p->gemm.b.align }, { PREF_ALIGN_B, p->gemm.a.align },
    { PREF_ALIGN_C, p->gemm.c.align }, { PREF_ALIGN_D, p->gemm.c.align }
  };
  int r = f->pref_create(&p->pref);
  for (size_t i = 0; i < sizeof aligns / sizeof *aligns && r == SUCCESS; i++)
    r = f->pref_set(p->pref, aligns[i].what, &aligns[i].align, sizeof aligns[i].align);
  return r;
}

static int describe(cawb_product *p) {
  const cawb_gemm *g = &p->gemm;
  int r = make_desc(p);
  if (r == SUCCESS) r = make_layout(p, &p->a, &g->b, g->k, g->n);
  if (r == SUCCESS) r = make_layout(p, &p->b, &g->a, g->m, g->k);
  if (r == SUCCESS) r = make_layout(p, &p->c, &g->c, g->m, g->n);
  return r == SUCCESS ? make_preference(p) : r;
}

/* The algorithms within a workspace, the best first. */
static int ask(cawb_product *p, size_t workspace) {
  const table *f = &p->library->f;
  heuristic found[CHOICES];
  int got = 0;
  uint64_t bytes = workspace;
  memset(found, 0, sizeof found);
  p->count = 0;
  int r = f->pref_set(p->pref, PREF_WORKSPACE, &bytes, sizeof bytes);
  if (r == SUCCESS)
    r = f->choose(p->library->handle, p->desc, p->a, p->b, p->c, p->c, p->pref, CHOICES, found, &got);
  for (int i = 0; i < got && r == SUCCESS; i++)
    if (found[i].state == SUCCESS && found[i].workspace <= workspace) p->list[p->count++] = found[i];
  return r == SUCCESS && p->count == 0 ? NOT_SUPPORTED : r;
}

static cawb_status refuse(cawb_product *p, int r, cawb_err *err) {
  size_t least = SIZE_MAX;
  if (p->pref != NULL && ask(p, GENEROUS) == SUCCESS)
    for (int i = 0; i < p->count; i++)
      if (p->list[i].workspace < least) least = p->list[i].workspace;
  if (least != SIZE_MAX && least > p->gemm.workspace)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "gemm: no algorithm of cuBLASLt needs as little as "
                     "workspace = %zu; give it %zu bytes", p->gemm.workspace, least);
  return cawb_fail(err, CAWB_ERR_CANDIDATE, "gemm: cuBLASLt cannot compute %lld x %lld x %lld of %s "
                   "into %s with compute '%s' and this epilogue (%s): change one of them, or write a "
                   "kernel", (long long)p->gemm.m, (long long)p->gemm.n, (long long)p->gemm.k,
                   cawb_dtype_name(p->gemm.a.dtype), cawb_dtype_name(p->gemm.c.dtype),
                   cawb_compute_name(p->gemm.compute), p->library->f.status(r));
}

cawb_status cawb_product_new(cawb_product **out, cawb_cublaslt *l, const cawb_gemm *g,
                             cawb_err *err) {
  *out = NULL;
  cawb_product *p = calloc(1, sizeof *p);
  if (p == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a product");
  p->library = l;
  p->gemm = *g;
  int r = describe(p);
  if (r == SUCCESS) r = ask(p, g->workspace);
  if (r == SUCCESS) {
    *out = p;
    return CAWB_OK;
  }
  cawb_status s = refuse(p, r, err);
  cawb_product_free(p);
  return s;
}

void cawb_product_free(cawb_product *p) {
  if (p == NULL) return;
  const table *f = &p->library->f;
  if (p->pref != NULL) f->pref_destroy(p->pref);
  if (p->c != NULL) f->layout_destroy(p->c);
  if (p->b != NULL) f->layout_destroy(p->b);
  if (p->a != NULL) f->layout_destroy(p->a);
  if (p->desc != NULL) f->desc_destroy(p->desc);
  free(p);
}

void cawb_product_choice(const cawb_product *p, cawb_choice *out) {
  size_t v = p->library->f.version(), written;
  const heuristic *h = &p->list[p->at];
  out->algorithm = -1;
  p->library->f.algo_get(&h->algo, ALGO_ID, &out->algorithm, sizeof out->algorithm, &written);
  out->workspace = h->workspace;
  out->fused = 1;
  snprintf(out->library, sizeof out->library, "cuBLASLt %zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
}

int cawb_product_next(cawb_product *p) {
  if (p->at + 1 >= p->count) return 0;
  p->at++;
  return 1;
}

int cawb_product_enqueue(cawb_product *p, const cawb_addr operand[CAWB_OPERANDS], void *stream) {
  const table *f = &p->library->f;
  const heuristic *h = &p->list[p->at];
  void *c = pointer(operand[CAWB_OPERAND_C]), *bias = pointer(operand[CAWB_OPERAND_BIAS]);
  int r = SUCCESS;
  if (p->gemm.epilogue & CAWB_EPILOGUE_BIAS)
    r = f->desc_set(p->desc, DESC_BIAS_POINTER, &bias, sizeof bias);
  if (r != SUCCESS) return r;
  return f->matmul(p->library->handle, p->desc, &p->gemm.alpha, pointer(operand[CAWB_OPERAND_B]),
                   p->a, pointer(operand[CAWB_OPERAND_A]), p->b, &p->gemm.beta, c, p->c, c, p->c,
                   &h->algo, pointer(operand[CAWB_OPERAND_WORKSPACE]), h->workspace, stream);
}

const char *cawb_product_explain(const cawb_product *p, int status) {
  return p->library->f.status(status);
}
