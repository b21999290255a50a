/* test_plan.c - what a plan may say, and what an agent reads when it is wrong. */
#include "gpu/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "check.h"

static const char ptx[] =
  ".version 9.0\n.target sm_90\n.address_size 64\n"
  ".visible .entry rows(\n.param .u64 rows_param_0,\n.param .u64 rows_param_1,\n"
  ".param .u32 rows_param_2,\n.param .f32 rows_param_3\n)\n{\n"
  "ld.param.u64 %rd1, [rows_param_0];\nld.param.u64 %rd2, [rows_param_1];\n"
  "cvta.to.global.u64 %rd3, %rd1;\ncvta.to.global.u64 %rd4, %rd2;\nret;\n}\n"
  ".visible .entry waits(.param .u64 p)\n{\ngriddepcontrol.wait;\nst.global.u32 [p], 1;\nret;\n}\n";

static const char inputs_json[] =
  "[{\"shape\":[64,256],\"strides\":[256,1],\"dtype\":\"float32\",\"offset\":0,\"bytes\":65536},"
  "{\"value\":2.5},{\"items\":[{\"shape\":[8],\"strides\":[1],\"dtype\":\"float16\","
  "\"offset\":65536,\"bytes\":16}]}]";
static const char outputs_json[] =
  "[{\"shape\":[64,256],\"strides\":[256,1],\"dtype\":\"float32\",\"offset\":0,\"bytes\":65536}]";
static const char params_json[] =
  "[{\"name\":\"fc.weight\",\"shape\":[256],\"strides\":[1],\"dtype\":\"float32\",\"offset\":0,"
  "\"bytes\":1024},{\"name\":\"fc.bias\",\"shape\":[256],\"strides\":[1],\"dtype\":\"float32\","
  "\"offset\":1024,\"bytes\":1024}]";

static cJSON *inputs, *outputs, *params;
static cawb_kernels kernels;

static cawb_plan_setting setting(const cJSON *tunables) {
  return (cawb_plan_setting){ .inputs = inputs, .outputs = outputs, .params = params,
    .kernels = &kernels, .tunables = tunables, .threads_block = 1024,
    .shared_block = 232448, .limits = { 8 << 20, 5000000 } };
}

static const char *fault(const char *text) {
  static cawb_err err;
  cawb_plan *p;
  cawb_plan_setting s = setting(NULL);
  err.msg[0] = '\0';
  cawb_status rc = cawb_plan_new(&p, text, &s, &err);
  CHECK(rc == CAWB_OK || rc == CAWB_ERR_CANDIDATE);
  CHECK((rc == CAWB_OK) == (p != NULL));
  cawb_plan_free(p);
  return rc == CAWB_OK ? "" : err.msg;
}

static int fails(const char *text, const char *with) {
  const char *got = fault(text);
  if (strstr(got, with) != NULL) return 1;
  fprintf(stderr, "expected '%s' in '%s'\n", with, got);
  return 0;
}

#define GOOD "launch('rows', { grid = 64, block = 256 }, outputs[1], inputs[1], 256, 1.5)"

