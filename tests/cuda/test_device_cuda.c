/*
** test_device_cuda.c - the GPU device without a GPU: names, a missing driver, and
** its logic against a test double of the driver (fake_cuda.c, built beside this).
*/
#include "cuda/device.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int says(const cawb_err *err, const char *text) {
  if (strstr(err->msg, text) != NULL && strchr(err->msg, '\n') == NULL) return 1;
  fprintf(stderr, "no '%s' in: %s\n", text, err->msg);
  return 0;
}

static void test_names(void) {
  const char *const bad[] = { "", "x", "-1", "1x", " 1", "0:0", "1024", "99999999999999999999" };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cawb_device *d = (cawb_device *)&d;
    cawb_err err = { 0 };
    CHECK(cawb_device_open_cuda(&d, bad[i], &err) == CAWB_ERR_INVALID);
    CHECK(d == NULL && err.code == CAWB_ERR_INVALID && says(&err, "use cuda:0"));
  }
}

static void test_no_driver(void) {
  const struct { const char *library, *says; } cases[] = {
    { "/nonexistent/libcuda.so.1", "no NVIDIA driver" },
    { CAWB_SOURCE "/CMakeLists.txt", "cannot be loaded" },
    { "libm.so.6", "has no cuInit" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cawb_device *d = NULL;
    cawb_err err = { 0 };
    CHECK(cawb_cuda_open(&d, "0", cases[i].library, &err) == CAWB_ERR_MISSING && d == NULL);
    CHECK(says(&err, "cuda:0: ") && says(&err, cases[i].says) && says(&err, "sim:h100"));
  }
}

#ifdef CAWB_FAKE_CUDA
#include "fake_cuda.h"

static fake_cuda *fake;

typedef struct poke_args { cawb_addr at; uint32_t value; } poke_args;

static cawb_step launch(const char *kernel, const poke_args *args) {
  cawb_step s = { .kind = CAWB_STEP_LAUNCH, .kernel = kernel, .grid = { 1, 1, 1 },
                  .block = { 32, 1, 1 }, .cluster = { 1, 1, 1 }, .args = args,
                  .args_size = args != NULL ? sizeof *args : 0 };
  return s;
}

/* What the double takes for code: it looks at the first word, the device at the variables. */
#define GOOD "good .visible .global .align 4 .u32 counter;\n.global .u32 dropped[2] = {1, 2};\n" \
             ".visible .entry poke(.param .u64 .ptr .global .align 1 a) { st.global.u32 [a], 1; }"

typedef struct bench { cawb_device *d; cawb_module *m; cawb_addr x, y; cawb_err err; } bench;

/* A device with a module and two buffers, 100 and 300 bytes long. */
static int begin_with(bench *b, int maps) {
  memset(b, 0, sizeof *b);
  memset(fake, 0, sizeof *fake);
  fake->maps = maps;
  CHECK(cawb_cuda_open(&b->d, "0", CAWB_FAKE_CUDA, &b->err) == CAWB_OK);
  if (b->d == NULL) return 0;
  CHECK(cawb_device_load(b->d, &(cawb_image){ .ptx = GOOD }, &b->m, &b->err) == CAWB_OK);
  CHECK(cawb_device_alloc(b->d, 100, "inputs[1]", &b->x, &b->err) == CAWB_OK);
  CHECK(cawb_device_alloc(b->d, 300, "outputs[1]", &b->y, &b->err) == CAWB_OK);
  return 1;
}

static int begin(bench *b) { return begin_with(b, 1); }

/* Everything still held goes with the device. */
static void end(bench *b) {
  cawb_device_close(b->d);
  CHECK(fake->live == 0);
}

static cawb_status run(bench *b, cawb_step step) {
  cawb_report report;
  return cawb_device_run(b->d, b->m, &step, 1, &report, &b->err);
}

static void test_about(void) {
  bench b;
  if (!begin(&b)) return;
  const cawb_device_info *i = cawb_device_about(b.d);
  CHECK(strcmp(i->name, "cuda:0") == 0 && strcmp(i->model, "Fake 90") == 0);
  CHECK(strcmp(i->arch, "sm_90a") == 0 && i->sms == 2 && i->l2 == 4096);
  CHECK(strcmp(i->uuid, "GPU-abababab-abab-abab-abab-abababababab") == 0);
  CHECK(i->shared_block == 232448 && i->threads_block == 1024 && i->memory == 1u << 30);
  CHECK(i->driver[0] != '\0' && !i->modelled && i->rates.dram == 0 && !cawb_device_lost(b.d));
  end(&b);
}

static void test_no_gpu(void) {
  cawb_device *d = NULL;
  cawb_err err = { 0 };
  memset(fake, 0, sizeof *fake);
  CHECK(cawb_cuda_open(&d, "3", CAWB_FAKE_CUDA, &err) == CAWB_ERR_MISSING && d == NULL);
  CHECK(says(&err, "cuda:3: this machine has 1 GPU ("));
  fake->init = CUDA_ERROR_NO_DEVICE;
  CHECK(cawb_cuda_open(&d, "0", CAWB_FAKE_CUDA, &err) == CAWB_ERR_MISSING && d == NULL);
  CHECK(says(&err, "CUDA_ERROR_NO_DEVICE") && says(&err, "sim:h100") && fake->live == 0);
}

static void test_memory(int maps) {
  bench b;
  if (!begin_with(&b, maps)) return;
  unsigned char in[100], out[100];
  for (int i = 0; i < 100; i++) in[i] = (unsigned char)i;
  CHECK(cawb_device_write(b.d, b.x, in, 100, &b.err) == CAWB_OK);
  CHECK(cawb_device_copy(b.d, b.y + 200, b.x, 100, &b.err) == CAWB_OK);
  CHECK(cawb_device_read(b.d, out, b.y + 200, 100, &b.err) == CAWB_OK);
  CHECK(memcmp(in, out, 100) == 0);
  CHECK(cawb_device_fill(b.d, b.x, 0x01020304, 100, &b.err) == CAWB_OK);
  CHECK(cawb_device_read(b.d, out, b.x, 100, &b.err) == CAWB_OK);
  CHECK(out[0] == 4 && out[99] == 1);
  CHECK(cawb_device_write(b.d, b.x + 1, in, 100, &b.err) == CAWB_ERR_INVALID);
  CHECK(cawb_device_read(b.d, out, b.x - 1, 1, &b.err) == CAWB_ERR_INVALID);
  CHECK(cawb_device_copy(b.d, b.y, b.x, 101, &b.err) == CAWB_ERR_INVALID);
  CHECK(cawb_device_fill(b.d, b.x, 0, 99, &b.err) == CAWB_ERR_INVALID);
  end(&b);
}

static void test_no_room(void) {
  bench b;
  cawb_addr a = 1;
  if (!begin(&b)) return;
  CHECK(cawb_device_alloc(b.d, (size_t)2 << 30, "scratch", &a, &b.err) == CAWB_ERR_MEMORY);
  CHECK(a == 0 && says(&b.err, "no room for scratch") && says(&b.err, "1048576 of"));
  CHECK(cawb_device_alloc(b.d, SIZE_MAX, "scratch", &a, &b.err) == CAWB_ERR_MEMORY);
  CHECK(!cawb_device_lost(b.d));
  end(&b);
}

static void test_attach(void) {
  bench b;
  cawb_addr a = 0;
  cawb_share share = { .fd = -1, .size = 64 };
  uint32_t word = 0;
  if (!begin(&b)) return;
  int live = fake->live;
  CHECK(cawb_device_attach(b.d, &share, &a, &b.err) == CAWB_OK && fake->live == live + 1);
  CHECK(cawb_device_fill(b.d, a + 256, 7, 256, &b.err) == CAWB_OK);  /* all of the allocation */
  CHECK(cawb_device_read(b.d, &word, a + 508, 4, &b.err) == CAWB_OK && word == 7);
  cawb_device_detach(b.d, a);
  CHECK(fake->live == live);
  fake->attach = CUDA_ERROR_INVALID_HANDLE;
  CHECK(cawb_device_attach(b.d, &share, &a, &b.err) == CAWB_ERR_DEVICE && a == 0);
  fake->attach = CUDA_SUCCESS;
  CHECK(cawb_device_attach(b.d, &share, &a, &b.err) == CAWB_OK);
  end(&b);
}

static void test_bad_code(void) {
  bench b;
  cawb_module *m = NULL;
  if (!begin(&b)) return;
  CHECK(cawb_device_load(b.d, &(cawb_image){ .ptx = "bad" }, &m, &b.err) == CAWB_ERR_CANDIDATE);
  CHECK(m == NULL && says(&b.err, "line 3: syntax error"));
  CHECK(cawb_device_load(b.d, &(cawb_image){ .ptx = NULL }, &m, &b.err) == CAWB_ERR_INVALID);
  CHECK(run(&b, launch("absent", NULL)) == CAWB_ERR_CANDIDATE && says(&b.err, "absent: "));
  cawb_device_unload(b.d, b.m);
  end(&b);
}

static void refuse(bench *b, cawb_step step, const char *text) {
  unsigned before = fake->launches;
  CHECK(run(b, step) == CAWB_ERR_CANDIDATE && says(&b->err, text));
  CHECK(fake->launches == before);
}

static void test_limits(void) {
  bench b;
  if (!begin(&b)) return;
  cawb_step s = launch("heavy", NULL);
  s.grid[1] = 0;
  refuse(&b, s, "heavy: grid 1x0x1 has a zero");
  s.grid[1] = 65536;
  refuse(&b, s, "grid 1x65536x1 is too large; at most 2147483647x65535x65535");
  s = launch("heavy", NULL);
  s.block[2] = 65;
  refuse(&b, s, "block 32x1x65");
  s.block[2] = 64;
  refuse(&b, s, "has 2048 threads; at most 1024");
  s.block[2] = 16;
  refuse(&b, s, "a block of 512 threads is too large for this kernel: at most 256 with its 32");
  s = launch("heavy", NULL);
  s.shared = 232448 - 1023;    /* the kernel has 1024 of its own */
  refuse(&b, s, "shared memory of 232449 bytes (231425 dynamic, 1024 static) is too much; a "
                "block may have 232448");
  s.shared = SIZE_MAX;
  refuse(&b, s, "is too much");
  s = launch("heavy", NULL);
  s.grid[0] = 6;
  s.cluster[0] = 4;
  refuse(&b, s, "grid 6x1x1 is no multiple of its cluster 4x1x1");
  s.cluster[0] = 0;
  refuse(&b, s, "cluster 0x1x1 has a zero");
  end(&b);
}

static void test_opt_in(void) {
  bench b;
  if (!begin(&b)) return;
  cawb_step s = launch("heavy", NULL);
  s.shared = 49152 - 1024;
  CHECK(run(&b, s) == CAWB_OK && fake->opted_shared == 0);
  s.shared = 232448 - 1024;
  CHECK(run(&b, s) == CAWB_OK && fake->opted_shared == 232448 - 1024);
  CHECK(fake->clusters == 0);
  s.grid[0] = s.cluster[0] = 4;
  CHECK(run(&b, s) == CAWB_OK && fake->clusters == 1 && fake->launches == 3);
  end(&b);
}

static void test_fill_step(void) {
  bench b;
  if (!begin(&b)) return;
  cawb_step s = { .kind = CAWB_STEP_FILL, .addr = b.x, .size = 100, .pattern = 5 };
  uint32_t last = 0;
  CHECK(run(&b, s) == CAWB_OK);
  CHECK(cawb_device_read(b.d, &last, b.x + 96, 4, &b.err) == CAWB_OK && last == 5);
  s.size = 104;
  refuse(&b, s, "memset: 104 bytes at");
  s.size = 98;
  refuse(&b, s, "are not whole words");
  end(&b);
}

/* One byte off either end is seen and named, once: the guard is restored. */
static void test_guards(int maps) {
  bench b;
  if (!begin_with(&b, maps)) return;
  const struct { cawb_addr at; const char *says; } cases[] = {
    { b.y + 300, "poke: wrote past the end of outputs[1]: 1 bytes changed, the first at byte 300" },
    { b.y + 300 + 4096, "the first at byte 4396 of a buffer of 300" },
    { b.x + 100, "wrote past the end of inputs[1]" },
    { b.x - 1, "wrote before the start of inputs[1]: 1 bytes changed, the nearest 1 bytes" },
    { b.y - 4096, "the nearest 4096 bytes before" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned char old = *(unsigned char *)(uintptr_t)cases[i].at;
    poke_args bad = { cases[i].at, old ^ 1u }, good = { b.y + 299, 9 };
    CHECK(run(&b, launch("poke", &bad)) == CAWB_ERR_CANDIDATE && says(&b.err, cases[i].says));
    CHECK(!cawb_device_lost(b.d));
    CHECK(run(&b, launch("poke", &good)) == CAWB_OK);
  }
  end(&b);
}

/* Behind the guards there is nothing: the kernel faults there and then. */
static void test_far_astray(void) {
  for (int i = 0; i < 2; i++) {
    bench b;
    if (!begin(&b)) return;
    poke_args far = { i == 0 ? b.y + 300 + 212 + 4096 : b.x - (1 << 16), 1 };
    CHECK(run(&b, launch("poke", &far)) == CAWB_ERR_CANDIDATE && cawb_device_lost(b.d));
    CHECK(says(&b.err, "poke reached outside its tensors or its stack, or wrote to an input or a parameter: "
                       "CUDA_ERROR_ILLEGAL_ADDRESS"));
    end(&b);
  }
}

/* Kernels cannot write to them, this process can, again and again. */
static void test_inputs_are_read_only(void) {
  bench b;
  unsigned char in[100] = { 5 }, out[100] = { 0 };
  if (!begin(&b)) return;
  CHECK(cawb_device_about(b.d)->protects);
  for (int i = 0; i < 2; i++) {
    CHECK(cawb_device_protect(b.d, b.x, &b.err) == CAWB_OK);
    CHECK(cawb_device_write(b.d, b.x, in, 100, &b.err) == CAWB_OK);
    CHECK(cawb_device_copy(b.d, b.x, b.y, 100, &b.err) == CAWB_OK);
    CHECK(cawb_device_fill(b.d, b.x, 7, 100, &b.err) == CAWB_OK);
    CHECK(cawb_device_read(b.d, out, b.x, 100, &b.err) == CAWB_OK && out[0] == 7 && out[1] == 0);
  }
  poke_args fine = { b.y, 1 }, bad = { b.x, 1 };
  CHECK(run(&b, launch("poke", &fine)) == CAWB_OK);
  CHECK(run(&b, launch("poke", &bad)) == CAWB_ERR_CANDIDATE && cawb_device_lost(b.d));
  end(&b);
}

static void test_without_mappings_nothing_is_read_only(void) {
  bench b;
  if (!begin_with(&b, 0)) return;
  poke_args args = { b.x, 1 };
  CHECK(!cawb_device_about(b.d)->protects);
  CHECK(cawb_device_protect(b.d, b.x, &b.err) == CAWB_OK);
  CHECK(run(&b, launch("poke", &args)) == CAWB_OK);
  end(&b);
}

static void test_fault(void) {
  bench b;
  uint32_t word = 0;
  if (!begin(&b)) return;
  CHECK(run(&b, launch("fault", NULL)) == CAWB_ERR_CANDIDATE);
  CHECK(strcmp(b.err.msg, "fault reached outside its tensors or its stack, or wrote to an input or a parameter: "
                           "CUDA_ERROR_ILLEGAL_ADDRESS, the text of the error") == 0);
  CHECK(cawb_device_lost(b.d));
  CHECK(cawb_device_read(b.d, &word, b.x, 4, &b.err) == CAWB_ERR_DEVICE);
  CHECK(says(&b.err, "start another worker"));
  end(&b);
}

static void test_samples(void) {
  bench b;
  double samples[20];
  if (!begin(&b)) return;
  poke_args args = { b.y, 1 };
  cawb_step steps[] = { { .kind = CAWB_STEP_FILL, .addr = b.y, .size = 300, .pattern = 0 },
                        launch("poke", &args), launch("poke", &args) };
  cawb_timing t = { .warmup = 3, .max_samples = 20, .budget = 60, .samples = samples };
  CHECK(cawb_device_time(b.d, b.m, steps, 3, &t, &b.err) == CAWB_OK && t.count == 20);
  for (unsigned i = 0; i < t.count; i++) CHECK(samples[i] == 0.25e-3);
  CHECK(fake->graphs == 23 && fake->launches == 46 && fake->resets == 20);
  CHECK(fake->memsets == 1 + 23 + 1 + 20);   /* the plan's; a flush to warm up, one a sample */
  CHECK(*(unsigned char *)(uintptr_t)b.y == 1);
  t.budget = 0;                          /* spent at once, still 10 */
  CHECK(cawb_device_time(b.d, b.m, steps, 3, &t, &b.err) == CAWB_OK && t.count == 10);
  t.max_samples = 4;
  CHECK(cawb_device_time(b.d, b.m, steps, 3, &t, &b.err) == CAWB_OK && t.count == 4);
  end(&b);
}

/* Samples that the host was late for are taken again behind a longer flush. */
static void test_late_host(void) {
  bench b;
  double samples[10];
  if (!begin(&b)) return;
  cawb_step s = launch("heavy", NULL);
  cawb_timing t = { .max_samples = 10, .samples = samples };
  fake->late = 2;
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_OK && t.count == 10);
  CHECK(fake->graphs == 12 && fake->memsets == 1 + 1 + 1 + 2 + 10 * 4);
  fake->late = 1000;                     /* always late: it ends all the same */
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_OK && t.count == 10);
  end(&b);
}

