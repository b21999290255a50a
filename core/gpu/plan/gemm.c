/* gemm.c - gemm{...}: a matrix product, read from a plan and checked. */
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/plan/library.h"

/* One matrix, or a batch of them: the last two dimensions, and all before them. */
typedef struct side {
  const char *key;
  const cawb_tensor *t;
  int64_t rows, cols;
  int64_t row, column;         /* strides */
  int64_t count, batch;        /* matrices, and from one to the next */
  int transposed;
} side;

/* Dimensions [from, to) as one, of `*count` steps of `*stride`; 0 where they are no such. */
static int fold(const cawb_tensor *t, int from, int to, int64_t *count, int64_t *stride) {
  *count = 1;
  *stride = 0;
  for (int i = to - 1; i >= from; i--) {
    if (t->shape[i] == 1) continue;
    if (*count == 1) *stride = t->strides[i];
    else if (t->strides[i] != *stride * *count) return 0;
    *count *= t->shape[i];
  }
  return 1;
}

static void refuse_layout(const plan_call *c, const side *s) {
  const char *strides = plan_push_sizes(c->L, s->t->strides, s->t->rank);
  const char *shape = plan_push_sizes(c->L, s->t->shape, s->t->rank);
  luaL_error(c->L, "gemm: '%s' of shape %s has strides %s: of the last two one must be 1 and the "
             "other step over it, and those before must be those of one batch; copy it to "
             "contiguous scratch first", s->key, shape, strides);
}

static void read_side(const plan_call *c, side *s, const char *key, const cawb_tensor *t,
                      int transposed) {
  int r = t->rank;
  if (r < 2)
    luaL_error(c->L, "gemm: '%s' (%s) has %d dimension; a matrix has two, a batch of them three "
               "or more: use view(t, { shape = ... })", key, t->label, r);
  *s = (side){ .key = key, .t = t, .rows = t->shape[r - 2], .cols = t->shape[r - 1],
               .row = t->strides[r - 2], .column = t->strides[r - 1] };
  if (transposed)
    *s = (side){ .key = key, .t = t, .rows = s->cols, .cols = s->rows, .row = s->column,
                 .column = s->row, .transposed = 1 };
  if (!fold(t, 0, r - 2, &s->count, &s->batch)) refuse_layout(c, s);
}

/* A batch of matrices times one matrix is one product of many rows. */
static void join_rows(side *a, const side *b, side *c) {
  int64_t rows_a, rows_c, row_a, row_c;
  if (a->count == 1 || b->count != 1 || a->transposed || c->count != a->count) return;
  if (!fold(a->t, 0, a->t->rank - 1, &rows_a, &row_a) ||
      !fold(c->t, 0, c->t->rank - 1, &rows_c, &row_c)) return;
  a->rows = rows_a, a->row = row_a;
  c->rows = rows_c, c->row = row_c;
  a->count = c->count = 1;
  a->batch = c->batch = 0;
}

/* Strides of dimensions of one element are of no meaning: give them one. */
static int settle(side *s) {
  int rows = (s->column == 1 || s->cols == 1) && (s->rows == 1 || s->row >= s->cols);
  int cols = (s->row == 1 || s->rows == 1) && (s->cols == 1 || s->column >= s->rows);
  if (rows) {
    s->column = 1;
    if (s->rows == 1) s->row = s->cols;
    return 1;
  }
  if (!cols) return 0;
  s->row = 1;
  if (s->cols == 1) s->column = s->rows;
  return 1;
}

/* Whether each matrix of the result has its own place: one behind the other, or side by side. */
static int apart(const side *c) {
  int64_t one;
  if (c->count == 1) return 1;
  if (__builtin_mul_overflow(c->rows - 1, c->row, &one)) return 0;
  return c->batch >= one + c->cols ||
         (c->batch >= c->cols && c->batch <= c->row / c->count);
}

