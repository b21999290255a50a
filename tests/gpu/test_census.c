/* test_census.c - what is counted in PTX, and who writes to what; garbage counts as nothing. */
#include "gpu/ptx/census.h"

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
  "\tld.const.f32 %f8, [table+4];\n"
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
  CHECK(use(f, 2, "reads") == 1 && use(f, 2, "escapes") == 0 && use(f, 2, "writes") == 0 && use(f, 3, "writes") == 0);
  CHECK(at(v, "calls", "atomics") == 1 && at(v, "calls", "bytes") == 4 && at(v, "calls", "writes") == 0);
  CHECK(at(v, "kept", "writes") == 1 && at(v, "kept", "bytes") == 4096);
  CHECK(at(v, "read_only", "reads") == 1 && at(v, "read_only", "writes") == 0);
  const cJSON *table = cJSON_GetObjectItemCaseSensitive(v, "table");
  CHECK(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(table, "initialised")));
  CHECK(strcmp(cJSON_GetObjectItemCaseSensitive(table, "space")->valuestring, "const") == 0);
}

/* ------------------------------------------------ addresses that take a detour */

#define VARIABLES ".global .align 4 .f32 kept;\n.global .align 4 .f32 other;\n.global .align 8 .u64 cell;\n"
#define KERNEL(body) VARIABLES KERNEL_ONLY(body)
#define KERNEL_ONLY(body) \
  ".visible .entry k(.param .u64 y, .param .u64 x, .param .u64 n)\n{\n\t.local .align 8 .b8 __local_depot0[16];\n" \
  "\t.shared .align 8 .b8 s[64];\n\tld.param.u64 %rd1, [y];\n\tld.param.u64 %rd2, [x];\n\tld.param.u64 %rd3, [n];\n" \
  "\tcvta.to.global.u64 %rd4, %rd1;\n\tcvta.to.global.u64 %rd5, %rd2;\n\tmov.u64 %rd6, kept;\n" body "\tret;\n}\n"

static cJSON *census(const char *ptx) {
  cJSON *all = NULL;
  cawb_err err;
  CHECK(cawb_census_new(&all, ptx, &err) == CAWB_OK && all != NULL);
  return all;
}

static double kept(const cJSON *all, const char *how) {
  return at(cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(all, "variables"), "kept"), how, NULL);
}

static const cJSON *kernel(const cJSON *all) {
  return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(all, "functions"), "k");
}

/* How often `kept` is surely and perhaps written, and how many stores go nobody knows where. */
static void expect(const char *ptx, double writes, double maybe, double unknown) {
  cJSON *all = census(ptx);
  CHECK(kept(all, "writes") == writes && kept(all, "maybe") == maybe);
  CHECK(at(kernel(all), "unknown", "stores") == unknown);
  cJSON_Delete(all);
}

