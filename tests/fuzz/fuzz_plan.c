/* fuzz_plan.c - plan.lua: recorded, bound, described; and asked for its tunables. */
#include "fuzz.h"
#include "gpu/plan/plan.h"

static const char ptx[] =
  ".visible .entry rows(.param .u64 a, .param .u64 b, .param .u32 c, .param .f32 d)\n{\n"
  "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\ncvta.to.global.u64 %rd3, %rd1;\n"
  "cvta.to.global.u64 %rd4, %rd2;\nret;\n}\n"
  ".visible .entry odd(.param .u8 a, .param .f64 b, .param .f16 c, .param .align 4 .b8 d[12]) { ret; }\n";

#define TENSOR(shape, strides, dtype, bytes) "{\"shape\":" shape ",\"strides\":" strides \
  ",\"dtype\":\"" dtype "\",\"offset\":0,\"bytes\":" bytes "}"

static cawb_kernels kernels;
static cJSON *inputs, *outputs, *params, *tunables;

static void set_up(void) {
  cawb_err err;
  if (inputs != NULL) return;
  FUZZ_CHECK(cawb_ptx_kernels(&kernels, ptx, NULL, &err) == CAWB_OK);
  inputs = cJSON_Parse("[" TENSOR("[64,256]", "[256,1]", "float32", "65536") ",{\"value\":2.5},{\"items\":["
                       TENSOR("[8]", "[1]", "float16", "16") "]},{\"value\":null}]");
  outputs = cJSON_Parse("[" TENSOR("[64,256]", "[256,1]", "float32", "65536") "]");
  params = cJSON_Parse("[{\"name\":\"fc.weight\",\"shape\":[256],\"strides\":[1],\"dtype\":\"float32\","
                       "\"offset\":0,\"bytes\":1024}]");
  tunables = cJSON_Parse("{\"block\":128}");
  FUZZ_CHECK(inputs != NULL && outputs != NULL && params != NULL && tunables != NULL);
}

static void record(const char *text, const cJSON *chosen) {
  cawb_plan_setting s = { .inputs = inputs, .outputs = outputs, .params = params, .kernels = &kernels,
    .tunables = chosen, .threads_block = 1024, .shared_block = 232448, .limits = { 2 << 20, 50000 } };
  cawb_plan *p;
  cawb_err err;
  size_t n;
  cawb_status rc = cawb_plan_new(&p, text, &s, &err);
  FUZZ_CHECK((rc == CAWB_OK) == (p != NULL) && (rc == CAWB_OK || rc == CAWB_ERR_CANDIDATE));
  if (p == NULL) return;
  cawb_plan_tensor *t = cawb_plan_tensors(p, &n);
  for (size_t i = 0; i < n; i++) t[i].addr = 4096 * (i + 1);
  cawb_plan_bind(p);
  const cawb_step *steps = cawb_plan_steps(p, CAWB_PLAN_CALL, &n);
  FUZZ_CHECK(n > 0 && steps != NULL);
  cJSON *words = cawb_plan_describe(p, CAWB_PLAN_CALL);
  char *json = cJSON_PrintUnformatted(words);
  FUZZ_CHECK(json != NULL);
  cJSON_free(json);
  cJSON_Delete(words);
  cawb_plan_free(p);
}

static void probe(const char *text) {
  cawb_plan_setting s = { .inputs = inputs, .outputs = outputs, .params = params,
    .threads_block = 1024, .shared_block = 232448, .limits = { 2 << 20, 50000 } };
  cJSON *list;
  cawb_err err;
  cawb_status rc = cawb_plan_tunables(&list, text, &s, &err);
  FUZZ_CHECK((rc == CAWB_OK) == (list != NULL));
  cJSON_Delete(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = fuzz_text(data, size);
  set_up();
  record(text, NULL);
  record(text, tunables);
  probe(text);
  free(text);
  return 0;
}
