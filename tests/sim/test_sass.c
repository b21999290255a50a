/*
** test_sass.c - how many instructions of the machine code a launch would have issued: of code put
** together here, whose loop is unrolled as ptxas does it; of damaged files, which must not
** hurt; and of what NVRTC makes, where that is at hand (else it says "skipped", unless
** CAWB_REQUIRE_NVRTC=1).
*/
#include <math.h>

#include "check.h"
#include "gpu/compile/nvrtc.h"
#include "failing_malloc.h"
#include "sim/sass/sass.h"
#include "sim_fixture.h"
#include "tiny_cubin.h"

/* ---------------------------------------------------- machine code, by hand */

static const char PTX[] =
  ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
  ".reg .b32 %r<2>; .reg .pred %q; .reg .b64 %rd<2>;\n"
  "ld.param.u64 %rd1, [p];\n"          /* line 7 */
  "mov.u32 %r1, 0;\n"
  "L:\n"
  "add.s32 %r1, %r1, 1;\n"             /* 10 */
  "st.global.u32 [%rd1], %r1;\n"
  "setp.lt.s32 %q, %r1, 10;\n"
  "@%q bra L;\n"
  "ret;\n}\n";                         /* 14 */

typedef struct insn { uint16_t op; uint8_t guard; int8_t line; int target; } insn;

enum { LOAD = 0xb82, STORE = 0x986, ADD = 0x810, COMPARE = 0x20c, JUMP = 0x947, EXIT = 0x94d, ALWAYS = 7 };

/* Four turns of the loop at a time, and what remains one by one. */
static const insn CODE[] = {
  { LOAD, ALWAYS, 7, -1 }, { LOAD, ALWAYS, 8, -1 },
  { STORE, ALWAYS, 11, -1 }, { STORE, ALWAYS, 11, -1 }, { STORE, ALWAYS, 11, -1 }, { STORE, ALWAYS, 11, -1 },
  { ADD, ALWAYS, 10, -1 }, { COMPARE, ALWAYS, 12, -1 }, { JUMP, 0, 13, 2 },
  { STORE, ALWAYS, 11, -1 }, { ADD, ALWAYS, 10, -1 }, { COMPARE, ALWAYS, 12, -1 }, { JUMP, 0, 13, 9 },
  { EXIT, ALWAYS, 14, -1 }, { JUMP, ALWAYS, 14, 14 }, { 0x918, ALWAYS, 14, -1 }
};
enum { COUNT = sizeof CODE / sizeof *CODE, ISSUED = 2 + 2 * 7 + 2 * 4 + 1 };

/* As sm_90 has it, or as sm_80. */
static void put_insn(unsigned char *out, int i, int split) {
  const insn *in = &CODE[i];
  uint64_t low = in->op | (uint64_t)in->guard << 12, high = 7u << 23;
  int64_t words = in->target >= 0 ? (in->target - i - 1) * 4 : 0;
  uint64_t far = (uint64_t)(split ? words >> 8 : words) & ((UINT64_C(1) << 48) - 1);
  if (split) low |= (uint64_t)(words & 255) << 16;
  low |= far << 34;
  high |= far >> 30;
  memcpy(out + 16 * i, &low, 8);
  memcpy(out + 16 * i + 8, &high, 8);
}

static size_t add_bytes(unsigned char *out, size_t at, const char *bytes, size_t size) {
  memcpy(out + at, bytes, size);
  return at + size;
}

/* A unit of DWARF 2 that says each line by itself, or by special opcodes. */
static size_t put_lines(unsigned char *out, int special, uint64_t *place) {
  static const char head[] = { 2, 0, 16, 0, 0, 0, 1, 1, -5, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0 };
  size_t at = add_bytes(out, 4, head, sizeof head);
  at = add_bytes(out, at, "\0\11\2\0\0\0\0\0\0\0\0", 11);
  *place = at - 8;
  int line = 1;
  for (int i = 0; i < COUNT; i++) {
    int step = CODE[i].line - line;
    if (special && i > 0 && step >= -5 && step <= 8) out[at++] = (unsigned char)(10 + 14 * 16 + step + 5);
    else {
      if (i > 0) at = add_bytes(out, at, "\2\20", 2);
      out[at++] = 3;
      out[at++] = step & 127;
      out[at++] = 1;
    }
    line = CODE[i].line;
  }
  at = add_bytes(out, at, "\2\20\0\1\1", 5);
  uint32_t size = (uint32_t)at - 4;
  memcpy(out, &size, 4);
  return at;
}

static size_t put_cubin(unsigned char *out, size_t room, int split, int special) {
  unsigned char text[16 * COUNT], lines[256];
  uint64_t place;
  for (int i = 0; i < COUNT; i++) put_insn(text, i, split);
  size_t size = put_lines(lines, special, &place);
  return tiny_make(out, room, text, sizeof text, lines, size, place);
}

/* ------------------------------------------------------------------- counts */

static double value_of(const cawb_profile *p, const char *name) {
  for (size_t i = 0; i < p->count; i++) if (strcmp(p->list[i].metric, name) == 0) return p->list[i].value;
  return NAN;
}

