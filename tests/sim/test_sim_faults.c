/*
** test_sim_faults.c - what the simulated device says when a kernel or a launch
** is wrong. The messages are what an agent works from, so they are compared whole.
*/
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "sim/memory/device.h"
#include "sim/open.h"
#include "sim_fixture.h"

static int says(const sim_fixture *x, const char *text) {
  if (strstr(x->err.msg, text) != NULL) return 1;
  fprintf(stderr, "  said: %s\n", x->err.msg);
  return 0;
}

static void test_addresses(sim_fixture *basic, sim_fixture *x) {
  enum { N = 2048 };
  cawb_addr X = tensor(basic, "inputs[1]", NULL, N * 4), Y = tensor(basic, "outputs[1]", NULL, N * 4);
  ARG(basic, cawb_addr, Y); ARG(basic, cawb_addr, X); ARG(basic, float, 1); ARG(basic, int, N);
  CHECK(launch(basic, "saxpy_off_by_one", N / 256 + 1, 1, 256, 1, 0) == CAWB_ERR_CANDIDATE);
  CHECK(strcmp(basic->err.msg, "saxpy_off_by_one, kernel.cu line 9: read of 4 bytes, 0 bytes past the end of inputs[1] "
                               "(8192 bytes), by block (8,0,0) thread (0,0,0)") == 0);
  ARG(basic, cawb_addr, Y); ARG(basic, cawb_addr, X - 16); ARG(basic, float, 1); ARG(basic, int, N);
  CHECK(launch(basic, "saxpy", N / 256, 1, 256, 1, 0) == CAWB_ERR_CANDIDATE);
  CHECK(says(basic, "read of 4 bytes, 16 bytes before the start of inputs[1] (8192 bytes), by block (0,0,0) thread (0,0,0)"));
  ARG(basic, cawb_addr, 0); ARG(basic, cawb_addr, X); ARG(basic, float, 1); ARG(basic, int, N);
  CHECK(launch(basic, "saxpy", N / 256, 1, 256, 1, 0) == CAWB_ERR_CANDIDATE);
  CHECK(says(basic, "read of 4 bytes, at address 0: a null pointer"));
  ARG(basic, cawb_addr, Y); ARG(basic, cawb_addr, X); ARG(basic, float, 1); ARG(basic, int, N);
  CHECK(launch(basic, "saxpy", N / 256, 1, 256, 1, 0) == CAWB_OK);   /* a fault leaves the device as it was */
  cawb_addr odd = tensor(basic, "odd", NULL, 1032);      /* ends in the middle of a float4 */
  ARG(basic, cawb_addr, Y); ARG(basic, cawb_addr, odd); ARG(basic, int, 65);
  CHECK(launch(basic, "gelu4", 1, 1, 96, 1, 0) == CAWB_ERR_CANDIDATE);
  CHECK(says(basic, "read of 16 bytes, from 8 bytes before the end of odd (1032 bytes) to beyond it, by block (0,0,0) thread (64,0,0)"));
  cawb_addr O = tensor(x, "outputs[1]", NULL, 1024);
  ARG(x, cawb_addr, O);
  CHECK(launch(x, "misaligned", 1, 1, 32, 1, 0) == CAWB_ERR_CANDIDATE);
  CHECK(says(x, "misaligned, kernel.cu line ") && says(x, "misaligned write of 16 bytes at address 0x") && says(x, "thread (0,0,0)"));
  ARG(x, cawb_addr, O);
  CHECK(launch(x, "shared_overrun", 1, 1, 32, 1, 0) == CAWB_ERR_CANDIDATE);
  CHECK(says(x, "read of 4 bytes, at byte 128 of the block's 128 bytes of shared memory, by block (0,0,0) thread (31,0,0)"));
  ARG(x, cawb_addr, O);
  CHECK(launch(x, "trapped", 1, 1, 32, 1, 0) == CAWB_ERR_CANDIDATE);
  CHECK(says(x, "trapped, kernel.cu line ") && says(x, ": trap, by block (0,0,0) thread (3,0,0)"));
  ARG(x, cawb_addr, O);
  CHECK(launch(x, "far_rank", 1, 1, 32, 1, 0) == CAWB_ERR_CANDIDATE);
  CHECK(says(x, ": there is no block 1 in a cluster of 1: ranks begin at 0, and a launch says `cluster`"));
}

