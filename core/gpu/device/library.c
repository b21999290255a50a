/* library.c - see library.h: names, sizes, and how much there is to do. */
#include "gpu/device/library.h"

#include <string.h>

static const struct { const char *name; size_t size; } dtypes[CAWB_DTYPES] = {
  [CAWB_FLOAT32] = { "float32", 4 }, [CAWB_FLOAT16] = { "float16", 2 },
  [CAWB_BFLOAT16] = { "bfloat16", 2 }
};

static const char *const computes[CAWB_COMPUTES] = {
  [CAWB_COMPUTE_FLOAT32] = "float32", [CAWB_COMPUTE_TF32] = "tf32",
  [CAWB_COMPUTE_BF16] = "bf16", [CAWB_COMPUTE_FP16] = "fp16"
};

const char *cawb_dtype_name(cawb_dtype t) { return dtypes[t].name; }
const char *cawb_compute_name(cawb_compute c) { return computes[c]; }

double cawb_gemm_flops(const cawb_gemm *g) {
  return 2.0 * (double)g->m * (double)g->n * (double)g->k * (double)g->count;
}

static double matrix_bytes(const cawb_matrix *x, int64_t rows, int64_t cols, int64_t count) {
  double matrices = x->batch != 0 ? (double)count : 1;
  return (double)rows * (double)cols * matrices * (double)dtypes[x->dtype].size;
}

double cawb_gemm_bytes(const cawb_gemm *g) {
  double c = matrix_bytes(&g->c, g->m, g->n, g->count);
  return matrix_bytes(&g->a, g->m, g->k, g->count) + matrix_bytes(&g->b, g->k, g->n, g->count)
         + c + (g->beta != 0 ? c : 0);
}

static double elements(const cawb_conv_tensor *t, int space) {
  double all = 1;
  for (int i = 0; i < space + 2; i++) all *= (double)t->shape[i];
  return all;
}

/* Every element of the wider side meets every weight of its group; padding counts. */
double cawb_conv_flops(const cawb_conv *v) {
  const cawb_conv_tensor *side = v->transposed ? &v->x : &v->y;
  return 2 * elements(side, v->space) / (double)side->shape[1] * elements(&v->w, v->space);
}

double cawb_conv_bytes(const cawb_conv *v) {
  double all = elements(&v->x, v->space) + elements(&v->w, v->space) + elements(&v->y, v->space);
  return all * (double)dtypes[v->dtype].size;
}

static size_t matrix_size(const cawb_matrix *m, int64_t rows, int64_t cols, int64_t count) {
  int64_t last = (rows - 1) * m->row + (cols - 1) * m->column + (count - 1) * m->batch;
  return (size_t)(last + 1) * dtypes[m->dtype].size;
}

void cawb_gemm_sizes(const cawb_gemm *g, size_t size[CAWB_OPERANDS]) {
  memset(size, 0, CAWB_OPERANDS * sizeof *size);
  size[CAWB_OPERAND_A] = matrix_size(&g->a, g->m, g->k, g->count);
  size[CAWB_OPERAND_B] = matrix_size(&g->b, g->k, g->n, g->count);
  size[CAWB_OPERAND_C] = matrix_size(&g->c, g->m, g->n, g->count);
  if (g->epilogue & CAWB_EPILOGUE_BIAS)
    size[CAWB_OPERAND_BIAS] = (size_t)g->n * dtypes[g->c.dtype].size;
  size[CAWB_OPERAND_WORKSPACE] = g->workspace;
}

static size_t tensor_size(const cawb_conv *v, const cawb_conv_tensor *t) {
  int64_t last = 0;
  for (int i = 0; i < v->space + 2; i++) last += (t->shape[i] - 1) * t->strides[i];
  return (size_t)(last + 1) * dtypes[v->dtype].size;
}

void cawb_conv_sizes(const cawb_conv *v, size_t size[CAWB_OPERANDS]) {
  memset(size, 0, CAWB_OPERANDS * sizeof *size);
  size[CAWB_OPERAND_X] = tensor_size(v, &v->x);
  size[CAWB_OPERAND_W] = tensor_size(v, &v->w);
  size[CAWB_OPERAND_Y] = tensor_size(v, &v->y);
  if (v->epilogue & CAWB_EPILOGUE_BIAS)
    size[CAWB_OPERAND_BIAS] = (size_t)v->y.shape[1] * dtypes[v->dtype].size;
  size[CAWB_OPERAND_WORKSPACE] = v->workspace;
}