/* What a launch of k counts; its arguments are gathered already and stay. */
static double count(sim_fixture *x, const char *name, unsigned grid, unsigned block) {
  cawb_profile p = { 0 };
  cawb_step s = { .kind = CAWB_STEP_LAUNCH, .kernel = "k", .grid = { grid, 1, 1 }, .block = { block, 1, 1 },
                  .cluster = { 1, 1, 1 }, .args = x->args, .args_size = x->args_size };
  cawb_status rc = cawb_device_profile(x->d, x->m, &s, 1, NULL, 0, &p, &x->err);
  if (rc != CAWB_OK) fprintf(stderr, "%s\n", x->err.msg);
  double v = rc == CAWB_OK ? value_of(&p, name) : NAN;
  cawb_profile_free(&p);
  return v;
}

static void load(sim_fixture *x, const char *ptx, const void *cubin, size_t size) {
  cawb_image image = { ptx, cubin, size };
  memset(x, 0, sizeof *x);
  if (open_h100(&x->d, &x->err) == CAWB_OK && cawb_device_load(x->d, &image, &x->m, &x->err) == CAWB_OK) return;
  fprintf(stderr, "%s\n", x->err.msg);
  exit(1);
}

static void unrolled(int split, int special) {
  unsigned char cubin[4096];
  sim_fixture x;
  load(&x, PTX, cubin, put_cubin(cubin, sizeof cubin, split, special));
  const sim_sass *s = sim_module_find(x.m, "k")->sass;
  CHECK(s != NULL && s->count == COUNT - 2);
  for (uint32_t i = 0; s != NULL && i < s->count; i++) CHECK(s->code[i].line == (uint32_t)CODE[i].line);
  CHECK(s != NULL && s->nblocks == 4 && s->blocks[1].depth == 1 && s->blocks[3].depth == 0);
  ARG(&x, cawb_addr, tensor(&x, "p", NULL, 64));
  CHECK(count(&x, "smsp__inst_executed.sum", 1, 32) == ISSUED);
  CHECK(count(&x, "smsp__thread_inst_executed.sum", 1, 32) == ISSUED *
        count(&x, "smsp__average_thread_inst_executed_per_inst_executed.ratio", 1, 32));
  CHECK(count(&x, "smsp__inst_executed.sum", 1, 96) == 3 * ISSUED);
  fixture_close(&x);
}

/* Without machine code the count is an estimate, from the PTX. */
static void without(void) {
  sim_fixture x;
  load(&x, PTX, NULL, 0);
  CHECK(sim_module_find(x.m, "k")->sass == NULL);
  ARG(&x, cawb_addr, tensor(&x, "p", NULL, 64));
  double estimate = count(&x, "smsp__inst_executed.sum", 1, 32);
  CHECK(estimate > 20 && estimate < 60 && estimate == count(&x, "issued", 1, 32));
  fixture_close(&x);
}

/* ------------------------------------------------------------------- damage */

static void read_again(sim_fixture *x, const unsigned char *cubin, size_t size) {
  sim_function *f = sim_module_find(x->m, "k");
  unsigned char *own = malloc(size + 1);         /* so that a sanitizer sees what is read beyond it */
  if (own == NULL) exit(1);
  memcpy(own, cubin, size);
  sim_sass_free(f->sass);
  f->sass = NULL;
  sim_sass_read(x->m, own, size);
  free(own);
  double issued = count(x, "smsp__inst_executed.sum", 1, 32);
  CHECK(issued > 0 && issued < 1e9);
}

static void damaged(void) {
  static const unsigned char bits[] = { 0x01, 0x80, 0xff };
  unsigned char cubin[4096];
  size_t size = put_cubin(cubin, sizeof cubin, 1, 1);
  sim_fixture x;
  load(&x, PTX, cubin, size);
  ARG(&x, cawb_addr, tensor(&x, "p", NULL, 64));
  for (size_t i = 0; i < size; i += 7) read_again(&x, cubin, i);
  for (size_t i = 0; i < size; i++)
    for (size_t k = 0; k < sizeof bits; k++) {
      cubin[i] ^= bits[k];
      read_again(&x, cubin, size);
      cubin[i] ^= bits[k];
    }
  fixture_close(&x);
}

/* Without memory there is none, and nothing is left behind. */
static void without_memory(void) {
#if FAILING_MALLOC
  unsigned char cubin[4096];
  size_t size = put_cubin(cubin, sizeof cubin, 1, 1);
  sim_fixture x;
  load(&x, PTX, NULL, 0);
  sim_function *f = sim_module_find(x.m, "k");
  long live = failing_live, n = 0;
  do {
    failing_start(n++);
    sim_sass_read(x.m, cubin, size);
    failing_stop();
    CHECK((f->sass == NULL) == failing_done);
    sim_sass_free(f->sass);
    f->sass = NULL;
    CHECK(failing_live == live);
  } while (failing_done && n < 100);
  CHECK(n > 5);
  fixture_close(&x);
#endif
}

/* -------------------------------------------------------------------- NVRTC */