static void detours(void) {
  expect(KERNEL("\tst.global.f32 [%rd6], %f1;\n"), 1, 0, -1);
  expect(KERNEL("\tadd.s64 %rd7, %rd6, %rd3;\n\tst.global.f32 [%rd7], %f1;\n"), 1, 0, -1);          /* a number is added */
  expect(KERNEL("\tst.local.u64 [__local_depot0+8], %rd6;\n\tld.local.u64 %rd7, [%SPL];\n\tst.f32 [%rd7], %f1;\n"), 1, 0, -1);
  expect(KERNEL("\tst.shared.u64 [s], %rd6;\n\tld.shared.u64 %rd7, [s+8];\n\tst.f32 [%rd7], %f1;\n"), 1, 0, -1);
  expect(KERNEL("\tst.global.u64 [cell], %rd6;\n\tld.global.u64 %rd7, [cell];\n\tst.f32 [%rd7], %f1;\n"), 1, 0, -1);
  expect(KERNEL("\tatom.global.exch.b64 %rd8, [cell], %rd6;\n\tatom.exch.b64 %rd7, [cell], %rd3;\n\tst.f32 [%rd7], %f1;\n"), 1, 0, -1);
  expect(KERNEL("\tmov.b64 {%r1, %r2}, %rd6;\n\tshfl.sync.idx.b32 %r3|%p1, %r1, 0, 31, -1;\n\tmov.b64 %rd7, {%r3, %r2};\n"
                "\tst.f32 [%rd7], %f1;\n"), 1, 0, -1);
  expect(KERNEL("\tselp.b64 %rd7, %rd6, %rd4, %p1;\n\tst.f32 [%rd7], %f1;\n"), 0, 1, -1);            /* this or that */
  expect(KERNEL("\tst.global.u64 [%rd4], %rd6;\n\tld.global.u64 %rd7, [%rd5];\n\tst.f32 [%rd7], %f1;\n"), 1, 0, -1);
  expect(KERNEL("\tcp.async.ca.shared.global [%r9], [%rd6], 4;\n\tcp.async.bulk.prefetch.L2.global [%rd6], 16;\n"), 0, 0, -1);
  expect(KERNEL("\tcp.async.bulk.global.shared::cta.bulk_group [%rd6], [%r1], 16;\n"), 1, 0, -1);
  expect(KERNEL("\tld.global.f32 %f1, [%rd6];\n\tmov.u64 %rd7, 4096;\n\tst.global.f32 [%rd7], %f1;\n"), 0, 0, 1);
  expect(KERNEL("\tld.global.f32 %f1, [%rd6];\n\tst.shared.f32 [%r1], %f1;\n\tst.global.f32 [%rd4], %f1;\n"), 0, 0, -1);
}

/* Assembly declares registers of any name. */
static void names(void) {
  expect(KERNEL("\t{\n\t.reg .u64 a;\n\tmov.u64 a, kept;\n\tcvta.global.u64 %rd7, a;\n\t}\n\tst.f32 [%rd7], %f1;\n"), 1, 0, -1);
  expect(KERNEL("\t{\n\t.reg .u64 kept;\n\tmov.u64 kept, %rd4;\n\t}\n\tst.global.f32 [kept], %f1;\n"), 0, 1, -1);
  expect(KERNEL("\t{\n\t.param .b64 kept;\n\tst.param.b64 [kept], %rd4;\n\t}\n\tst.global.f32 [kept], %f1;\n"), 0, 1, -1);
}

static void tables(void) {
  static const char both[] = VARIABLES ".global .align 8 .u64 tab[2] = {generic(kept), generic(other)};\n"
    KERNEL_ONLY("\tmov.u64 %rd6, tab;\n\tadd.s64 %rd7, %rd6, %rd3;\n\tld.global.u64 %rd8, [%rd7];\n\tst.f32 [%rd8], %f1;\n");
  static const char one[] = VARIABLES ".global .align 8 .u64 tab = kept;\n"
    KERNEL_ONLY("\tld.global.u64 %rd8, [tab];\n\tst.f32 [%rd8], %f1;\n");
  static const char read[] = VARIABLES ".const .align 8 .u64 tab[2] = {generic(kept), generic(other)};\n"
    KERNEL_ONLY("\tld.const.u64 %rd8, [tab];\n\tld.f32 %f1, [%rd8];\n\tst.global.f32 [%rd4], %f1;\n");
  expect(both, 0, 1, -1);
  expect(one, 1, 0, -1);
  expect(read, 0, 0, -1);
}

#define HELPER ".func (.param .b64 func_retval0) helper(.param .b64 p)\n{\n\tld.param.u64 %rd1, [p];\n" \
               "\tst.f32 [%rd1], %f1;\n\tst.param.b64 [func_retval0+0], %rd1;\n\tret;\n}\n"
#define CALL(what, with) "\t{\n\t.param .b64 param0;\n\tst.param.b64 [param0+0], " with ";\n\t.param .b64 retval0;\n" \
               "\tcall.uni (retval0), " what ", (param0);\n\tld.param.b64 %rd20, [retval0+0];\n\t}\n"