static void check_sizes(const plan_call *k, const side *a, const side *b, const side *c) {
  if (a->cols != b->rows)
    luaL_error(k->L, "gemm: a is %I x %I and b is %I x %I as they are multiplied: %I columns do "
               "not meet %I rows (transpose_a, transpose_b)", (LUAI_UACINT)a->rows,
               (LUAI_UACINT)a->cols, (LUAI_UACINT)b->rows, (LUAI_UACINT)b->cols,
               (LUAI_UACINT)a->cols, (LUAI_UACINT)b->rows);
  if (c->rows != a->rows || c->cols != b->cols)
    luaL_error(k->L, "gemm: c is %I x %I, the product is %I x %I", (LUAI_UACINT)c->rows,
               (LUAI_UACINT)c->cols, (LUAI_UACINT)a->rows, (LUAI_UACINT)b->cols);
  int64_t most = a->count > b->count ? a->count : b->count;
  if ((a->count != 1 && a->count != most) || (b->count != 1 && b->count != most) || c->count != most)
    luaL_error(k->L, "gemm: a holds %I matrices, b %I, c %I: a batch is as many in each, or one "
               "in a or b for all", (LUAI_UACINT)a->count, (LUAI_UACINT)b->count,
               (LUAI_UACINT)c->count);
}

static void check_layouts(const plan_call *k, side *a, side *b, side *c) {
  if (!settle(a)) refuse_layout(k, a);
  if (!settle(b)) refuse_layout(k, b);
  if (!settle(c) || c->column != 1 || !apart(c)) refuse_layout(k, c);
}

static cawb_matrix matrix_of(const plan_call *c, const side *s, size_t at) {
  return (cawb_matrix){ .row = s->row, .column = s->column, .batch = s->count > 1 ? s->batch : 0,
                        .dtype = plan_call_dtype(c, s->key, s->t),
                        .align = plan_call_align(c, at) };
}

static void check_types(const plan_call *c, const cawb_gemm *g) {
  if (g->a.dtype != g->b.dtype)
    luaL_error(c->L, "gemm: a is %s and b is %s; they must be of one type",
               cawb_dtype_name(g->a.dtype), cawb_dtype_name(g->b.dtype));
  if (g->c.dtype != g->a.dtype && g->c.dtype != CAWB_FLOAT32)
    luaL_error(c->L, "gemm: c is %s; of %s factors it is %s or float32",
               cawb_dtype_name(g->c.dtype), cawb_dtype_name(g->a.dtype),
               cawb_dtype_name(g->a.dtype));
}

/* ---- the epilogue ---- */

static const char *const epilogues[] = { "none", "bias", "relu", "bias_relu", "gelu_tanh",
                                         "bias_gelu_tanh", NULL };
static const int parts[] = {
  0, CAWB_EPILOGUE_BIAS, CAWB_EPILOGUE_RELU, CAWB_EPILOGUE_BIAS | CAWB_EPILOGUE_RELU,
  CAWB_EPILOGUE_GELU_TANH, CAWB_EPILOGUE_BIAS | CAWB_EPILOGUE_GELU_TANH
};

/* PyTorch's default GELU is another function than cuBLASLt's. */
static void refuse_gelu(const plan_call *c) {
  const char *word = lua_getfield(c->L, 1, "epilogue") == LUA_TSTRING ? lua_tostring(c->L, -1) : "";
  if (strcmp(word, "gelu") == 0 || strcmp(word, "bias_gelu") == 0)
    luaL_error(c->L, "gemm: epilogue '%s': the library has GELU's tanh approximation only. Write "
               "'%s_tanh' where the task asks for that (approximate=\"tanh\"); for the exact one "
               "add the bias here and apply erff in a kernel", word, word);
  lua_pop(c->L, 1);
}

static int read_epilogue(const plan_call *c, const cawb_tensor *bias) {
  refuse_gelu(c);
  int word = plan_call_word(c, "epilogue", epilogues);
  if (word < 0) return bias != NULL ? CAWB_EPILOGUE_BIAS : 0;
  int has = (parts[word] & CAWB_EPILOGUE_BIAS) != 0;
  if (has && bias == NULL)
    luaL_error(c->L, "gemm: epilogue '%s' without 'bias'", epilogues[word]);
  if (!has && bias != NULL)
    luaL_error(c->L, "gemm: 'bias' is given, but epilogue '%s' adds none: write 'bias%s%s'",
               epilogues[word], word == 0 ? "" : "_", word == 0 ? "" : epilogues[word]);
  return parts[word];
}

