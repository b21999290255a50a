/* test_ptx.c - kernels read from PTX text and ptxas' report; garbage is refused calmly. */
#include "gpu/ptx/kernels.h"
#include "gpu/ptx/report.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "gpu/ptx/mangle.h"

/* What NVRTC 13.0 writes for extern "C", a template, a struct, and inline PTX blocks. */
static const char PTX[] =
  "//\n// .entry in a comment\n//\n.version 9.0\n.target sm_90\n.address_size 64\n"
  ".extern .shared .align 16 .b8 tile[];\n"
  ".visible .entry gelu(\n\t.param .u64 gelu_param_0,\n\t.param .u64 gelu_param_1,\n"
  "\t.param .u32 gelu_param_2,\n\t.param .u64 gelu_param_3,\n\t.param .f32 gelu_param_4\n)\n"
  ".maxntid 256, 1, 1\n{\n\t.reg .b64 \t%rd<8>;\n\t.loc 1 1 0\n"
  "\tld.param.u64 \t%rd1, [gelu_param_0];\n\tld.param.u64 \t%rd2, [gelu_param_1];\n"
  "\tld.param.u64 \t%rd9, [gelu_param_3];\n"
  "\t@%p1 bra \t$L__BB0_2;\n\t{ // a block\n\tcvta.to.global.u64 \t%rd3, %rd2;\n\t}\n"
  "\tadd.s64 \t%rd5, %rd3, %rd9;\n"
  "\tld.global.v4.f32 \t{%f1, %f2, %f3, %f4}, [%rd5];\n\tmov.u64 %rd11, %rd1;\n"
  "\t@!%p2 st.f32 \t[%rd11+4], %f2;\n$L__BB0_2:\n\tret;\n}\n"
  ".weak .entry _Z4tmplIfEvPT_dfcsxPh(\n\t.param .u64 a,\n\t.param .f64 b,\n\t.param .f32 c,\n"
  "\t.param .u8 d,\n\t.param .u16 e,\n\t.param .u64 .ptr .global .align 4 f\n)\n{\n\tret;\n}\n"
  ".visible .entry _ZN3foo3barE1SPf(\n\t.param .align 8 .b8 s[24],\n\t.param .u8 c,\n"
  "\t.param .align 16 .b8 q[16]\n)\n{\n\tld.param.u64 %rd1, [s+8];\n"
  "\tcvta.to.global.u64 %rd2, %rd1;\n\tret;\n}\n"
  ".visible .entry _Z6noargsv()\n{\n\tret;\n}\n\t.file 1 \"/x/.entry y(\"\n";

static const char LOG[] =
  "kernel.cu(2): warning #1105-D: #warning directive: ptxas info\n"
  "ptxas info    : Compiling entry function 'gelu' for 'sm_90'\n"
  "ptxas info    : Used 1 registers, used 0 barriers\n"
  "ptxas info    : 0 bytes gmem\n"
  "ptxas info    : Compiling entry function 'gelu' for 'sm_90'\n"
  "ptxas info    : Function properties for gelu\n"
  "ptxas         .     16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
  "ptxas info    : Function properties for helper\n"
  "ptxas         .     99 bytes stack frame, 99 bytes spill stores, 99 bytes spill loads\n"
  "ptxas info    : Used 40 registers, used 2 barriers, 132 bytes smem, 352 bytes cmem[0], 8 bytes cmem[2]\n"
  "ptxas info    : Compiling entry function '_Z6noargsv' for 'sm_90'\n"
  "ptxas info    : Function properties for _Z6noargsv\n"
  "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
  "ptxas info    : Used 4 registers, used 0 barriers\n";

/* Printed by a source, perhaps. */
static const char ABSURD[] =
  "ptxas info    : Compiling entry function 'gelu' for 'sm_90'\n"
  "ptxas info    : Used 7 registers, 5 bytes cmem[0], 9223372036854775807 bytes cmem[2], 9 bytes smem\n"
  "ptxas info    : Used -3 registers, 9 bytes smem\n";

static int param_is(const cawb_kernel *k, size_t i, cawb_param_kind kind, size_t size, size_t offset) {
  const cawb_param *p = &k->params[i];
  return i < k->nparams && p->kind == kind && p->size == size && p->offset == offset;
}