static void test_records_a_launch(void) {
  cawb_err err;
  cawb_plan *p;
  size_t n;
  cawb_plan_setting s = setting(NULL);
  CHECK(cawb_plan_new(&p, GOOD, &s, &err) == CAWB_OK);
  cawb_plan_tensor *t = cawb_plan_tensors(p, &n);
  for (size_t i = 0; i < n; i++) t[i].addr = 0x1000 * (i + 1);
  CHECK(n == 5 && t[0].role == CAWB_PLAN_INPUT && t[2].role == CAWB_PLAN_OUTPUT);
  cawb_plan_bind(p);
  const cawb_step *steps = cawb_plan_steps(p, CAWB_PLAN_CALL, &n);
  CHECK(n == 1 && steps[0].grid[0] == 64 && steps[0].block[0] == 256 && steps[0].grid[1] == 1);
  const unsigned char *args = steps[0].args;
  uint64_t out, in;
  int32_t cols;
  float f;
  memcpy(&out, args, 8);
  memcpy(&in, args + 8, 8);
  memcpy(&cols, args + 16, 4);
  memcpy(&f, args + 20, 4);
  CHECK(out == 0x3000 && in == 0x1000 && cols == 256 && f == 1.5f);
  cJSON *words = cawb_plan_describe(p, CAWB_PLAN_CALL);
  char *text = cJSON_PrintUnformatted(words);
  CHECK(strstr(text, "\"args\":[\"outputs[1]\",\"inputs[1]\",256,1.5]") != NULL);
  free(text);
  cJSON_Delete(words);
  words = cawb_plan_export(p);
  text = cJSON_PrintUnformatted(words);
  CHECK(strstr(text, "\"prepare\":[],\"call\":[{\"kind\":\"launch\"") != NULL);
  CHECK(strstr(text, "\"refs\":[[0,2,0],[8,0,0]]") != NULL);            /* y, the third tensor, and x */
  CHECK(strstr(text, "000100000000c03f\"") != NULL);                    /* 256 and 1.5f close the block */
  free(text);
  cJSON_Delete(words);
  cawb_plan_free(p);
}

static void test_sees_shapes_not_data(void) {
  CHECK(fails("assert(inputs[1].shape[2] == 256 and inputs[2] == 2.5)\n"
              "assert(inputs[3][1].dtype == 'float16' and params['fc.weight'].numel == 256)\n"
              "local names = {} for name in pairs(params) do names[#names + 1] = name end\n"
              "assert(table.concat(names, ' ') == 'fc.weight fc.bias')\n" GOOD, "") &&
        *fault(GOOD) == '\0');
  CHECK(fails("local d = inputs[1].data", "inputs[1] has no field 'data'"));
  CHECK(fails("local p = params['fc.wieght']", "no parameter 'fc.wieght'"));
}

static void test_misuse_says_what_to_do(void) {
  CHECK(fails("", "launches nothing"));
  CHECK(fails("launch('row', { grid = 1, block = 1 })", "no kernel 'row' in kernel.cu (it has: rows, waits)"));
  CHECK(fails("launch('rows', { grid = 1, block = 1 }, outputs[1])",
              "rows takes 4 arguments (pointer, pointer, int32, float), got 1"));
  CHECK(fails("launch('rows', { grid = 1, block = 1 }, 1, inputs[1], 1, 1)",
              "argument 1 of rows is a pointer, got number"));
  CHECK(fails("launch('rows', { grid = 1, block = 1 }, outputs[1], inputs[1], inputs[1], 1)",
              "argument 3 of rows is a int32, got a tensor"));
  CHECK(fails("launch('rows', { grid = 1, block = 1 }, outputs[1], inputs[1], 1.5, 1)",
              "argument 3 of rows is a int32"));
  CHECK(fails("launch('rows', { grid = 1, block = 1 }, outputs[1], inputs[1], 1 << 40, 1)",
              "does not fit in 32 bits"));
  CHECK(fails("launch('rows', { grid = 0, block = 1 }, outputs[1], inputs[1], 1, 1)",
              "'grid' has 0 in dimension 1"));
  CHECK(fails("launch('rows', { grid = 1.5, block = 1 })", "'grid' must be whole numbers"));
  CHECK(fails("launch('rows', { block = 1 })", "'grid' is missing"));
  CHECK(fails("launch('rows', { grid = 1, block = 2048 })", "a block of 2048 x 1 x 1 threads"));
  CHECK(fails("launch('rows', { grid = 1, block = {32, 33} })", "the device allows 1024"));
  CHECK(fails("launch('rows', { grid = 1, block = 1, shared = 1 << 20 })", "the device allows 232448"));
  CHECK(fails("launch('rows', { grid = 1, block = 1, smem = 4 })", "unknown option 'smem'"));
  CHECK(fails("launch('rows', { grid = {1, 70000}, block = 1 })", "end at 65535"));
  CHECK(fails("\n\nlaunch('rows', {})", "plan.lua:3:"));
}

