/*
** test_plan_library.c - gemm{}, conv{} and view() in a plan: what is recorded of a call, and
** what an agent reads when it is wrong.
*/
#include "gpu/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "check.h"

typedef struct shape { const char *sizes, *strides, *dtype; int numel; } shape;

/* inputs[1..12]; the last two are for convolutions. */
static const shape given[] = {
  { "[6,8]", "[8,1]", "float32", 48 }, { "[8,10]", "[10,1]", "float32", 80 },
  { "[10]", "[1]", "float32", 10 }, { "[6,8]", "[8,1]", "int64", 48 },
  { "[3,6,8]", "[48,8,1]", "float32", 144 }, { "[3,8,10]", "[80,10,1]", "float32", 240 },
  { "[8,6]", "[1,8]", "float32", 48 }, { "[6,8]", "[8,1]", "float16", 48 },
  { "[8,10]", "[10,1]", "float16", 80 }, { "[6,8]", "[16,2]", "float32", 96 },
  { "[2,4,9,9]", "[324,81,9,1]", "float32", 648 }, { "[6,4,3,3]", "[36,9,3,1]", "float32", 216 }
};
/* outputs[1..4] */
static const shape made[] = {
  { "[6,10]", "[10,1]", "float32", 60 }, { "[3,6,10]", "[60,10,1]", "float32", 180 },
  { "[2,6,7,7]", "[294,49,7,1]", "float32", 588 }, { "[6,10]", "[10,1]", "float16", 60 }
};

static cJSON *inputs, *outputs, *params;
static cawb_kernels kernels;
static int forbidden, modelled;
static size_t workspace = 4096;

static cJSON *list_of(const shape *s, size_t n) {
  cawb_bytes b = { 0 };
  cawb_bytes_text(&b, "[");
  for (size_t i = 0; i < n; i++)
    cawb_bytes_print(&b, "%s{\"shape\":%s,\"strides\":%s,\"dtype\":\"%s\",\"offset\":0,\"bytes\":%d}",
                     i == 0 ? "" : ",", s[i].sizes, s[i].strides, s[i].dtype,
                     s[i].numel * (s[i].dtype[5] == '1' ? 2 : s[i].dtype[0] == 'i' ? 8 : 4));
  cawb_bytes_text(&b, "]");
  cJSON *list = cJSON_Parse(b.data);
  cawb_bytes_free(&b);
  return list;
}

static cawb_status record(cawb_plan **p, const char *text, cawb_err *err) {
  cawb_plan_setting s = { .inputs = inputs, .outputs = outputs, .params = params,
    .kernels = &kernels, .threads_block = 1024, .shared_block = 49152, .no_libraries = forbidden,
    .modelled = modelled, .workspace = workspace, .limits = { 8 << 20, 5000000 } };
  return cawb_plan_new(p, text, &s, err);
}

static int fails(const char *text, const char *with) {
  cawb_err err;
  cawb_plan *p;
  if (record(&p, text, &err) == CAWB_ERR_CANDIDATE && strstr(err.msg, with) != NULL &&
      strstr(err.msg, "plan.lua:") == err.msg) return 1;
  fprintf(stderr, "expected '%s' in '%s'\n", with, p != NULL ? "(it is right)" : err.msg);
  cawb_plan_free(p);
  return 0;
}

/* The only step of a plan whose tensors lie at 0x1000, 0x2000, ...; free the plan. */
static const cawb_step *step_of(cawb_plan **p, const char *text) {
  cawb_err err;
  size_t n;
  cawb_status rc = record(p, text, &err);
  if (rc != CAWB_OK) fprintf(stderr, "%s\n", err.msg);
  CHECK(rc == CAWB_OK);
  if (rc != CAWB_OK) return NULL;
  cawb_plan_tensor *t = cawb_plan_tensors(*p, &n);
  for (size_t i = 0; i < n; i++) t[i].addr = 0x1000 * (i + 1);
  cawb_plan_bind(*p);
  const cawb_step *steps = cawb_plan_steps(*p, CAWB_PLAN_CALL, &n);
  return &steps[n - 1];
}

#define OUT1 (0x1000 * 13)     /* behind twelve inputs */