static void test_variables_are_put_back(void) {
  bench b;
  double samples[10];
  char names[64];
  if (!begin(&b)) return;
  poke_args args = { b.y, 7 };
  cawb_step s = launch("poke", &args);
  cawb_timing t = { .warmup = 3, .max_samples = 10, .budget = 60, .samples = samples };
  cawb_report report;
  CHECK(cawb_device_changed(b.d, b.m, names, sizeof names, &b.err) == CAWB_OK && names[0] == '\0');
  CHECK(cawb_device_run(b.d, b.m, &s, 1, &report, &b.err) == CAWB_OK && fake->counter == 1);
  CHECK(cawb_device_run(b.d, b.m, &s, 1, &report, &b.err) == CAWB_OK && fake->counter == 1);
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_OK);
  CHECK(fake->launches == 2 + 3 + 10 && fake->counter == 1);
  CHECK(cawb_device_changed(b.d, b.m, names, sizeof names, &b.err) == CAWB_OK && strcmp(names, "counter") == 0);
  end(&b);
}

static void test_steps_go_ahead_of_every_sample(void) {
  bench b;
  double samples[10];
  if (!begin(&b)) return;
  poke_args args = { b.y, 7 };
  cawb_step s = launch("poke", &args);
  cawb_step before = { .kind = CAWB_STEP_FILL, .addr = b.y, .size = 300, .pattern = 9 };
  cawb_timing t = { .warmup = 3, .max_samples = 10, .budget = 60, .samples = samples,
                    .before = &before, .nbefore = 1 };
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_OK);
  CHECK(fake->graphs == 2 * (3 + 10) && t.count == 10);
  unsigned char first[2];
  CHECK(cawb_device_read(b.d, first, b.y, 2, &b.err) == CAWB_OK);
  CHECK(first[0] == 7 && first[1] == 0);      /* filled, then written by the last run */
  end(&b);
}

