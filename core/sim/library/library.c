/*
** library.c - the libraries' calls on the simulated device: the same results in plain C, and
** times from what libraries reach of the published rates. Operands are checked as a kernel's accesses are.
*/
#include "sim/library/library.h"
#include "gpu/device/times.h"
#include "sim/isa/half.h"
#include "sim/time/profile.h"
#include "sim/time/time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------- numbers */

/* To nearest, ties to even, as tensor cores take a float32; NaN stays one. */
static float as_tf32(float f) { return f != f ? f : float_of(rounded(bits_of(f), 13, SIM_RN, 0) << 13); }

static float load(const unsigned char *base, cawb_dtype t, int64_t i) {
  uint16_t h;
  float f;
  if (t == CAWB_FLOAT32) {
    memcpy(&f, base + 4 * i, sizeof f);
    return f;
  }
  memcpy(&h, base + 2 * i, sizeof h);
  return t == CAWB_FLOAT16 ? half_to_float(h) : bf_to_float(h);
}

static void store(unsigned char *base, cawb_dtype t, int64_t i, float f) {
  uint16_t h;
  if (t == CAWB_FLOAT32) {
    memcpy(base + 4 * i, &f, sizeof f);
    return;
  }
  h = (uint16_t)(t == CAWB_FLOAT16 ? float_to_half(f, SIM_RN) : float_to_bf(f, SIM_RN));
  memcpy(base + 2 * i, &h, sizeof h);
}

/* A factor of float32 as it is multiplied. */
static float factor(float f, cawb_compute how) {
  switch (how) {
    case CAWB_COMPUTE_TF32: return as_tf32(f);
    case CAWB_COMPUTE_BF16: return bf_to_float(float_to_bf(f, SIM_RN));
    case CAWB_COMPUTE_FP16: return half_to_float(float_to_half(f, SIM_RN));
    default: return f;
  }
}

static float finish(float f, int epilogue, float bias) {
  if (epilogue & CAWB_EPILOGUE_BIAS) f += bias;
  if (epilogue & CAWB_EPILOGUE_RELU) f = f < 0 ? 0 : f;
  if (epilogue & CAWB_EPILOGUE_GELU_TANH)
    f = 0.5f * f * (1 + tanhf(0.7978845608f * (f + 0.044715f * f * f * f)));
  return f;
}

/* ---------------------------------------------------------------- operands */

typedef struct operands { unsigned char *host[CAWB_OPERANDS]; } operands;

static const char *const names[2][CAWB_OPERANDS] = {
  { "a", "b", "c", "bias", "workspace" }, { "x", "w", "y", "bias", "workspace" }
};

static cawb_status find_operand(sim_device *d, const cawb_step *s, int i, size_t size, operands *o,
                                cawb_report *report, cawb_err *err) {
  sim_region *r = sim_region_at(d, s->operand[i]);
  int conv = s->kind == CAWB_STEP_CONV, writes = i == CAWB_OPERAND_C;
  uint64_t from = r != NULL ? s->operand[i] - r->base : 0;
  if (r == NULL || from > r->size || size > r->size - from)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: %s: %zu bytes at 0x%llx are outside of every "
                     "buffer%s%s", conv ? "conv" : "gemm", names[conv][i], size,
                     (unsigned long long)s->operand[i], r != NULL ? "; nearest: " : "",
                     r != NULL ? r->label : "");
  o->host[i] = r->host + from;
  if (writes) sim_region_written(r, s->operand[i], size);
  report->dram_bytes += 32 * sim_region_touch(r, writes ? SIM_WRITES_RUN : SIM_READS_RUN,
                                              s->operand[i], size);
  return CAWB_OK;
}

static cawb_status find_operands(sim_device *d, const cawb_step *s, operands *o, cawb_report *report,
                                 cawb_err *err) {
  size_t size[CAWB_OPERANDS];
  cawb_status rc = CAWB_OK;
  memset(o, 0, sizeof *o);
  if (s->kind == CAWB_STEP_GEMM) cawb_gemm_sizes(s->gemm, size);
  else cawb_conv_sizes(s->conv, size);
  for (int i = 0; i < CAWB_OPERAND_WORKSPACE && rc == CAWB_OK; i++)
    if (size[i] > 0) rc = find_operand(d, s, i, size[i], o, report, err);
  return rc;
}

/* -------------------------------------------------------------------- gemm */

static void gather(float *out, const unsigned char *from, const cawb_matrix *m, int64_t rows,
                   int64_t cols, int64_t which, cawb_compute how) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++)
      *out++ = factor(load(from, m->dtype, which * m->batch + i * m->row + j * m->column), how);
}

static void write_product(const cawb_gemm *g, const operands *o, const float *sums, int64_t which) {
  for (int64_t i = 0; i < g->m; i++)
    for (int64_t j = 0; j < g->n; j++) {
      int64_t at = which * g->c.batch + i * g->c.row + j * g->c.column;
      float f = g->alpha * sums[i * g->n + j], bias = 0;
      if (g->beta != 0) f += g->beta * load(o->host[CAWB_OPERAND_C], g->c.dtype, at);
      if (g->epilogue & CAWB_EPILOGUE_BIAS) bias = load(o->host[CAWB_OPERAND_BIAS], g->c.dtype, j);
      store(o->host[CAWB_OPERAND_C], g->c.dtype, at, finish(f, g->epilogue, bias));
    }
}