/* Two calls have parameters of the same name, and each keeps its own. */
static void calls(void) {
  expect(HELPER KERNEL(CALL("helper", "%rd6")), 1, 0, -1);
  expect(HELPER KERNEL("\tld.f32 %f1, [%rd6];\n" CALL("helper", "%rd4")), 0, 0, -1);
  expect(KERNEL(CALL("mystery", "%rd6")), 0, 0, -1);
  cJSON *all = census(KERNEL(CALL("mystery", "%rd6") CALL("vprintf", "%rd4")));
  CHECK(kept(all, "escapes") == 1 && at(kernel(all), "unknown", "calls") == 1);
  CHECK(use(kernel(all), 0, "escapes") == 0 && use(kernel(all), 0, "reads") == 1);
  cJSON_Delete(all);
  all = census(HELPER KERNEL("\tmov.u64 %rd9, helper;\n" CALL("%rd9", "%rd6")));            /* by a pointer */
  CHECK(kept(all, "writes") == 1 && at(kernel(all), "unknown", "calls") == -1);
  cJSON_Delete(all);
  all = census(HELPER KERNEL(CALL("helper", "%rd4") "\tst.global.f32 [%rd20], %f1;\n"));
  CHECK(use(kernel(all), 0, "writes") == 2 && use(kernel(all), 1, "writes") == 0);
  cJSON_Delete(all);
}

/* What one kernel leaves in memory, another stores through. */
static void distant(void) {
  cJSON *all = census(".visible .entry k(.param .u64 table, .param .u64 y)\n{\n\tld.param.u64 %rd1, [table];\n"
    "\tld.param.u64 %rd2, [y];\n\tst.global.u64 [%rd1], %rd2;\n\tret;\n}\n"
    ".visible .entry j(.param .u64 table)\n{\n\tld.param.u64 %rd1, [table];\n\tld.global.u64 %rd2, [%rd1];\n"
    "\tst.global.f32 [%rd2], %f1;\n\tret;\n}\n");
  const cJSON *j = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(all, "functions"), "j");
  const cJSON *one = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(j, "distant"), 0);
  CHECK(at(one, "param", NULL) == 2 && at(one, "writes", NULL) == 1);
  CHECK(one != NULL && strcmp(cJSON_GetObjectItemCaseSensitive(one, "function")->valuestring, "k") == 0);
  CHECK(use(kernel(all), 0, "writes") == 1 && use(j, 0, "writes") == 0 && use(j, 0, "reads") == 1);
  CHECK(cJSON_GetObjectItemCaseSensitive(j, "unknown") == NULL);
  cJSON_Delete(all);
}

/* No number of variables, registers or operands is too many, up to what takes a second. */
static void many(int variables, int registers, int lost) {
  enum { LINE = 96 };
  char *text = malloc((size_t)(variables + registers + 20) * LINE), *t = text;
  for (int i = 0; i < variables; i++) t += sprintf(t, ".global .align 4 .f32 v%d;\n", i);
  t += sprintf(t, ".global .align 4 .f32 kept;\n.visible .entry k(.param .u64 y)\n{\n\tmov.u64 %%rd0, kept;\n");
  for (int i = 0; i < variables; i++) t += sprintf(t, "\tld.global.f32 %%f1, [v%d];\n", i);
  for (int i = 0; i < registers; i++) t += sprintf(t, "\tadd.s64 %%rd%d, %%rd%d, 4;\n", i + 1, i);
  sprintf(t, "\tst.global.f32 [%%rd%d], %%f1;\n\tret;\n}\n", registers);
  cJSON *all = census(text);
  CHECK(cJSON_HasObjectItem(all, "lost") == lost);
  CHECK(kept(all, "writes") == (lost ? -1 : 1) && kept(all, "bytes") == 4);
  CHECK(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(kernel(all), "params")) == !lost);
  cJSON_Delete(all);
  free(text);
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
  detours();
  names();
  tables();
  calls();
  distant();
  many(100, 20000, 0);
  many(3000, 3000, 0);
  many(20000, 60000, 1);
  return check_report();
}