/* Each sample's output goes to a place of its own. */
static void test_samples_are_saved(void) {
  bench b;
  double samples[3];
  cawb_addr kept = 0;
  unsigned char found[3 * 16];
  if (!begin(&b)) return;
  poke_args args = { b.y, 7 };
  cawb_step s = launch("poke", &args);
  CHECK(cawb_device_alloc(b.d, sizeof found, "kept", &kept, &b.err) == CAWB_OK);
  CHECK(cawb_device_fill(b.d, kept, 0, sizeof found, &b.err) == CAWB_OK);
  cawb_save save = { b.y, kept, 8, 16 };
  cawb_timing t = { .max_samples = 3, .samples = samples, .save = &save, .nsave = 1 };
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_OK && t.count == 3);
  CHECK(cawb_device_read(b.d, found, kept, sizeof found, &b.err) == CAWB_OK);
  for (int i = 0; i < 3; i++) CHECK(found[16 * i] == 7 && found[16 * i + 8] == 0);
  end(&b);
}

/* What ran at half the clock is thrown away, unless the card stays that slow. */
static void test_throttled_samples(void) {
  bench b;
  double samples[4], clocks[4];
  if (!begin(&b)) return;
  cawb_step s = launch("heavy", NULL);
  cawb_timing t = { .max_samples = 4, .samples = samples, .clocks = clocks, .slowest = 0.75 };
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_OK);
  CHECK(t.count == 4 && t.throttled == 0 && clocks[3] > 1.99e9 && clocks[3] < 2.01e9);
  fake->slow = 4;                        /* two readings a sample */
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_OK);
  CHECK(t.count == 4 && t.throttled == 2 && clocks[0] > 1.99e9);
  fake->slow = 1000;
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_OK && t.count == 4);
  CHECK(clocks[3] < 1.01e9);
  fake->slow = 1000;
  t.slowest = 0;
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_OK && t.throttled == 0);
  end(&b);
}