static cawb_status multiply(const cawb_gemm *g, const operands *o, cawb_err *err) {
  size_t m = (size_t)g->m, n = (size_t)g->n, k = (size_t)g->k;
  float *a = malloc((m * k + k * n + m * n) * sizeof *a);
  if (a == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory to execute gemm");
  float *b = a + m * k, *c = b + k * n;
  for (int64_t s = 0; s < g->count; s++) {
    gather(a, o->host[CAWB_OPERAND_A], &g->a, g->m, g->k, s, g->compute);
    gather(b, o->host[CAWB_OPERAND_B], &g->b, g->k, g->n, s, g->compute);
    sim_product_of(c, a, b, m, n, k);
    write_product(g, o, c, s);
  }
  free(a);
  return CAWB_OK;
}

/* -------------------------------------------------------------------- conv */

static int64_t elements(const cawb_conv_tensor *t, int rank) {
  int64_t all = 1;
  for (int i = 0; i < rank; i++) all *= t->shape[i];
  return all;
}

/* The n-th element in the order of dimensions, wherever it lies. */
static int64_t place_of(const cawb_conv_tensor *t, int rank, int64_t n) {
  int64_t at = 0;
  for (int i = rank - 1; i >= 0; i--) {
    at += n % t->shape[i] * t->strides[i];
    n /= t->shape[i];
  }
  return at;
}

static void gather_tensor(float *out, const unsigned char *from, const cawb_conv *v,
                          const cawb_conv_tensor *t) {
  int rank = v->space + 2;
  for (int64_t i = 0, n = elements(t, rank); i < n; i++)
    out[i] = factor(load(from, v->dtype, place_of(t, rank, i)), v->compute);
}

static void write_tensor(const cawb_conv *v, const operands *o, const float *sums) {
  int rank = v->space + 2;
  int64_t plane = elements(&v->y, rank) / v->y.shape[0] / v->y.shape[1];
  for (int64_t i = 0, n = elements(&v->y, rank); i < n; i++) {
    float bias = 0;
    if (v->epilogue & CAWB_EPILOGUE_BIAS)
      bias = load(o->host[CAWB_OPERAND_BIAS], v->dtype, i / plane % v->y.shape[1]);
    store(o->host[CAWB_OPERAND_Y], v->dtype, place_of(&v->y, rank, i),
          finish(sums[i], v->epilogue, bias));    /* NOLINT: sim_convolve wrote all */
  }
}

static cawb_status convolve(const cawb_conv *v, const operands *o, cawb_err *err) {
  int rank = v->space + 2;
  int64_t nx = elements(&v->x, rank), nw = elements(&v->w, rank), ny = elements(&v->y, rank);
  int64_t plane = ny / (v->y.shape[0] * v->y.shape[1]);
  float *x = malloc((size_t)(nx + nw + ny + plane) * sizeof *x);
  if (x == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory to execute conv");
  float *w = x + nx, *y = w + nw;
  gather_tensor(x, o->host[CAWB_OPERAND_X], v, &v->x);
  gather_tensor(w, o->host[CAWB_OPERAND_W], v, &v->w);
  sim_convolve(y, y + ny, x, w, v);
  write_tensor(v, o, y);
  free(x);
  return CAWB_OK;
}

/* -------------------------------------------------------------------- both */

static double rate_of(const sim_model *m, cawb_dtype t, cawb_compute how) {
  if (t == CAWB_FLOAT16) return m->fp16;
  if (t == CAWB_BFLOAT16) return m->bf16;
  const double rates[CAWB_COMPUTES] = { m->fp32, m->tf32, m->bf16, m->fp16 };
  return rates[how];
}

static double product_seconds(const sim_model *m, const cawb_gemm *g) {
  double rate = rate_of(m, g->a.dtype, g->compute) * m->library_gemm;
  return cawb_times_product(rate, m->sms, (double)g->count, (double)g->m, (double)g->n, (double)g->k);
}

enum { LAYOUTS = 3 };            /* passes over memory where inputs and outputs are laid out anew for tensor cores */

static void take_time(const sim_model *m, const cawb_step *s, cawb_report *r) {
  const cawb_gemm *g = s->gemm;
  const cawb_conv *v = s->conv;
  if (s->kind == CAWB_STEP_GEMM) {
    double flops = cawb_gemm_flops(g);
    sim_time_library(m, flops, flops / product_seconds(m, g), cawb_gemm_bytes(g), 1, r);
    return;
  }
  int tensor = v->dtype != CAWB_FLOAT32 || v->compute != CAWB_COMPUTE_FLOAT32;
  double share = v->transposed ? m->library_conv_back : tensor ? m->library_conv_tensor : m->library_conv;
  sim_time_library(m, cawb_conv_flops(v), rate_of(m, v->dtype, v->compute) * share, cawb_conv_bytes(v), tensor ? LAYOUTS : 1, r);
}

cawb_status sim_library_run(sim_device *d, const cawb_step *s, cawb_report *report, cawb_err *err) {
  operands o;
  cawb_report before = *report;
  cawb_status rc = find_operands(d, s, &o, report, err);
  if (rc == CAWB_OK)
    rc = s->kind == CAWB_STEP_GEMM ? multiply(s->gemm, &o, err) : convolve(s->conv, &o, err);
  if (rc != CAWB_OK) return rc;
  take_time(d->model, s, report);
  return d->watch == NULL ? CAWB_OK
    : sim_profile_library(d, s->kind == CAWB_STEP_GEMM ? "gemm" : "conv", &before, report, err);
}

cawb_status sim_library_choose(cawb_device *d, const cawb_step *steps, size_t n,
                               const char *site_packages, cawb_choice *choices, cawb_err *err) {
  (void)d; (void)site_packages; (void)err;
  for (size_t i = 0; i < n; i++)
    if (steps[i].kind == CAWB_STEP_GEMM || steps[i].kind == CAWB_STEP_CONV) {
      snprintf(choices[i].library, sizeof choices[i].library, "the simulated device");
      choices[i].fused = 1;
    }
  return CAWB_OK;
}