#define WAITS(more) "launch('waits', { grid = 1, block = 1" more " }, outputs[1])\n"

static void test_dependent_launches(void) {
  cawb_err err;
  cawb_plan *p;
  size_t n = 0;
  cawb_plan_setting s = setting(NULL);
  CHECK(cawb_plan_new(&p, GOOD "\n" WAITS(", dependent = true") WAITS(", dependent = false"), &s, &err) == CAWB_OK);
  const cawb_step *steps = cawb_plan_steps(p, CAWB_PLAN_CALL, &n);
  CHECK(n == 3 && !steps[0].dependent && steps[1].dependent && !steps[2].dependent);
  cJSON *all = cawb_plan_export(p), *call = cJSON_GetObjectItem(all, "call");
  for (int i = 0; i < 3; i++) CHECK(cJSON_IsTrue(cJSON_GetObjectItem(cJSON_GetArrayItem(call, i), "dependent")) == (i == 1));
  cJSON_Delete(all);
  cawb_plan_free(p);
  CHECK(cawb_plan_new(&p, WAITS("") "launch('rows', { grid = 64, block = 256, dependent = true }, outputs[1], inputs[1], 256, 1.5)", &s,
                      &err) == CAWB_OK);
  CHECK(!cawb_plan_steps(p, CAWB_PLAN_CALL, &n)[1].dependent);         /* a kernel that does not wait */
  cawb_plan_free(p);
  CHECK(fails(WAITS(", dependent = true"), "'dependent' is for a launch right behind another one in the same phase"));
  CHECK(fails(WAITS("") "memset(outputs[1])\n" WAITS(", dependent = true"), "right behind another one"));
  CHECK(fails("local s = scratch(4) prepare(function() launch('waits', { grid = 1, block = 1 }, s) end)\n" WAITS(", dependent = true"),
              "right behind another one"));
  CHECK(fails(WAITS("") WAITS(", dependent = true, cooperative = true"), "'dependent' and 'cooperative' exclude each other"));
  CHECK(fails(WAITS("") WAITS(", dependent = 1"), "'dependent' must be true or false"));
}

static void test_scratch_memset_prepare(void) {
  CHECK(*fault("local s = scratch{ shape = {4, 4}, dtype = 'float32' } memset(s, 1) memset(outputs[1])\n"
               GOOD) == '\0');
  CHECK(fails("scratch(0)", "positive"));
  CHECK(fails("scratch{ shape = {1}, dtype = 'float7' }", "unknown dtype 'float7'"));
  CHECK(fails("scratch{ shape = {1 << 40, 1 << 40} }", "overflows"));
  CHECK(fails("memset(inputs[1])", "inputs[1] is not an output or scratch"));
  CHECK(*fault("local s = scratch(1024) prepare(function(p) launch('rows', { grid = 1, block = 32 },"
               " s, p['fc.weight'], 1, 1) end) " GOOD) == '\0');
  CHECK(fails("prepare(function() launch('rows', { grid = 1, block = 1 }, outputs[1], inputs[1], 1, 1) end)",
              "cannot be used in prepare"));
  CHECK(fails("prepare(function() prepare(function() end) end)", "prepare inside prepare"));
}