/* As a host sees it: every call from a reset, none through a graph of its own. */
static void test_launch_bound(void) {
  bench b;
  double samples[2];
  if (!begin(&b)) return;
  cawb_step s = launch("heavy", NULL);
  cawb_timing t = { .max_samples = 2, .samples = samples };
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_OK && t.launch_bound == 0);
  unsigned launches = fake->launches, graphs = fake->graphs;
  t.launch_calls = 5;
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_OK && t.launch_bound > 0);
  CHECK(fake->launches - launches == 2 + 5 && fake->graphs - graphs == 2);
  end(&b);
}

static void test_bad_timing(void) {
  bench b;
  double samples[10];
  if (!begin(&b)) return;
  cawb_timing t = { .max_samples = 10, .samples = samples };
  poke_args args = { b.y + 300, *(unsigned char *)(uintptr_t)(b.y + 300) ^ 1u };
  cawb_step s = launch("poke", &args);
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_ERR_CANDIDATE);
  CHECK(says(&b.err, "wrote past the end of outputs[1]"));
  s.block[0] = 2000;
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_ERR_CANDIDATE);
  s = launch("fault", NULL);
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_ERR_CANDIDATE);
  CHECK(says(&b.err, "fault reached outside its tensors") && cawb_device_lost(b.d));
  end(&b);
}