static void test_barriers(sim_fixture *x) {
  cawb_addr O = tensor(x, "outputs[1]", NULL, 1024);
  ARG(x, cawb_addr, O);
  CHECK(launch(x, "early_exit", 1, 1, 64, 1, 0) == CAWB_OK);   /* only those that are left wait */
  ARG(x, cawb_addr, O);
  CHECK(launch(x, "parted", 1, 1, 64, 1, 0) == CAWB_ERR_CANDIDATE);
  CHECK(says(x, "parted, kernel.cu line ") && says(x, "barrier 1 was reached by 40 of 64 threads of the block"));
}

static void test_launches(sim_fixture *x) {
  cawb_addr Y = tensor(x, "outputs[1]", NULL, 4096);
  ARG(x, cawb_addr, Y); ARG(x, cawb_addr, Y);
  CHECK(launch(x, "saxpy", 1, 1, 32, 1, 0) == CAWB_ERR_CANDIDATE && says(x, "saxpy: 16 bytes of arguments, its parameters take 24"));
  CHECK(launch(x, "nothing", 1, 1, 32, 1, 0) == CAWB_ERR_CANDIDATE && says(x, "no kernel 'nothing'"));
  CHECK(launch(x, "saxpy", 1, 1, 64, 32, 0) == CAWB_ERR_CANDIDATE && says(x, "2048 threads in a block, at most 1024"));
  CHECK(launch(x, "saxpy", 0, 1, 32, 1, 0) == CAWB_ERR_CANDIDATE && says(x, "grid (0,1,1)"));
  CHECK(launch(x, "saxpy", 1, 70000, 32, 1, 0) == CAWB_ERR_CANDIDATE && says(x, "grid (1,70000,1)"));
  CHECK(launch(x, "softmax_rows", 1, 1, 32, 1, 232400) == CAWB_ERR_CANDIDATE &&
        says(x, "232528 bytes of shared memory (232400 dynamic, 128 static), a block may have 232448"));
  cawb_step s = { .kind = CAWB_STEP_LAUNCH, .kernel = "saxpy", .grid = { 2, 1, 1 }, .block = { 32, 1, 1 }, .cluster = { 3, 1, 1 } };
  CHECK(cawb_device_run(x->d, x->m, &s, 1, &x->report, &x->err) == CAWB_ERR_CANDIDATE &&
        says(x, "a grid of (2,1,1) blocks is not divided by a cluster of (3,1,1)"));
}

static void test_memory(sim_fixture *x) {
  unsigned char bytes[64], back[64];
  cawb_addr a = tensor(x, "a", NULL, 64), b = tensor(x, "b", NULL, 64), out = 0;
  for (int i = 0; i < 64; i++) bytes[i] = (unsigned char)i;
  CHECK(cawb_device_write(x->d, a, bytes, 64, &x->err) == CAWB_OK);
  CHECK(cawb_device_copy(x->d, b + 8, a, 56, &x->err) == CAWB_OK);
  fetch_tensor(x, back, b, 64);
  CHECK(memcmp(back + 8, bytes, 56) == 0);
  CHECK(cawb_device_fill(x->d, b + 4, 0x01020304, 8, &x->err) == CAWB_OK);
  fetch_tensor(x, back, b, 64);
  CHECK(back[4] == 4 && back[11] == 1 && back[12] == 4);
  CHECK(cawb_device_write(x->d, a + 32, bytes, 64, &x->err) == CAWB_ERR_INVALID);
  CHECK(cawb_device_read(x->d, back, a - 1, 2, &x->err) == CAWB_ERR_INVALID);
  CHECK(cawb_device_fill(x->d, a, 0, 6, &x->err) == CAWB_ERR_INVALID);
  CHECK(cawb_device_alloc(x->d, (size_t)81 << 30, "huge", &out, &x->err) == CAWB_ERR_MEMORY && out == 0);
  cawb_device_free(x->d, a);
  CHECK(cawb_device_read(x->d, back, a, 1, &x->err) == CAWB_ERR_INVALID);
}