static void test_tunables(void) {
  cawb_err err;
  cJSON *list;
  cawb_plan_setting s = setting(NULL);
  const char *text = "local t = tunables{ vec = {1, 4}, block = {256, 128} }\n"
                     "launch('rows', { grid = 64, block = t.block }, outputs[1], inputs[1], t.vec, 0)";
  CHECK(cawb_plan_tunables(&list, text, &s, &err) == CAWB_OK);
  char *json = cJSON_PrintUnformatted(list);
  CHECK(strcmp(json, "[{\"name\":\"block\",\"values\":[256,128]},{\"name\":\"vec\",\"values\":[1,4]}]") == 0);
  free(json);
  cJSON_Delete(list);
  CHECK(cawb_plan_tunables(&list, GOOD, &s, &err) == CAWB_OK && cJSON_GetArraySize(list) == 0);
  cJSON_Delete(list);

  cJSON *chosen = cJSON_Parse("{\"block\":128}");
  cawb_plan *p;
  size_t n;
  s = setting(chosen);
  CHECK(cawb_plan_new(&p, text, &s, &err) == CAWB_OK);
  CHECK(cawb_plan_steps(p, CAWB_PLAN_CALL, &n)[0].block[0] == 128);
  cawb_plan_free(p);
  cJSON_Delete(chosen);
  chosen = cJSON_Parse("{\"block\":64}");
  s = setting(chosen);
  CHECK(cawb_plan_new(&p, text, &s, &err) == CAWB_ERR_CANDIDATE);
  CHECK(strstr(err.msg, "64 is chosen for 'block', whose values are [") != NULL);
  cJSON_Delete(chosen);
  CHECK(fails("tunables{ block = 3 }", "write tunables"));
  CHECK(fails("tunables{ ['a b'] = {1} }", "cannot be the name of a define"));
  CHECK(fails("tunables{ a = {'x; system'} }", "whole numbers or plain words"));
  CHECK(fails("tunables{ a = {1} } tunables{ a = {1} }", "call it once"));
}

/* What launch() takes is only worth something if nothing else passes for it. */
static void test_numbers_that_are_none(void) {
#define LAUNCH(config) "launch('rows', " config ", outputs[1], inputs[1], 256, 1.5)"
  CHECK(fails(LAUNCH("{ grid = 0/0, block = 1 }"), "whole numbers"));
  CHECK(fails(LAUNCH("{ grid = 1/0, block = 1 }"), "whole numbers"));
  CHECK(fails(LAUNCH("{ grid = {x = 8}, block = 1 }"), "a list of up to three"));
  CHECK(fails(LAUNCH("{ grid = {1, 1, 1, 2}, block = 1 }"), "a list of up to three"));
  CHECK(fails(LAUNCH("{ grid = {8, true}, block = 1 }"), "whole numbers"));
  CHECK(*fault(LAUNCH("{ grid = {8, nil, 2}, block = {32, 2} }")) == '\0');
  CHECK(fails(LAUNCH("{ grid = 1, block = 1, shared = -1 }"), "negative"));
  CHECK(fails(LAUNCH("params"), "unknown option"));
  CHECK(fails("launch('rows', { grid = 1, block = 1 }, outputs[1], inputs[1], 0/0, 1)", "is a int32"));
  CHECK(*fault("launch('rows', { grid = 1, block = 1 }, outputs[1], inputs[1], -1, -1/0)") == '\0');
  CHECK(fails("memset(outputs[1], 1 << 40)", "no pattern of 32 bits"));
  CHECK(*fault("memset(outputs[1], 0xffffffff) memset(outputs[1], -1) " GOOD) == '\0');
  CHECK(fails("scratch(1.5)", "whole numbers, got 1.5"));
  CHECK(fails("scratch{ shape = {2, 0/0} }", "whole numbers"));
  CHECK(fails("scratch{ shape = {4}, dype = 'float64' }", "unknown option 'dype'"));
  CHECK(fails("scratch(math.maxinteger) scratch(1 << 62) " GOOD, "") );
  CHECK(fails("local s = {} for i = 0, 40 do s[1 << i] = 1 end scratch{ shape = s }", "scratch: "));
  CHECK(fails("for i = 1, 20000 do scratch(4) end", "more than 16384 tensors"));
  CHECK(fails("for i = 1, 20000 do memset(outputs[1]) end", "more than 16384 steps"));
}