/* A device's whole life, for the sweep; the first failure ends it. */
static cawb_status live(bench *b) {
  double samples[2];
  uint32_t word = 0;
  cawb_share share = { .fd = -1, .size = 64 };
  cawb_timing t = { .warmup = 1, .max_samples = 2, .samples = samples };
  cawb_report report;
  cawb_addr a = 0;
  cawb_status s = cawb_cuda_open(&b->d, "0", CAWB_FAKE_CUDA, &b->err);
  if (s != CAWB_OK) return s;
  s = cawb_device_alloc(b->d, 64, "x", &b->x, &b->err);
  if (s == CAWB_OK) s = cawb_device_protect(b->d, b->x, &b->err);
  if (s == CAWB_OK) s = cawb_device_alloc(b->d, 64, "y", &b->y, &b->err);
  if (s == CAWB_OK) s = cawb_device_attach(b->d, &share, &a, &b->err);
  if (s == CAWB_OK) s = cawb_device_fill(b->d, b->x, 1, 64, &b->err);
  if (s == CAWB_OK) s = cawb_device_copy(b->d, a, b->x, 64, &b->err);
  if (s == CAWB_OK) s = cawb_device_write(b->d, b->x, &word, 4, &b->err);
  if (s == CAWB_OK) s = cawb_device_read(b->d, &word, b->x, 4, &b->err);
  if (s == CAWB_OK) s = cawb_device_load(b->d, &(cawb_image){ .ptx = GOOD }, &b->m, &b->err);
  cawb_step steps[] = { { .kind = CAWB_STEP_FILL, .addr = b->y, .size = 64 },
                        launch("heavy", NULL) };
  steps[1].shared = 100000;
  steps[1].grid[0] = steps[1].cluster[0] = 16;
  if (s == CAWB_OK) s = cawb_device_run(b->d, b->m, steps, 2, &report, &b->err);
  if (s == CAWB_OK) s = cawb_device_time(b->d, b->m, steps, 2, &t, &b->err);
  return s;
}

