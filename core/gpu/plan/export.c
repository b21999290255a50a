/*
** export.c - a plan as data that another program can execute: every byte of a launch's
** parameters, and where in them which tensor's address goes.
*/
#include <stdio.h>
#include <stdlib.h>

#include "gpu/plan/record.h"

static const char *const roles[] = { "input", "output", "param", "scratch" };

static int put(cJSON *o, const char *key, cJSON *item) {
  if (item == NULL) return 0;
  if (key == NULL ? cJSON_AddItemToArray(o, item) : cJSON_AddItemToObject(o, key, item)) return 1;
  cJSON_Delete(item);
  return 0;
}

static int put_numbers(cJSON *o, const char *key, const unsigned v[3]) {
  const int three[3] = { (int)v[0], (int)v[1], (int)v[2] };
  return put(o, key, cJSON_CreateIntArray(three, 3));
}

static int put_hex(cJSON *o, const char *key, const unsigned char *data, size_t n) {
  char *text = malloc(2 * n + 1);
  if (text == NULL) return 0;
  text[0] = '\0';
  for (size_t i = 0; i < n; i++) snprintf(text + 2 * i, 3, "%02x", data[i]);
  int ok = put(o, key, cJSON_CreateString(text));
  free(text);
  return ok;
}

/* [where in the block, or which operand of a library call; tensor; bytes behind its address] */
static int put_refs(cJSON *o, const plan_step *s) {
  cJSON *all = cJSON_CreateArray();
  int ok = all != NULL;
  for (size_t i = 0; ok && i < s->nrefs; i++) {
    const double one[3] = { (double)s->refs[i].at, (double)s->refs[i].tensor, (double)s->refs[i].plus };
    ok = put(all, NULL, cJSON_CreateDoubleArray(one, 3));
  }
  if (ok) return put(o, "refs", all);
  cJSON_Delete(all);
  return 0;
}

static int put_launch(cJSON *o, const plan_step *s) {
  return put(o, "kind", cJSON_CreateString("launch")) && put(o, "kernel", cJSON_CreateString(s->step.kernel)) &&
         put_numbers(o, "grid", s->step.grid) && put_numbers(o, "block", s->step.block) &&
         put_numbers(o, "cluster", s->step.cluster) && put(o, "shared", cJSON_CreateNumber((double)s->step.shared)) &&
         put(o, "cooperative", cJSON_CreateBool(s->step.cooperative)) &&
         put(o, "dependent", cJSON_CreateBool(s->step.dependent)) &&
         put_hex(o, "args", s->args, s->step.args_size) && put_refs(o, s);
}

static int put_list(cJSON *o, const char *key, const int64_t *v, int n) {
  double list[CAWB_CONV_RANK];
  for (int i = 0; i < n; i++) list[i] = (double)v[i];
  return put(o, key, cJSON_CreateDoubleArray(list, n));
}

/* Extents, then strides: of a factor and a result of a product, { rows, columns, batch }. */
static int put_view(cJSON *o, const char *key, const int64_t *shape, const int64_t *strides, int n) {
  cJSON *view = cJSON_CreateObject();
  int ok = view != NULL && put_list(view, "shape", shape, n) && put_list(view, "strides", strides, n);
  if (ok) return put(o, key, view);
  cJSON_Delete(view);
  return 0;
}

static int put_matrix(cJSON *o, const char *key, const cawb_matrix *m, int64_t rows, int64_t columns,
                      int64_t count) {
  const int64_t shape[3] = { count, rows, columns }, strides[3] = { m->batch, m->row, m->column };
  return put_view(o, key, shape, strides, 3);
}

static int put_ending(cJSON *o, int epilogue) {
  return put(o, "bias", cJSON_CreateBool((epilogue & CAWB_EPILOGUE_BIAS) != 0)) &&
         put(o, "activation", cJSON_CreateString(epilogue & CAWB_EPILOGUE_RELU ? "relu"
                                                 : epilogue & CAWB_EPILOGUE_GELU_TANH ? "gelu_tanh" : "none"));
}