static void parameters(const cawb_kernels *k) {
  const cawb_kernel *g = cawb_ptx_find(k, "gelu"), *t = cawb_ptx_find(k, "tmpl");
  const cawb_kernel *b = cawb_ptx_find(k, "bar"), *n = cawb_ptx_find(k, "noargs");
  CHECK(k->count == 4 && g != NULL && t != NULL && b != NULL && n != NULL);
  if (k->count != 4) return;
  CHECK(g->nparams == 5 && g->args_size == 36 && strcmp(g->plain, "gelu") == 0);
  CHECK(param_is(g, 0, CAWB_PARAM_POINTER, 8, 0));   /* moved, then a generic address */
  CHECK(param_is(g, 1, CAWB_PARAM_POINTER, 8, 8));   /* cvta.to.global */
  CHECK(param_is(g, 2, CAWB_PARAM_INT, 4, 16));
  CHECK(param_is(g, 3, CAWB_PARAM_INT, 8, 24));      /* added to an address: a stride */
  CHECK(param_is(g, 4, CAWB_PARAM_FLOAT, 4, 32));
  CHECK(param_is(t, 0, CAWB_PARAM_INT, 8, 0) && param_is(t, 1, CAWB_PARAM_FLOAT, 8, 8));
  CHECK(param_is(t, 3, CAWB_PARAM_INT, 1, 20) && param_is(t, 4, CAWB_PARAM_INT, 2, 22));
  CHECK(param_is(t, 5, CAWB_PARAM_POINTER, 8, 24) && t->params[5].align == 8);
  CHECK(strcmp(t->name, "_Z4tmplIfEvPT_dfcsxPh") == 0);
  CHECK(param_is(b, 0, CAWB_PARAM_BYTES, 24, 0) && b->params[0].align == 8);
  CHECK(param_is(b, 2, CAWB_PARAM_BYTES, 16, 32) && b->args_size == 48);
  CHECK(n->nparams == 0 && n->args_size == 0);
}

static void report(const cawb_kernels *k) {
  const cawb_kernel *g = cawb_ptx_find(k, "gelu"), *n = cawb_ptx_find(k, "noargs");
  const cawb_kernel *t = cawb_ptx_find(k, "tmpl");
  CHECK(g->registers == 40 && g->barriers == 2 && g->shared == 132 && g->constant == 360);
  CHECK(g->stack == 16 && g->spill_stores == 4 && g->spill_loads == 8);
  CHECK(n->registers == 4 && n->shared == 0 && n->stack == 0 && n->constant == -1);
  CHECK(t->registers == -1 && t->shared == -1 && t->spill_loads == -1 && t->barriers == -1);
}

static void finding(void) {
  cawb_kernels k;
  cawb_err err;
  CHECK(cawb_ptx_kernels(&k, ".entry _Z1kIfEvv() {} .entry _Z1kIdEvv() {}", NULL, &err) == CAWB_OK);
  CHECK(k.count == 2 && cawb_ptx_find(&k, "k") == NULL);  /* ambiguous */
  CHECK(cawb_ptx_find(&k, "_Z1kIdEvv") == &k.list[1]);
  CHECK(cawb_ptx_find(&k, "nothing") == NULL);
  cawb_ptx_free(&k);
  CHECK(cawb_ptx_kernels(&k, "", "", &err) == CAWB_OK && k.count == 0);
  cawb_ptx_free(&k);
}

static void names(void) {
  static const char *const table[][2] = {
    { "softmax", "softmax" }, { "_Z12softmax_rowsPfPKfi", "softmax_rows" },
    { "_Z4tmplIfEvPT_", "tmpl" }, { "_ZL6staticv", "static" },
    { "_ZN3foo3barE1SPf", "bar" }, { "_ZN12_GLOBAL__N_13barEv", "bar" },
    { "_ZN3fooIiLi128EE3barIN1a1bEEEvv", "bar" }, { "_ZN1nILb1ELi4EE4workE", "work" },
    { "_ZN1nIS0_A10_fDF16_E4workIJifEEEvT0_", "work" },
    { "_Z", "_Z" }, { "_Z99short", "_Z99short" }, { "_ZN3foo", "_ZN3foo" },
    { "_ZN1aIXE", "_ZN1aIXE" }, { "_Z0", "_Z0" }, { "", "" }
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    char *plain = cawb_mangle_plain(table[i][0]);
    CHECK(plain != NULL && strcmp(plain, table[i][1]) == 0);
    free(plain);
  }
}

/* A kernel waits where each thread comes to it ahead of memory: nothing jumps past it, and nothing is loaded or stored before. */
static int waits(const char *body) {
  char text[1024];
  cawb_kernels k;
  cawb_err err;
  snprintf(text, sizeof text, ".version 9.0\n.target sm_90\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %%rd<3>;\n%s\nret;\n}\n", body);
  CHECK(cawb_ptx_kernels(&k, text, NULL, &err) == CAWB_OK && k.count == 1);
  int found = k.count == 1 && k.list[0].waits;
  cawb_ptx_free(&k);
  return found;
}