/* Each driver call in turn fails: it is reported, and nothing is left behind. */
static void test_every_failure(void) {
  for (unsigned k = 1; k < 1000; k++) {
    bench b = { 0 };
    memset(fake, 0, sizeof *fake);
    fake->maps = 1;
    fake->fail_call = k;
    fake->fail_with = CUDA_ERROR_OUT_OF_MEMORY;
    cawb_status s = live(&b);
    int reached = fake->calls >= k;
    CHECK((s != CAWB_OK) == reached && (s == CAWB_OK || b.err.code == s));
    cawb_device_close(b.d);
    CHECK(fake->live == 0);
    if (!reached) return;
  }
  CHECK(!"the sweep ends");
}

static void test_with_fake(void) {
  void *library = dlopen(CAWB_FAKE_CUDA, RTLD_NOW);
  CHECK(library != NULL);
  if (library == NULL) return;
  fake = dlsym(library, "fake_cuda_state");
  test_about();
  test_no_gpu();
  test_memory(1);
  test_memory(0);
  test_no_room();
  test_attach();
  test_bad_code();
  test_limits();
  test_opt_in();
  test_fill_step();
  test_guards(1);
  test_guards(0);
  test_far_astray();
  test_inputs_are_read_only();
  test_without_mappings_nothing_is_read_only();
  test_fault();
  test_samples();
  test_variables_are_put_back();
  test_steps_go_ahead_of_every_sample();
  test_late_host();
  test_samples_are_saved();
  test_throttled_samples();
  test_launch_bound();
  test_bad_timing();
  test_every_failure();
  dlclose(library);
}
#else
static void test_with_fake(void) { printf("built without the test double of the driver\n"); }
#endif

int main(void) {
  test_names();
  test_no_driver();
  test_with_fake();
  return check_report();
}