static int put_gemm(cJSON *o, const plan_step *s) {
  const cawb_gemm *g = s->gemm;
  return put(o, "kind", cJSON_CreateString("gemm")) && put_matrix(o, "a", &g->a, g->m, g->k, g->count) &&
         put_matrix(o, "b", &g->b, g->k, g->n, g->count) && put_matrix(o, "c", &g->c, g->m, g->n, g->count) &&
         put(o, "dtype", cJSON_CreateString(cawb_dtype_name(g->a.dtype))) &&
         put(o, "out_dtype", cJSON_CreateString(cawb_dtype_name(g->c.dtype))) &&
         put(o, "compute", cJSON_CreateString(cawb_compute_name(g->compute))) &&
         put(o, "alpha", cJSON_CreateNumber(g->alpha)) && put(o, "beta", cJSON_CreateNumber(g->beta)) &&
         put_ending(o, g->epilogue) && put_refs(o, s);
}

static int put_conv(cJSON *o, const plan_step *s) {
  const cawb_conv *v = s->conv;
  int n = v->space + 2;
  return put(o, "kind", cJSON_CreateString("conv")) && put_view(o, "a", v->x.shape, v->x.strides, n) &&
         put_view(o, "b", v->w.shape, v->w.strides, n) && put_view(o, "c", v->y.shape, v->y.strides, n) &&
         put_list(o, "stride", v->stride, v->space) && put_list(o, "padding", v->padding, v->space) &&
         put_list(o, "dilation", v->dilation, v->space) && put(o, "groups", cJSON_CreateNumber((double)v->groups)) &&
         put(o, "transposed", cJSON_CreateBool(v->transposed)) &&
         put(o, "dtype", cJSON_CreateString(cawb_dtype_name(v->dtype))) &&
         put(o, "out_dtype", cJSON_CreateString(cawb_dtype_name(v->dtype))) &&
         put(o, "compute", cJSON_CreateString(cawb_compute_name(v->compute))) &&
         put_ending(o, v->epilogue) && put_refs(o, s);
}

static int put_step(cJSON *all, const plan_step *s) {
  cJSON *o = cJSON_CreateObject();
  int ok = o != NULL;
  if (ok && s->step.kind == CAWB_STEP_LAUNCH) ok = put_launch(o, s);
  else if (ok && s->step.kind == CAWB_STEP_FILL)
    ok = put(o, "kind", cJSON_CreateString("fill")) && put(o, "tensor", cJSON_CreateNumber((double)s->target)) &&
         put(o, "bytes", cJSON_CreateNumber((double)s->step.size)) &&
         put(o, "pattern", cJSON_CreateNumber(s->step.pattern));
  else if (ok) ok = s->gemm != NULL ? put_gemm(o, s) : put_conv(o, s);
  if (ok) return put(all, NULL, o);
  cJSON_Delete(o);
  return 0;
}

static int put_phase(cJSON *o, const char *key, const plan_list *l) {
  cJSON *all = cJSON_CreateArray();
  int ok = all != NULL;
  for (size_t i = 0; ok && i < l->count; i++) ok = put_step(all, &l->steps[i]);
  if (ok) return put(o, key, all);
  cJSON_Delete(all);
  return 0;
}

static int put_tensors(cJSON *o, const cawb_plan *p) {
  cJSON *all = cJSON_CreateArray();
  int ok = all != NULL;
  for (size_t i = 0; ok && i < p->ntensors; i++) {
    cJSON *t = cJSON_CreateObject();
    ok = t != NULL && put(t, "role", cJSON_CreateString(roles[p->tensors[i].role])) &&
         put(t, "bytes", cJSON_CreateNumber((double)p->tensors[i].spec.bytes));
    if (ok) ok = put(all, NULL, t);
    else cJSON_Delete(t);
  }
  if (ok) return put(o, "tensors", all);
  cJSON_Delete(all);
  return 0;
}

cJSON *cawb_plan_export(const cawb_plan *p) {
  cJSON *o = cJSON_CreateObject();
  if (o != NULL && put_tensors(o, p) && put_phase(o, "prepare", &p->phases[CAWB_PLAN_PREPARE]) &&
      put_phase(o, "call", &p->phases[CAWB_PLAN_CALL]))
    return o;
  cJSON_Delete(o);
  return NULL;
}