static void waiting(void) {
  CHECK(waits("ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nadd.s64 %rd2, %rd2, 4;\n// begin\ngriddepcontrol.wait;\nld.global.u32 %r1, [%rd2];"));
  CHECK(!waits("ld.param.u64 %rd1, [p];"));
  CHECK(!waits("griddepcontrol.launch_dependents;\n@%p1 griddepcontrol.wait;"));
  CHECK(!waits("@%p1 bra $L1;\ngriddepcontrol.wait;\n$L1:"));
  CHECK(!waits("$L1:\ngriddepcontrol.wait;"));
  CHECK(!waits("ld.global.u32 %r1, [%rd2];\ngriddepcontrol.wait;"));
  CHECK(!waits("st.global.u32 [%rd2], %r1;\ngriddepcontrol.wait;"));
  CHECK(!waits("red.global.add.u32 [%rd2], 1;\ngriddepcontrol.wait;"));
  CHECK(!waits("prefetch.global.L1 [%rd2];\ngriddepcontrol.wait;"));
  CHECK(!waits("call.uni f, ();\ngriddepcontrol.wait;"));
  CHECK(!waits("griddepcontrol.wait;\nld.global.nc.v2.f32 {%f1, %f2}, [%rd2];"));
  CHECK(!waits("griddepcontrol.wait;\n@!%p1 ld.global.nc.f32 %f1, [%rd2];"));
  CHECK(!waits("ret;\ngriddepcontrol.wait;"));
}

static void refusals(void) {
  static const char *const bad[] = {
    ".entry", ".entry k(", ".entry k(.param", ".entry k(.param .u64", ".entry k(.param .u64 a",
    ".entry k(.param .u64 a,", ".entry k(.param .u64 a,)", ".entry k(.u64 a) {}",
    ".entry k(.param .q64 a) {}", ".entry k(.param .b8 a[x]) {}", ".entry k(.param .b8 a[4) {}",
    ".entry k(.param .align 3 .b8 a[4]) {}", ".entry k()", ".entry k() {", ".entry k() { {} ",
    ".entry k() { add {a, b ; "
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cawb_kernels k;
    cawb_err err = { 0 };
    CHECK(cawb_ptx_kernels(&k, bad[i], NULL, &err) == CAWB_ERR_INVALID);
    CHECK(k.list == NULL && k.count == 0 && strstr(err.msg, "broken") != NULL);
  }
}

/* Every prefix, and every text with one byte changed: no crash, no leak (ASan). */
static void mutations(void) {
  size_t size = sizeof PTX - 1, log_size = sizeof LOG - 1;
  char *ptx = malloc(size + 1), *log = malloc(log_size + 1);
  cawb_kernels k;
  if (ptx == NULL || log == NULL) return;
  for (size_t i = 0; i <= size; i++) {
    memcpy(ptx, PTX, size + 1);
    ptx[i] = '\0';
    char *exact = strdup(ptx);   /* its end is the heap block's end */
    if (exact != NULL) cawb_ptx_kernels(&k, exact, LOG, NULL);
    cawb_ptx_free(&k);
    free(exact);
    memcpy(ptx, PTX, size + 1);
    if (i < size) ptx[i] = "{}[]();:,@\"/*.\x80"[i % 15];
    cawb_ptx_kernels(&k, ptx, LOG, NULL);
    cawb_ptx_free(&k);
  }
  for (size_t i = 0; i <= log_size; i++) {
    memcpy(log, LOG, log_size + 1);
    log[i] = '\0';
    char *exact = strdup(log);
    CHECK(exact != NULL && cawb_ptx_kernels(&k, PTX, exact, NULL) == CAWB_OK);
    cawb_ptx_free(&k);
    free(exact);
  }
  free(ptx);
  free(log);
}

int main(void) {
  cawb_kernels k;
  cawb_err err = { 0 };
  CHECK(cawb_ptx_kernels(&k, PTX, LOG, &err) == CAWB_OK);
  parameters(&k);
  report(&k);
  cawb_ptx_report(&k, ABSURD);
  CHECK(cawb_ptx_find(&k, "gelu")->registers == 7 && cawb_ptx_find(&k, "gelu")->constant == 5);
  CHECK(cawb_ptx_find(&k, "gelu")->shared == 0);
  cawb_ptx_free(&k);
  CHECK(k.list == NULL && k.count == 0);
  finding();
  names();
  refusals();
  waiting();
  mutations();
  return check_report();
}