/* A probe must not take what went wrong in tunables{} for a declaration. */
static void test_faulty_tunables_are_told(void) {
  static const char *const faulty[] = { "tunables{ a = {'x; system'} }", "tunables{ a = 3 }",
    "tunables{ [''] = {1} }", "tunables{ ['a\\0b'] = {1} }", "tunables{ a = {'b\\0c'} }",
    "tunables{ a = {1.5} }", "tunables{ a = {(1 << 53) + 1} }", "tunables{ a = {1, nil, {}} }" };
  for (size_t i = 0; i < sizeof faulty / sizeof *faulty; i++) {
    cawb_err err;
    cJSON *list;
    cawb_plan_setting s = setting(NULL);
    CHECK(cawb_plan_tunables(&list, faulty[i], &s, &err) == CAWB_ERR_CANDIDATE);
    CHECK(list == NULL && strstr(err.msg, "tunables: ") != NULL);
  }
}

/* Parameters that C++ does not make but PTX may: none must be written beyond. */
static void test_odd_parameters(void) {
  static const char odd[] = ".entry odd(.param .f16 a, .param .b128 b, .param .u8 c, .param .f64 d) { ret; }";
  cawb_err err;
  cawb_kernels whole = kernels;
  CHECK(cawb_ptx_kernels(&kernels, odd, NULL, &err) == CAWB_OK);
  CHECK(fails("launch('odd', { grid = 1, block = 1 }, 1, 1, 1, 1)", "argument 1 of odd is a float16"));
  cawb_ptx_free(&kernels);
  CHECK(cawb_ptx_kernels(&kernels, ".entry odd(.param .b128 b) { ret; }", NULL, &err) == CAWB_OK);
  CHECK(fails("launch('odd', { grid = 1, block = 1 }, 1)", "argument 1 of odd is a int128"));
  cawb_ptx_free(&kernels);
  kernels = whole;
}

/* Memory outside of the sandbox grows with a plan as well. */
static void test_arguments_are_counted(void) {
  cawb_bytes b = { 0 };
  cawb_err err;
  cawb_kernels whole = kernels;
  cawb_bytes_text(&b, ".entry many(.param .u32 a0");
  for (int i = 1; i < 200; i++) cawb_bytes_print(&b, ", .param .u32 a%d", i);
  cawb_bytes_text(&b, ") { ret; }");
  CHECK(cawb_ptx_kernels(&kernels, b.data, NULL, &err) == CAWB_OK);
  CHECK(fails("local t = {} for i = 1, 200 do t[i] = i end\n"
              "for i = 1, 4000 do launch('many', { grid = 1, block = 1 }, table.unpack(t)) end",
              "more than 262144 arguments"));
  cawb_ptx_free(&kernels);
  cawb_bytes_free(&b);
  kernels = whole;
}

static void test_inputs_that_are_no_plain_numbers(void) {
  cawb_err err;
  cawb_plan *p;
  cJSON *odd = cJSON_Parse("[{\"value\":1e300},{\"value\":-9223372036854775808},{\"value\":null},"
                           "{\"value\":\"s\"},{\"items\":7},{\"value\":{}}]");
  cawb_plan_setting s = setting(NULL);
  s.inputs = odd;
  CHECK(cawb_plan_new(&p, "assert(inputs[1] == 1e300 and inputs[2] == math.mininteger and inputs[3] == false)\n"
                      "assert(inputs[4] == 's' and #inputs[5] == 0 and inputs[6] == false) memset(outputs[1])",
                      &s, &err) == CAWB_OK);
  cawb_plan_free(p);
  cJSON_Delete(odd);
}

int main(void) {
  cawb_err err;
  inputs = cJSON_Parse(inputs_json);
  outputs = cJSON_Parse(outputs_json);
  params = cJSON_Parse(params_json);
  CHECK(cawb_ptx_kernels(&kernels, ptx, NULL, &err) == CAWB_OK);
  test_records_a_launch();
  test_sees_shapes_not_data();
  test_misuse_says_what_to_do();
  test_dependent_launches();
  test_scratch_memset_prepare();
  test_tunables();
  test_numbers_that_are_none();
  test_faulty_tunables_are_told();
  test_odd_parameters();
  test_arguments_are_counted();
  test_inputs_that_are_no_plain_numbers();
  cawb_ptx_free(&kernels);
  cJSON_Delete(inputs);
  cJSON_Delete(outputs);
  cJSON_Delete(params);
  return check_report();
}