static void test_a_product(void) {
  cawb_plan *p;
  const cawb_step *s = step_of(&p, "gemm{ a = inputs[1], b = inputs[2], c = outputs[1], bias = inputs[3] }");
  if (s == NULL) return;
  const cawb_gemm *g = s->gemm;
  CHECK(s->kind == CAWB_STEP_GEMM && g->m == 6 && g->n == 10 && g->k == 8 && g->count == 1);
  CHECK(g->a.row == 8 && g->a.column == 1 && g->b.row == 10 && g->c.row == 10 && g->a.align == 256);
  CHECK(g->epilogue == CAWB_EPILOGUE_BIAS && g->alpha == 1 && g->beta == 0);
  CHECK(g->compute == CAWB_COMPUTE_FLOAT32 && g->workspace == 4096);
  CHECK(s->operand[CAWB_OPERAND_A] == 0x1000 && s->operand[CAWB_OPERAND_B] == 0x2000);
  CHECK(s->operand[CAWB_OPERAND_BIAS] == 0x3000 && s->operand[CAWB_OPERAND_C] == OUT1);
  CHECK(s->operand[CAWB_OPERAND_WORKSPACE] == 0x1000 * 17);    /* allocated like scratch */
  CHECK(cawb_gemm_flops(g) == 2 * 6 * 10 * 8 && cawb_gemm_bytes(g) == 4 * (48 + 80 + 60));
  cJSON *words = cawb_plan_describe(p, CAWB_PLAN_CALL);
  char *text = cJSON_PrintUnformatted(words);
  CHECK(strstr(text, "\"m\":6,\"n\":10,\"k\":8,\"batch\":1,\"flops\":960") != NULL);
  CHECK(strstr(text, "\"kind\":\"gemm\",\"reads\":[") != NULL);
  CHECK(strstr(text, "\"writes\":[\"outputs[1]\"]") != NULL);
  free(text);
  cJSON_Delete(words);
  words = cawb_plan_export(p);
  text = cJSON_PrintUnformatted(words);
  CHECK(strstr(text, "{\"kind\":\"gemm\",\"a\":{\"shape\":[1,6,8],\"strides\":[0,8,1]}") != NULL);
  CHECK(strstr(text, "\"b\":{\"shape\":[1,8,10],\"strides\":[0,10,1]}") != NULL);
  CHECK(strstr(text, "\"alpha\":1,\"beta\":0,\"bias\":true,\"activation\":\"none\"") != NULL);
  CHECK(strstr(text, "\"refs\":[[0,0,0],[1,1,0],[3,2,0],[2,12,0],[4,16,0]]") != NULL);   /* operand, tensor, bytes behind */
  free(text);
  cJSON_Delete(words);
  cawb_plan_free(p);
}

static void test_layouts(void) {
  cawb_plan *p;
  /* inputs[7] is 8 x 6 with strides {1, 8}: transposed, it is contiguous */
  const cawb_step *s = step_of(&p, "gemm{ a = inputs[7], b = inputs[2], c = outputs[1], transpose_a = true }");
  if (s != NULL) CHECK(s->gemm->a.row == 8 && s->gemm->a.column == 1 && s->gemm->m == 6);
  cawb_plan_free(p);
  s = step_of(&p, "gemm{ a = inputs[5], b = inputs[6], c = outputs[2] }");
  if (s != NULL) CHECK(s->gemm->count == 3 && s->gemm->a.batch == 48 && s->gemm->b.batch == 80);
  cawb_plan_free(p);
  /* one matrix for a whole batch: the batch is rows */
  s = step_of(&p, "gemm{ a = inputs[5], b = inputs[2], c = outputs[2] }");
  if (s != NULL) CHECK(s->gemm->count == 1 && s->gemm->m == 18 && s->gemm->b.batch == 0);
  cawb_plan_free(p);
  s = step_of(&p, "gemm{ a = inputs[1], b = inputs[6], c = outputs[2], alpha = 0.5, beta = 2 }");
  if (s != NULL) CHECK(s->gemm->count == 3 && s->gemm->a.batch == 0 && s->gemm->alpha == 0.5f && s->gemm->beta == 2);
  cawb_plan_free(p);
}

static void test_workspace_is_shared(void) {
  cawb_plan *p;
  size_t n;
  const cawb_step *s = step_of(&p,
    "gemm{ a = inputs[1], b = inputs[2], c = outputs[1], workspace = 100 }\n"
    "gemm{ a = inputs[1], b = inputs[2], c = outputs[1], workspace = 70000 }\n"
    "gemm{ a = inputs[1], b = inputs[2], c = outputs[1], workspace = 0 }\n");
  const cawb_plan_tensor *t = s != NULL ? cawb_plan_tensors(p, &n) : NULL;
  if (s != NULL) CHECK(n == 17 && t[16].spec.bytes == 70000 && t[16].role == CAWB_PLAN_SCRATCH);
  if (s != NULL) CHECK(s->operand[CAWB_OPERAND_WORKSPACE] == 0);
  cawb_plan_free(p);
  modelled = 1;
  s = step_of(&p, "gemm{ a = inputs[1], b = inputs[2], c = outputs[1] }");
  if (s != NULL) CHECK(cawb_plan_tensors(p, &n) != NULL && n == 16 && s->gemm->workspace == 4096);
  cawb_plan_free(p);
  modelled = 0;
}