/* As many as a network has whose parameters, their gradients and statistics are all tensors of their own; kernels reach the last, by one thread or several. */
static void test_many_tensors(sim_fixture *x) {
  enum { MOST = 1 << 14, N = 4096 };
  static cawb_addr all[MOST];
  static float ones[N], back[N];
  size_t n = 0;
  cawb_addr last = 0;
  for (int i = 0; i < N; i++) ones[i] = 1;
  while (n < MOST && cawb_device_alloc(x->d, 64, "one of many", &all[n], &x->err) == CAWB_OK) n++;
  CHECK(n > 15000 && n < MOST && says(x, "more than 16384 allocations at once"));
  for (size_t k = n - 2; k < n; k++) cawb_device_free(x->d, all[k]);
  CHECK(cawb_device_alloc(x->d, sizeof ones, "the last", &last, &x->err) == CAWB_OK && last > all[n - 3]);
  for (unsigned threads = 1; threads <= 4; threads += 3) {
    ((sim_device *)x->d)->threads = threads;
    CHECK(cawb_device_write(x->d, last, ones, sizeof ones, &x->err) == CAWB_OK);
    ARG(x, cawb_addr, last); ARG(x, cawb_addr, last); ARG(x, float, 2); ARG(x, int, N);
    CHECK(launch(x, "saxpy", N / 256, 1, 256, 1, 0) == CAWB_OK);
    fetch_tensor(x, back, last, sizeof back);
    for (int i = 0; i < N; i++) CHECK(back[i] == 3);
  }
  ((sim_device *)x->d)->threads = 1;
  cawb_device_free(x->d, last);
  for (size_t k = 0; k + 2 < n; k++) cawb_device_free(x->d, all[k]);
}

static void test_attach(sim_fixture *x) {
  int fd = memfd_create("tensor", 0);
  cawb_share share = { .fd = fd, .size = 8192 };
  cawb_addr a = 0;
  unsigned word = 7, back = 0;
  CHECK(cawb_device_attach(x->d, &share, &a, &x->err) == CAWB_ERR_INVALID && a == 0);   /* it is empty yet */
  CHECK(ftruncate(fd, 8192) == 0 && pwrite(fd, &word, 4, 4096) == 4);
  CHECK(cawb_device_attach(x->d, &share, &a, &x->err) == CAWB_OK && a != 0);
  fetch_tensor(x, &back, a + 4096, 4);
  CHECK(back == 7);
  word = 9;
  CHECK(cawb_device_write(x->d, a, &word, 4, &x->err) == CAWB_OK && pread(fd, &back, 4, 0) == 4 && back == 9);
  cawb_device_detach(x->d, a);
  CHECK(cawb_device_read(x->d, &back, a, 4, &x->err) == CAWB_ERR_INVALID);
  close(fd);
}

static void test_open(void) {
  cawb_device *d = (cawb_device *)1;
  cawb_err err;
  CHECK(cawb_device_open_sim(&d, "b200", NULL, &err) == CAWB_ERR_INVALID && d == NULL && strstr(err.msg, "b200") != NULL);
  CHECK(open_h100(&d, &err) == CAWB_OK);
  const cawb_device_info *i = cawb_device_about(d);
  CHECK(strcmp(i->name, "sim:h100") == 0 && strcmp(i->arch, "sm_90") == 0 && i->modelled == 1 && i->sms == 132);
  CHECK(i->shared_block == 232448 && i->rates.dram > 2e12 && i->rates.fp32 == 67e12 && !cawb_device_lost(d));
  CHECK(i->rates.tf32 > 7 * i->rates.fp32 && i->rates.bf16 > 1.9 * i->rates.tf32 && i->rates.fp16 == i->rates.bf16);
  cawb_device_close(d);
}

int main(void) {
  sim_fixture basic, features;
  fixture_open(&basic, "basic.ptx");
  fixture_open(&features, "features.ptx");
  test_open();
  test_addresses(&basic, &features);
  test_barriers(&features);
  test_launches(&basic);
  test_memory(&basic);
  test_attach(&basic);
  test_many_tensors(&basic);
  fixture_close(&basic);
  fixture_close(&features);
  return check_report();
}