/* Instructions from the entry to the exit, one way through: every guarded jump is taken. */
static unsigned straight(const sim_sass *s) {
  unsigned n = 1;
  uint32_t i = 0;
  for (; s->code[i].kind != SIM_SASS_LEAVE; n++)
    i = s->code[i].kind == SIM_SASS_JUMP ? s->code[i].target : i + 1;
  return n;
}

static void compile(cawb_nvrtc *n, sim_fixture *x, const char *source, const char *arch) {
  cawb_nvrtc_output out;
  const char *options[] = { arch, "-lineinfo" };
  cawb_err err;
  if (cawb_nvrtc_compile(n, source, "kernel.cu", options, 2, &out, &err) != CAWB_OK) {
    fprintf(stderr, "%s\n%s\n", err.msg, out.log);
    exit(1);
  }
  load(x, out.ptx, out.cubin, out.cubin_size);
  cawb_nvrtc_output_free(&out);
}

static double on_floats(sim_fixture *x, unsigned grid, unsigned block, int turns) {
  static float ones[1024];
  for (int i = 0; i < 1024; i++) ones[i] = 1;
  cawb_addr a = tensor(x, "x", ones, sizeof ones), b = tensor(x, "y", ones, sizeof ones);
  x->args_size = 0;
  ARG(x, cawb_addr, b); ARG(x, cawb_addr, a); ARG(x, int, turns);
  double v = count(x, "smsp__inst_executed.sum", grid, block);
  cawb_device_free(x->d, a);
  cawb_device_free(x->d, b);
  return v;
}

#define HEAD "extern \"C\" __global__ void k(float *y, const float *x, int n) {\n" \
             "int t = blockIdx.x * blockDim.x + threadIdx.x;\n"

static void copies(cawb_nvrtc *n, const char *arch) {
  sim_fixture x;
  compile(n, &x, HEAD "y[t] = x[t];\n}", arch);
  const sim_sass *s = sim_module_find(x.m, "k")->sass;
  CHECK(s != NULL && s->nblocks == 1 && s->code[s->count - 1].kind == SIM_SASS_LEAVE);
  if (s != NULL) CHECK(on_floats(&x, 3, 64, 0) == 6.0 * s->count);
  fixture_close(&x);
}

/* A loop costs as much for each turn, whatever ptxas makes of it. */
static void loops(cawb_nvrtc *n, const char *arch) {
  sim_fixture x;
  compile(n, &x, HEAD "float s = 0;\n#pragma unroll 1\nfor (int i = 0; i < n; i++) s = s * x[i] + 1;\ny[t] = s;\n}", arch);
  const sim_sass *s = sim_module_find(x.m, "k")->sass;
  uint32_t body = 0;
  for (uint32_t b = 0; s != NULL && b < s->nblocks; b++)
    if (s->blocks[b].depth > 0) body += s->blocks[b].last - s->blocks[b].first;
  double eight = on_floats(&x, 1, 32, 8);
  CHECK(body > 3 && on_floats(&x, 1, 32, 16) - eight == 8 * body);
  fixture_close(&x);
}

/* The slow path of a division is there, and not taken. */
static void divisions(cawb_nvrtc *n, const char *arch) {
  sim_fixture x;
  compile(n, &x, HEAD "y[t] = x[t] / x[t + 1];\n}", arch);
  const sim_sass *s = sim_module_find(x.m, "k")->sass;
  unsigned calls = 0;
  for (uint32_t i = 0; s != NULL && i < s->count; i++) calls += s->code[i].kind == SIM_SASS_CALL;
  CHECK(calls == 1);
  if (calls == 1) CHECK(on_floats(&x, 1, 32, 0) == straight(s));
  fixture_close(&x);
}

/* Each kernel has lines of its own: both end where their PTX does. */
static void pairs(cawb_nvrtc *n, const char *arch) {
  sim_fixture x;
  compile(n, &x, HEAD "y[t] = x[t];\n}\nextern \"C\" __global__ void other(int *p) { p[threadIdx.x] = 1; }", arch);
  for (const sim_function *f = x.m->functions; f != NULL; f = f->next) {
    CHECK(f->sass != NULL);
    if (f->sass != NULL) CHECK(f->sass->code[f->sass->count - 1].line == f->code[f->count - 1].text);
  }
  fixture_close(&x);
}

int main(void) {
  cawb_places places;
  cawb_nvrtc *n;
  cawb_err err;
  for (int i = 0; i < 4; i++) unrolled(i & 1, i >> 1);
  without();
  damaged();
  without_memory();
  cawb_places_default(&places, getenv("CAWB_TEST_SITE_PACKAGES"));
  if (cawb_nvrtc_open(&n, &places, &err) != CAWB_OK) {
    printf("skipped: %s\n", err.msg);
    CHECK(getenv("CAWB_REQUIRE_NVRTC") == NULL);
    return check_report();
  }
  for (int i = 0; i < 2; i++) {
    const char *arch = i == 0 ? "-arch=sm_80" : "-arch=sm_90";
    copies(n, arch);
    pairs(n, arch);
    loops(n, arch);
    divisions(n, arch);
  }
  cawb_nvrtc_close(n);
  return check_report();
}