static void test_views(void) {
  cawb_plan *p;
  const cawb_step *s = step_of(&p,
    "local half = view(inputs[2], { shape = {8, 5}, strides = {10, 1}, offset = 5 })\n"
    "assert(half.shape[2] == 5 and half.strides[1] == 10 and half.dtype == 'float32' and half.bytes == 300)\n"
    "assert(tostring(half) == 'view(inputs[2])')\n"
    "gemm{ a = inputs[1], b = half, c = view(outputs[1], { shape = {6, 5}, strides = {10, 1} }) }");
  if (s != NULL) CHECK(s->operand[CAWB_OPERAND_B] == 0x2000 + 20 && s->gemm->b.align == 4);
  if (s != NULL) CHECK(s->gemm->n == 5 && s->gemm->c.row == 10);
  cawb_plan_free(p);
  s = step_of(&p, "local v = view(view(inputs[5], { shape = {144} }), { shape = {6, 8}, offset = 96 })\n"
                  "gemm{ a = v, b = inputs[2], c = outputs[1] }");
  if (s != NULL) CHECK(s->operand[CAWB_OPERAND_A] == 0x5000 + 96 * 4 && s->gemm->a.align == 128);
  cawb_plan_free(p);
  CHECK(fails("view(inputs[1], { shape = {7, 7} })", "49 elements from 0 on do not fit into inputs[1], which has 48"));
  CHECK(fails("view(inputs[1], { shape = {48}, offset = 1 })", "48 elements from 1 on do not fit"));
  CHECK(fails("view(inputs[1], { shape = {2, 2}, strides = {47, 1} })", "49 elements"));
  CHECK(fails("view(inputs[1], { shape = {1 << 62, 4}, strides = {1 << 62, 1} })", "overflow"));
  CHECK(fails("view(inputs[1], { shape = {2}, strides = {1, 1} })", "2 strides for 1 dimensions"));
  CHECK(fails("view(inputs[10], { shape = {48} })", "inputs[10] is not contiguous: give 'strides' too"));
  CHECK(fails("view(inputs[1], { size = {48} })", "unknown option 'size'"));
  CHECK(fails("view(inputs[1], { shape = {0} })", "'shape' has 0"));
  CHECK(fails("view(inputs[1], { shape = {2}, offset = -1 })", "'offset' is a whole number"));
  CHECK(fails("view(inputs[1], {})", "'shape' is missing"));
  CHECK(fails("memset(view(outputs[1], { shape = {60} }))", "a view is not filled"));
}

#define GEMM(more) "gemm{ a = inputs[1], b = inputs[2], c = outputs[1]" more " }"

static void test_wrong_products(void) {
  CHECK(fails("gemm{ a = inputs[1], b = inputs[1], c = outputs[1] }",
              "8 columns do not meet 6 rows (transpose_a, transpose_b)"));
  CHECK(fails(GEMM(", transpose_b = true"), "b is 10 x 8 as they are multiplied: 8 columns do not meet 10 rows"));
  CHECK(fails("gemm{ a = inputs[5], b = inputs[6], c = outputs[1] }", "a holds 3 matrices, b 3, c 1"));
  CHECK(fails("gemm{ a = inputs[1], b = inputs[2], c = outputs[2] }", "a holds 1 matrices, b 1, c 3"));
  CHECK(fails("gemm{ a = inputs[1], b = inputs[2], c = view(outputs[1], { shape = {5, 12} }) }",
              "c is 5 x 12, the product is 6 x 10"));
  CHECK(fails("gemm{ a = inputs[4], b = inputs[2], c = outputs[1] }", "'a' is int64; it must be float32"));
  CHECK(fails("gemm{ a = inputs[8], b = inputs[2], c = outputs[1] }", "a is float16 and b is float32"));
  CHECK(fails("gemm{ a = inputs[1], b = inputs[2], c = outputs[4] }", "c is float16; of float32 factors"));
  CHECK(fails("gemm{ a = inputs[10], b = inputs[2], c = outputs[1] }",
              "'a' of shape {6, 8} has strides {16, 2}: of the last two one must be 1"));
  CHECK(fails("gemm{ a = inputs[3], b = inputs[2], c = outputs[1] }", "'a' (inputs[3]) has 1 dimension"));
  CHECK(fails("gemm{ a = inputs[1], b = inputs[2], c = inputs[1] }", "'c' is inputs[1], which cannot be written to"));
  CHECK(fails("gemm{ a = inputs[1], b = inputs[2] }", "'c' is a tensor, got nil"));
  CHECK(fails("gemm{ a = outputs[1], b = scratch{ shape = {10, 10} }, c = outputs[1] }",
              "'c' overlaps an input, both are in outputs[1]"));
  CHECK(fails("gemm(inputs[1])", "table expected"));
  CHECK(fails("local c = view(outputs[2], { shape = {3, 6, 10}, strides = {30, 10, 1} })\n"
              "gemm{ a = inputs[5], b = inputs[6], c = c }", "'c' of shape {3, 6, 10} has strides {30, 10, 1}"));
}