static void check_bias(const plan_call *c, const cawb_gemm *g, const cawb_tensor *bias) {
  if (bias == NULL) return;
  if (bias->rank != 1 || bias->numel != g->n || (g->n > 1 && bias->strides[0] != 1))
    luaL_error(c->L, "gemm: 'bias' has shape %s; it must be %I contiguous elements, one for each "
               "column of c", plan_push_sizes(c->L, bias->shape, bias->rank), (LUAI_UACINT)g->n);
  if (plan_call_dtype(c, "bias", bias) != g->c.dtype)
    luaL_error(c->L, "gemm: 'bias' is %s; it must be %s as c is", bias->dtype,
               cawb_dtype_name(g->c.dtype));
}

/* ---- the whole ---- */

static const char *word_of(int epilogue) {
  for (int i = 0; epilogues[i] != NULL; i++)
    if (parts[i] == epilogue) return epilogues[i];
  return "?";
}

static void describe(const plan_call *c, plan_step *s, const cawb_gemm *g) {
  const struct { const char *key; double value; } numbers[] = {
    { "m", (double)g->m }, { "n", (double)g->n }, { "k", (double)g->k },
    { "batch", (double)g->count }, { "flops", cawb_gemm_flops(g) },
    { "bytes", cawb_gemm_bytes(g) }, { "workspace", (double)g->workspace }, { "beta", (double)g->beta }
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    plan_call_describe(c, s, numbers[i].key, cJSON_CreateNumber(numbers[i].value));
  plan_call_describe(c, s, "dtype", cJSON_CreateString(cawb_dtype_name(g->a.dtype)));
  plan_call_describe(c, s, "compute", cJSON_CreateString(cawb_compute_name(g->compute)));
  plan_call_describe(c, s, "epilogue", cJSON_CreateString(word_of(g->epilogue)));
}

static void read_product(plan_call *k, cawb_gemm *g) {
  side a, b, c;
  const cawb_tensor *ta = plan_call_input(k, "a", CAWB_OPERAND_A, 1);
  const cawb_tensor *tb = plan_call_input(k, "b", CAWB_OPERAND_B, 1);
  const cawb_tensor *bias = plan_call_input(k, "bias", CAWB_OPERAND_BIAS, 0);
  const cawb_tensor *tc = plan_call_output(k, "c", CAWB_OPERAND_C);
  read_side(k, &a, "a", ta, plan_call_flag(k, "transpose_a"));
  read_side(k, &b, "b", tb, plan_call_flag(k, "transpose_b"));
  read_side(k, &c, "c", tc, 0);
  join_rows(&a, &b, &c);
  check_sizes(k, &a, &b, &c);
  check_layouts(k, &a, &b, &c);
  g->m = c.rows, g->n = c.cols, g->k = a.cols, g->count = c.count;
  g->a = matrix_of(k, &a, CAWB_OPERAND_A);
  g->b = matrix_of(k, &b, CAWB_OPERAND_B);
  g->c = matrix_of(k, &c, CAWB_OPERAND_C);
  check_types(k, g);
  g->epilogue = read_epilogue(k, bias);
  g->bias_align = bias != NULL ? plan_call_align(k, CAWB_OPERAND_BIAS) : 0;
  check_bias(k, g, bias);
}

int plan_gemm(lua_State *L) {
  static const char *const keys[] = { "a", "b", "c", "bias", "transpose_a", "transpose_b", "alpha",
                                      "beta", "compute", "epilogue", "workspace", NULL };
  plan_call c;
  cawb_gemm g;
  memset(&g, 0, sizeof g);
  if (!plan_call_begin(&c, L, "gemm", keys)) return 0;
  read_product(&c, &g);
  g.alpha = (float)plan_call_number(&c, "alpha", 1);
  g.beta = (float)plan_call_number(&c, "beta", 0);
  g.compute = plan_call_compute(&c, g.a.dtype);
  g.workspace = plan_call_workspace(&c);
  plan_step *s = plan_call_step(&c, CAWB_STEP_GEMM);
  s->gemm = malloc(sizeof *s->gemm);
  if (s->gemm == NULL) return plan_no_memory(L, c.p);
  memcpy(s->gemm, &g, sizeof g);
  s->step.gemm = s->gemm;
  describe(&c, s, &g);
  return 0;
}
