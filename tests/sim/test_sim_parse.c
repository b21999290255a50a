/*
** test_sim_parse.c - PTX that is wrong: a status and a line, never a crash. The
** fixtures are cut short and have bytes changed at places drawn from a fixed
** sequence; under a sanitizer this is the parser's real test.
*/
#include "check.h"
#include "failing_malloc.h"
#include "sim_fixture.h"

static cawb_device *device;

static cawb_status load(const char *ptx, cawb_err *err) {
  cawb_image image = { .ptx = ptx };
  cawb_module *m = NULL;
  memset(err, 0, sizeof *err);
  cawb_status status = cawb_device_load(device, &image, &m, err);
  CHECK((status == CAWB_OK) == (m != NULL));
  cawb_device_unload(device, m);
  return status;
}

static void test_messages(void) {
  static const struct { const char *body, *says; } wrong[] = {
    { "add.s32 %r1, %r2;", "k: 'add.s32' has too few operands (PTX line 4, 'add.s32')" },
    { "add.s32 %r1, %r2, %r9;", "no register '%r9'" },
    { "add.s32 %rd1, %r1, %r1;", "register '%rd1' has the wrong size here" },
    { "mov.u32 %r1, nowhere;", "no variable 'nowhere'" },
    { "bra nowhere;", "no label 'nowhere'" },
    { "@%r1 bra L; L:", "'@' needs a predicate register" },
    { "ld.global.f32 %r1, %rd1;", "an address in brackets is due" },
    { "ld.global.u32 %r1, [%p1];", "a predicate cannot hold an address" },
    { "mov.u32 %r1, 0f3F;", "a float constant is cut short" },
    { "mov.u32 %r1, 1", "'}' where ';' is due" },
    { ".local .b8 x[99999999999];", "a number up to" },
    { "/* for ever", "a comment never ends" }
  };
  cawb_err err;
  CHECK(load("", &err) == CAWB_ERR_INVALID && strstr(err.msg, "not PTX") != NULL);
  CHECK(load("hello", &err) == CAWB_ERR_INVALID && strstr(err.msg, "line 1") != NULL);
  CHECK(load(".version 9.0\n.target sm_90\nhello", &err) == CAWB_ERR_UNSUPPORTED && strstr(err.msg, "line 3") != NULL);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char text[512];
    snprintf(text, sizeof text, ".version 9.0\n.target sm_90\n.visible .entry k(.param .u64 a) {"
             " .reg .b32 %%r<4>; .reg .b64 %%rd<4>; .reg .pred %%p<3>;\n%s }", wrong[i].body);
    cawb_status status = load(text, &err);
    CHECK(status == CAWB_ERR_UNSUPPORTED);     /* whoever made it: this device cannot run it */
    CHECK(strstr(err.msg, "the simulated device cannot run this; use a real one (--device cuda:0)") != NULL);
    if (strstr(err.msg, wrong[i].says) == NULL) fprintf(stderr, "  said: %s\n", err.msg);
    CHECK(strstr(err.msg, wrong[i].says) != NULL && strstr(err.msg, "PTX line 4") != NULL);
  }
}

/* What a compiler made and this device lacks is the candidate's misfortune, named
   with its line, whether it shows when the text is read or when the kernel is launched. */
static void test_lacking(void) {
  static const struct { const char *body, *says; } lacking[] = {
    { "wmma.load.a.sync.aligned.row.m8n8k32.shared.s4 {%r1}, [%rd1], %r1;",
      "k, kernel.cu line 7: matrix instructions of this shape and these types (wmma.load.a.sync.aligned.row.m8n8k32.shared.s4) are" },
    { "@%p1 mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r1, %r1}, {%r1}, {%r1}, {%r1};", "products of matrices of this shape" },
    { "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {%r1}, %rd1;", "warpgroup products of sparse matrices (" },
    { "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%r1, %r1}, %rd1, %rd1, 1, 1, 1, 0, 0;",
      "warpgroup products of this shape and these types (wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16) are" },
    { "tex.1d.v4.f32.s32 {%r1, %r1, %r1, %r1}, [%rd1, {%r1}];", "textures and surfaces, whose objects nothing can pass to a kernel here, (tex.1d.v4.f32.s32) are" },
    { "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], [%r2];", "copies by tensor maps (" },
    { "vmad.s32.s32.s32 %r1, %r1, %r2;", "scalar video instructions with negated operands (vmad.s32.s32.s32) are" },
    { "mov.u32 %r1, %envreg7;", "registers that a driver fills (%envreg7) are" },
    { "frobnicate.b32 %r1, %r2;", "'frobnicate.b32' is" },
    { ".loc 1 6 1\n .loc 2 99 1, function_name $L__info_string0 + 4, inlined_at 1 7 3\n frobnicate.b32 %r1, %r2;", "'frobnicate.b32' is" },
    { "mov.u64 %rd1, h;", "k, kernel.cu line 7: no variable 'h' (PTX line 6, 'mov.u64')" }
  };
  for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
    char text[1024];
    cawb_err err = { 0 };
    cawb_module *m = NULL;
    cawb_report report;
    cawb_step step = { .kind = CAWB_STEP_LAUNCH, .kernel = "k", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
    snprintf(text, sizeof text, ".version 9.0\n.target sm_90\n.func g() { ret; }\n.visible .entry k() {"
             " .reg .b32 %%r<4>; .reg .b64 %%rd<4>; .reg .pred %%p<3>;\n .loc 1 7 1\n%s }", lacking[i].body);
    cawb_status status = cawb_device_load(device, &(cawb_image){ .ptx = text }, &m, &err);
    if (status == CAWB_OK) status = cawb_device_run(device, m, &step, 1, &report, &err);
    cawb_device_unload(device, m);
    CHECK(status == CAWB_ERR_UNSUPPORTED);
    if (strstr(err.msg, lacking[i].says) == NULL) fprintf(stderr, "  said: %s\n", err.msg);
    CHECK(strstr(err.msg, lacking[i].says) != NULL && strstr(err.msg, "k, kernel.cu line 7: ") == err.msg);
    CHECK(strstr(err.msg, "the simulated device") != NULL && strstr(err.msg, "; use a real one (--device cuda:0)") != NULL);
  }
}