static void test_wrong_words(void) {
  CHECK(fails(GEMM(", betta = 1"), "unknown option 'betta' (did you mean 'beta'?)"));
  CHECK(fails(GEMM(", activation = 1"), "unknown option 'activation' (known: a, b, c"));
  CHECK(fails(GEMM(", compute = 'fp32'"), "unknown compute 'fp32' (known: float32, tf32, bf16, fp16)"));
  CHECK(fails(GEMM(", epilogue = 'gelu'"), "Write 'gelu_tanh' where the task asks for that"));
  CHECK(fails(GEMM(", epilogue = 'swish'"), "unknown epilogue 'swish'"));
  CHECK(fails(GEMM(", epilogue = 'bias'"), "epilogue 'bias' without 'bias'"));
  CHECK(fails(GEMM(", bias = inputs[3], epilogue = 'relu'"), "write 'bias_relu'"));
  CHECK(fails(GEMM(", bias = inputs[1]"), "'bias' has shape {6, 8}; it must be 10 contiguous"));
  CHECK(fails("gemm{ a = inputs[8], b = inputs[9], c = outputs[4], bias = inputs[3] }",
              "'bias' is float32; it must be float16 as c is"));
  CHECK(fails("gemm{ a = inputs[8], b = inputs[9], c = outputs[4], compute = 'tf32' }",
              "compute 'tf32' is for float32 tensors; these are float16"));
  CHECK(fails(GEMM(", alpha = 0/0"), "'alpha' is a finite number"));
  CHECK(fails(GEMM(", beta = '1'"), "'beta' is a finite number"));
  CHECK(fails(GEMM(", workspace = -1"), "'workspace' is a number of bytes"));
  CHECK(fails(GEMM(", workspace = 1 << 50"), "'workspace' is a number of bytes"));
  CHECK(fails(GEMM(", transpose_a = 1"), "'transpose_a' is true or false"));
  CHECK(fails(GEMM(", [1] = 2"), "unknown option '?'"));
}

static void test_prepare(void) {
  CHECK(fails("prepare(function() gemm{ a = inputs[1], b = inputs[2], c = scratch{ shape = {6, 10} } } end)",
              "inputs[1] cannot be used in prepare"));
  CHECK(fails("prepare(function() local s = scratch{ shape = {6, 6} }\n"
              "gemm{ a = s, b = scratch{ shape = {6, 10} }, c = outputs[1] } end)",
              "cannot be written to in prepare: use scratch"));
}

static void test_forbidden(void) {
  forbidden = 1;
  CHECK(fails(GEMM(""), "gemm: library calls are not allowed here (option plan.libraries is false)"));
  CHECK(fails("conv{}", "conv: library calls are not allowed here"));
  forbidden = 0;
}

#define CONV(more) "conv{ x = inputs[11], w = inputs[12], y = outputs[3]" more " }"

