/* test_census.c - what is counted in PTX, and who writes to what; garbage counts as nothing. */
#include "ptx/census.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static const char PTX[] =
  ".version 9.0\n.target sm_90\n.address_size 64\n"
  ".global .align 4 .u32 calls;\n.global .align 4 .b8 kept[4096];\n.const .align 4 .b8 table[16] = {1, 2};\n"
  ".global .align 4 .f32 read_only = 0f3F800000;\n"
  ".extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b) ;\n"
  ".visible .entry copy(\n\t.param .u64 y,\n\t.param .u64 .ptr .global .align 4 x,\n\t.param .u64 z,\n\t.param .u32 n\n)\n"
  ".maxntid 256, 1, 1\n{\n\t.reg .b64 %rd<8>;\n\t.loc 1 1 0\n"
  "\tld.param.u64 \t%rd1, [y];\n\tld.param.u64 \t%rd2, [x];\n\tld.param.u64 %rd7, [z];\n"
  "\tld.param.u32 %r9, [n];\n"
  "\tcvta.to.global.u64 %rd3, %rd1;\n\tcvta.to.global.u64 %rd4, %rd2;\n"
  "\tmul.wide.s32 %rd5, %r1, 4;\n\tadd.s64 %rd3, %rd3, %rd5;\n"
  "LOOP:\n\t@%p1 st.global.f32 [%rd6], %f1;\n\tadd.s64 %rd6, %rd3, 16;\n"      /* an address that comes later */
  "\t@%p2 bra LOOP;\n"
  "\tld.global.L2::evict_last.f32 %f1, [%rd4];\n\tld.global.L2::cache_hint.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4], %rd9;\n"
  "\tcreatepolicy.fractional.L2::evict_last.b64 %rd9, 1.0;\n\tprefetch.global.L2::evict_last [%rd4];\n"
  "\tmov.u64 %rd10, %clock64;\n\tmov.u32 %r2, %smid;\n\tmov.u32 %r3, %tid.x;\n"
  "\tcvt.rna.tf32.f32 %r4, %f1;\n\tcvt.rn.bf16x2.f32 %r5, %f1, %f2;\n\tcvt.f32.f16 %f5, %rs1;\n"
  "\tmma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%f1,%f2,%f3,%f4};\n"
  "\twgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, 1, 1, 1, 0, 0;\n"
  "\twmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f1};\n"
  "\tfma.rn.f32 %f1, %f2, %f3, %f4;\n\tfma.rn.ftz.f32 %f1, %f2, %f3, %f4;\n\tex2.approx.ftz.f32 %f1, %f2;\n"
  "\tmov.u64 %rd11, calls;\n\tatom.global.add.u32 %r6, [%rd11], 1;\n\tmov.u64 %rd12, kept;\n"
  "\tadd.s64 %rd13, %rd12, %rd5;\n\tst.global.u32 [%rd13+8], %r1;\n\tld.global.f32 %f7, [read_only];\n"
  "\tred.global.add.f32 [%rd3], %f1;\n\tst.volatile.shared.u32 [%r1], %r2;\n"
  "\t// begin inline asm\n\ttrap;\n\t// end inline asm\n"
  "\t{\n\t.param .b64 param0;\n\tst.param.b64 [param0+0], %rd7;\n\tcall.uni (retval0), vprintf, (param0, param0);\n\t}\n"
  "\tret;\n}\n"
  ".func helper(.param .b64 p)\n{\n\tld.param.u64 %rd1, [p];\n\tld.f32 %f1, [%rd1];\n\tret;\n}\n";

static double at(const cJSON *o, const char *a, const char *b) {
  const cJSON *group = cJSON_GetObjectItemCaseSensitive(o, a);
  const cJSON *item = b != NULL ? cJSON_GetObjectItemCaseSensitive(group, b) : group;
  return cJSON_IsNumber(item) ? item->valuedouble : -1;
}

static double use(const cJSON *f, int param, const char *how) {
  return at(cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(f, "params"), param), how, NULL);
}

static void kinds(const cJSON *f) {
  CHECK(at(f, "cache", "L2::evict_last") == 3 && at(f, "cache", "L2::cache_hint") == 1);
  CHECK(at(f, "cache", "createpolicy") == 1 && at(f, "cache", "prefetch") == 1);
  CHECK(at(f, "registers", "%clock64") == 1 && at(f, "registers", "%smid") == 1);
  CHECK(at(f, "registers", "%tid.x") == -1);
  CHECK(at(f, "narrowed", "tf32") == 1 && at(f, "narrowed", "bf16x2") == 1 && at(f, "narrowed", "f32") == -1);
  CHECK(at(f, "tensor", "tf32") == 1 && at(f, "tensor", "bf16") == 1 && at(f, "tensor", "fp16") == 1);
  CHECK(at(f, "approximate", "ex2") == 1 && at(f, "flushed", "fma") == 1 && at(f, "flushed", "ex2") == 1);
  CHECK(at(f, "arithmetic", "f32") == 2);
  CHECK(at(f, "atomics", "global.add.u32") == 1 && at(f, "atomics", "global.add.f32") == 1);
  CHECK(at(f, "stops", "trap") == 1 && at(f, "calls", "vprintf") == 1 && at(f, "order", "volatile") == 1);
  CHECK(at(f, "asm", NULL) == 1 && at(f, "loads", "global") == 3);
}

static void traffic(const cJSON *all, const cJSON *f) {
  const cJSON *v = cJSON_GetObjectItemCaseSensitive(all, "variables");
  CHECK(use(f, 0, "writes") == 1 && use(f, 0, "atomics") == 1 && use(f, 0, "reads") == 0);
  CHECK(use(f, 1, "reads") == 2 && use(f, 1, "writes") == 0);
  CHECK(use(f, 2, "escapes") == 1 && use(f, 2, "writes") == 0 && use(f, 3, "writes") == 0);
  CHECK(at(v, "calls", "atomics") == 1 && at(v, "calls", "bytes") == 4 && at(v, "calls", "writes") == 0);
  CHECK(at(v, "kept", "writes") == 1 && at(v, "kept", "bytes") == 4096);
  CHECK(at(v, "read_only", "reads") == 1 && at(v, "read_only", "writes") == 0);
  const cJSON *table = cJSON_GetObjectItemCaseSensitive(v, "table");
  CHECK(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(table, "initialised")));
  CHECK(strcmp(cJSON_GetObjectItemCaseSensitive(table, "space")->valuestring, "const") == 0);
}

/* Every prefix of a text is one that a file may be cut to. */
static void cut_short(void) {
  cawb_err err;
  for (size_t n = 0; n < sizeof PTX; n += 7) {
    char *text = strndup(PTX, n);
    cJSON *all;
    CHECK(cawb_census_new(&all, text, &err) == CAWB_OK && all != NULL);
    cJSON_Delete(all);
    free(text);
  }
}

int main(void) {
  cJSON *all;
  cawb_err err;
  CHECK(cawb_census_new(&all, PTX, &err) == CAWB_OK);
  const cJSON *functions = cJSON_GetObjectItemCaseSensitive(all, "functions");
  const cJSON *copy = cJSON_GetObjectItemCaseSensitive(functions, "copy");
  CHECK(cJSON_GetArraySize(functions) == 2 && copy != NULL);
  CHECK(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(functions, "helper"), "entry")));
  kinds(copy);
  traffic(all, copy);
  cJSON_Delete(all);
  cut_short();
  return check_report();
}