/* Sizes that only a candidate asks for are no shortage of this machine. */
static void test_sizes(void) {
  cawb_err err;
  char *text = malloc(1 << 17);
  size_t n = (size_t)sprintf(text, ".version 9.0\n.target sm_90\n");
  for (int i = 0; i < 3073; i++) n += (size_t)sprintf(text + n, ".global .b32 v%d;\n", i);
  CHECK(load(text, &err) == CAWB_ERR_UNSUPPORTED && strstr(err.msg, "one module variable of 4 bytes too many") != NULL);
  CHECK(load(".version 9.0\n.target sm_90\n.global .b8 a[200000000];\n.global .b8 b[200000000];", &err) == CAWB_ERR_UNSUPPORTED);
  CHECK(load(".version 9.0\n.target sm_90\n.entry k() { .local .b8 a[600000]; ret; }", &err) == CAWB_ERR_UNSUPPORTED &&
        strstr(err.msg, "local memory") != NULL);
  free(text);
}

static void test_recursion(void) {
  cawb_err err;
  CHECK(load(".version 9.0\n.target sm_90\n.func f() { call.uni f; ret; }\n.entry k() { call.uni f; ret; }", &err) == CAWB_OK);
  CHECK(load(".version 9.0\n.target sm_90\n.func (.param .b32 r) f(.param .b32 a) { .reg .b32 %x<3>; ld.param.b32 %x1, [a]; ret; }\n"
             ".func g() { .param .b32 p; .param .b32 q; call (q), f, (p); call g; call f; ret; }\n.entry k() { call.uni g; ret; }", &err) == CAWB_ERR_UNSUPPORTED);
  CHECK(strstr(err.msg, "a call has too few arguments") != NULL || strstr(err.msg, "with other parameters") != NULL);
}

static unsigned next(unsigned *seed) { return (*seed = *seed * 1664525u + 1013904223u) >> 8; }

static void test_fuzz(const char *file) {
  cawb_err err;
  unsigned seed = 42;
  char *whole = fixture_text(file);
  size_t size = strlen(whole);
  char *text = malloc(size + 1);
  for (int i = 0; i < 150; i++) {              /* cut short */
    size_t keep = next(&seed) % size;
    memcpy(text, whole, keep);
    text[keep] = '\0';
    cawb_status s = load(text, &err);
    CHECK(s == CAWB_OK || strstr(err.msg, "PTX line ") != NULL);
    CHECK(s == CAWB_OK || s == CAWB_ERR_UNSUPPORTED || keep < 1000);   /* .version itself may be cut */
  }
  static const char odd[] = "{}[]();,.:%@!-+|0f9x_$\n\"/*<>= \xff";
  for (int i = 0; i < 300; i++) {              /* a few bytes changed */
    memcpy(text, whole, size + 1);
    for (unsigned k = next(&seed) % 4 + 1; k > 0; k--) text[next(&seed) % size] = odd[next(&seed) % (sizeof odd - 1)];
    cawb_status s = load(text, &err);
    CHECK(s == CAWB_OK || strstr(err.msg, "PTX line ") != NULL);
  }
  free(text);
  free(whole);
}

/* Every allocation of open, alloc, load and run fails once; nothing leaks or stays. */
static void test_memory(void) {
  if (!FAILING_MALLOC) return;
  char *ptx = fixture_text("features.ptx");
  cawb_image image = { .ptx = ptx };
  long failed = 0;
  for (long n = 0;; n++) {
    cawb_device *d = NULL;
    cawb_module *m = NULL;
    cawb_addr a = 0;
    cawb_err err = { 0 };
    cawb_report report;
    long live = failing_live;
    failing_start(n);
    cawb_status s = open_h100(&d, &err);
    if (s == CAWB_OK) s = cawb_device_alloc(d, 4096, "a", &a, &err);
    if (s == CAWB_OK) s = cawb_device_load(d, &image, &m, &err);
    if (s == CAWB_OK) s = cawb_device_run(d, m, &(cawb_step){ .kind = CAWB_STEP_LAUNCH, .kernel = "divergence",
      .grid = { 1, 1, 1 }, .block = { 64, 1, 1 }, .args = &a, .args_size = sizeof a }, 1, &report, &err);
    failing_stop();
    CHECK(s == (failing_done ? CAWB_ERR_MEMORY : CAWB_OK));
    if (d != NULL) {
      cawb_device_unload(d, m);
      cawb_device_close(d);
    }
    CHECK(failing_live == live);
    if (!failing_done) break;
    failed++;
  }
  CHECK(failed > 50);
  free(ptx);
}

int main(void) {
  cawb_err err;
  if (open_h100(&device, &err) != CAWB_OK) return 1;
  test_messages();
  test_lacking();
  test_sizes();
  test_recursion();
  test_fuzz("basic.ptx");
  test_fuzz("features.ptx");
  cawb_device_close(device);
  test_memory();
  return check_report();
}