static void test_a_convolution(void) {
  cawb_plan *p;
  const cawb_step *s = step_of(&p, CONV(", activation = 'relu', compute = 'tf32'"));
  if (s == NULL) return;
  const cawb_conv *v = s->conv;
  CHECK(s->kind == CAWB_STEP_CONV && v->space == 2 && v->groups == 1 && !v->transposed);
  CHECK(v->x.shape[1] == 4 && v->w.shape[0] == 6 && v->y.shape[3] == 7 && v->stride[0] == 1);
  CHECK(v->epilogue == CAWB_EPILOGUE_RELU && v->compute == CAWB_COMPUTE_TF32);
  CHECK(cawb_conv_flops(v) == 2.0 * 588 * 4 * 9 && cawb_conv_bytes(v) == 4.0 * (648 + 216 + 588));
  cawb_plan_free(p);
  /* one dimension is two, of which the first is a single one */
  s = step_of(&p, "conv{ x = view(inputs[11], { shape = {2, 4, 81} }), w = view(inputs[12], { shape = {6, 4, 9} }),\n"
                  "y = view(outputs[3], { shape = {2, 6, 49} }), stride = {1}, padding = 0, dilation = 4 }");
  if (s == NULL) return;
  v = s->conv;
  CHECK(v->space == 2 && v->x.shape[2] == 1 && v->x.shape[3] == 81 && v->x.strides[1] == 81);
  CHECK(v->stride[0] == 1 && v->dilation[0] == 1 && v->dilation[1] == 4);
  cJSON *words = cawb_plan_describe(p, CAWB_PLAN_CALL);
  char *text = cJSON_PrintUnformatted(words);
  CHECK(strstr(text, "\"x\":[2,4,81],\"w\":[6,4,9],\"y\":[2,6,49],\"stride\":[1]") != NULL);
  free(text);
  cJSON_Delete(words);
  cawb_plan_free(p);
}

static void test_wrong_convolutions(void) {
  CHECK(fails(CONV(", padding = 1"), "y has 7 in dimension 1 of space, the convolution gives 9 (x 9, w 3, "
                                     "stride 1, padding 1, dilation 1)"));
  CHECK(fails(CONV(", groups = 2"), "w begins with {6, 4}; for 4 channels in and 6 out in 2 groups it must be {6, 2}"));
  CHECK(fails(CONV(", groups = 3"), "4 and 6 channels are no multiples of groups = 3"));
  CHECK(fails(CONV(", transposed = true"), "it must be {4, 6} (transposed)"));
  CHECK(fails(CONV(", stride = {1, 2, 3}"), "'stride' is a number or a list of 2"));
  CHECK(fails(CONV(", stride = 0"), "'stride' has 0; it must be a whole number of 1 or more"));
  CHECK(fails(CONV(", padding = -1"), "'padding' has -1"));
  CHECK(fails(CONV(", output_padding = 1"), "output_padding is for transposed = true"));
  CHECK(fails(CONV(", compute = 'bf16'"), "compute 'bf16' with float32 tensors: cuDNN offers"));
  CHECK(fails(CONV(", activation = 'gelu'"), "unknown activation 'gelu'"));
  CHECK(fails(CONV(", bias = inputs[3]"), "'bias' has shape {10}; it must be 6 contiguous"));
  CHECK(fails(CONV(", pading = 1"), "unknown option 'pading' (did you mean 'padding'?)"));
  CHECK(fails("conv{ x = inputs[1], w = inputs[12], y = outputs[3] }", "x (inputs[1]) has 2 dimensions"));
  CHECK(fails("conv{ x = inputs[11], w = inputs[2], y = outputs[3] }", "'w' (inputs[2]) has 2 dimensions, x has 4"));
  CHECK(fails("conv{ x = view(inputs[11], { shape = {2, 4, 9, 4}, strides = {324, 81, 9, 2} }), w = inputs[12],\n"
              "y = outputs[3] }", "'x' has strides {324, 81, 9, 2}; it must be contiguous, or with its channels last"));
  CHECK(fails("conv{ x = inputs[11], w = view(inputs[12], { shape = {6, 4, 3, 3} }),\n"
              "y = view(outputs[3], { shape = {6, 2, 7, 7} }) }", "w begins with {6, 4}; for 4 channels in and 2 out"));
}

int main(void) {
  cawb_err err;
  inputs = list_of(given, sizeof given / sizeof *given);
  outputs = list_of(made, sizeof made / sizeof *made);
  params = cJSON_Parse("[]");
  CHECK(inputs != NULL && outputs != NULL && params != NULL);
  CHECK(cawb_ptx_kernels(&kernels, ".version 9.0\n", NULL, &err) == CAWB_OK);
  test_a_product();
  test_layouts();
  test_workspace_is_shared();
  test_views();
  test_wrong_products();
  test_wrong_words();
  test_prepare();
  test_forbidden();
  test_a_convolution();
  test_wrong_convolutions();
  cawb_ptx_free(&kernels);
  cJSON_Delete(inputs);
  cJSON_Delete(outputs);
  cJSON_Delete(params);
  return check_report();
}
