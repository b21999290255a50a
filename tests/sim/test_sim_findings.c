/*
** test_sim_findings.c - what the simulated device finds in kernels whose results may look
** right: reads of what nothing has written, asynchronous copies that nobody waited for, warps
** and blocks in each other's way. Each wrong kernel stands beside a right one.
*/
#include "check.h"
#include "sim/isa/isas.h"
#include "sim/memory/device.h"
#include "sim_fixture.h"

enum { THREADS = 256, WORDS = 8192 };

static sim_fixture x;
static cawb_addr in, out;
static int values[WORDS];

/* How often a kernel `(out, in)` was found at fault, which must say `text`. */
static unsigned long long found(const char *kernel, unsigned blocks, const char *text) {
  ARG(&x, cawb_addr, out); ARG(&x, cawb_addr, in);
  x.report = (cawb_report){ 0 };
  if (launch(&x, kernel, blocks, 1, THREADS, 1, 0) != CAWB_OK) {
    fprintf(stderr, "%s: %s\n", kernel, x.err.msg);
    CHECK(0);
  }
  int said = strstr(x.report.race, text) != NULL;
  if (!said) fprintf(stderr, "%s said: %s\n", kernel, x.report.race);
  CHECK(said);
  return x.report.races;
}

static void poison(void) {
  cawb_step s = { .kind = CAWB_STEP_FILL, .addr = out, .size = 4 * WORDS, .pattern = 0x7fc0dead, .poison = 1 };
  CHECK(cawb_device_run(x.d, x.m, &s, 1, &x.report, &x.err) == CAWB_OK);
}

static void test_one_value(void) {
  int got[THREADS];
  CHECK(found("agree", 1, "") == 0);
  fetch_tensor(&x, got, out, sizeof got);
  CHECK(got[0] == values[0] + values[1] && got[THREADS - 1] == got[0]);
  CHECK(found("disagree", 1, "warp 7 writes byte 0 of shared memory, which several warps wrote (line ") == 1);
  CHECK(found("agree_early", 1, "warp 2 reads byte 0 of shared memory, which several warps wrote") > 0);
}

static void test_shared(void) {
  CHECK(found("shared_set", 1, "") == 0);
  CHECK(found("shared_unset", 1, "uninitialised memory: shared_unset, kernel.cu line ") == 1);
  CHECK(found("shared_unset", 1, "read of byte 0 of shared memory, to which nothing was written, by block (0,0,0) thread (63,0,0); line 29 stores it to global memory") == 1);
  CHECK(found("shared_unset", 3, "by block (0,0,0)") == 3);      /* what a block wrote is gone with it */
  CHECK(found("shared_count_unset", 1, "read of byte 0 of shared memory, to which nothing was written") == 1);
}

static void test_local(void) {
  CHECK(found("printing", 1, "") == 0);
  CHECK(found("local_set", 2, "") == 0);
  CHECK(found("local_unset", 1, "uninitialised memory: local_unset, kernel.cu line ") == THREADS / 32);
  CHECK(found("local_unset", 1, "read of byte 4 of its local memory, to which nothing was written, by block (0,0,0) thread (0,0,0)") > 0);
}

static void test_global(void) {
  CHECK(found("sum_up", 1, "") == 0);                            /* memory that nobody poisoned */
  poison();
  CHECK(found("sum_up", 1, "read of byte 0 of outputs[1], to which nothing was written, by block (0,0,0) thread (0,0,0)") == THREADS / 32);
  CHECK(found("sum_up", 1, "") == 0);                            /* now it was */
  poison();
  CHECK(found("sum_atomic", 1, "uninitialised memory: sum_atomic, kernel.cu line ") == THREADS / 32);
  poison();
  CHECK(found("set_half", 1, "") == 0);
  CHECK(found("pass_on", 1, "read of byte 512 of outputs[1]") == THREADS / 64);
  poison();
  cawb_step s = { .kind = CAWB_STEP_FILL, .addr = out, .size = 4 * THREADS, .pattern = 0 };
  CHECK(cawb_device_run(x.d, x.m, &s, 1, &x.report, &x.err) == CAWB_OK);
  CHECK(found("sum_up", 1, "") == 0);                            /* a fill of the plan's writes */
}

static void test_copies(void) {
  int got[THREADS];
  CHECK(found("copied", 1, "") == 0);
  fetch_tensor(&x, got, out, sizeof got);
  CHECK(got[0] == values[255] && got[255] == values[0]);
  CHECK(found("copied_unwaited", 1, "reads byte 1020 of shared memory, to where an asynchronous copy is under way: wait for it (cp.async.wait_group") > 0);
  CHECK(found("copied_no_barrier", 1, "") > 0);
}

static void test_blocks(void) {
  CHECK(found("blocks_own", 4, "") == 0);
  CHECK(found("blocks_reading", 1, "") == 0);
  CHECK(found("blocks_reading", 4, "global memory: blocks_reading, kernel.cu line ") > 0);
  CHECK(found("blocks_reading", 4, "block (1,0,0) reads byte 0 of outputs[1], where block (0,0,0) wrote in the same launch") > 0);
}

static void test_barriers(void) {
  ARG(&x, cawb_addr, out); ARG(&x, cawb_addr, in);
  CHECK(launch(&x, "parted", 1, 1, THREADS, 1, 0) == CAWB_ERR_CANDIDATE);
  CHECK(strstr(x.err.msg, "parted, kernel.cu line ") != NULL && strstr(x.err.msg, "was reached by") != NULL);
}

/* A block that waits for later ones lets them begin. */
static void test_meeting(void) {
  int zero = 0, got[8 * THREADS];
  static const char *const kernels[] = { "all_meet", "all_clusters_meet" };
  for (int k = 0; k < 2; k++) {
    CHECK(cawb_device_write(x.d, out + 4 * 4096, &zero, 4, &x.err) == CAWB_OK);
    CHECK(found(kernels[k], 8, "") == 0);
    fetch_tensor(&x, got, out, sizeof got);
    for (int i = 0; i < 8 * THREADS; i++) CHECK(got[i] == values[i % THREADS] + 8);
      CHECK(x.report.barriers == 7 * (THREADS / 32 + 1) + THREADS / 32);   /* thread 0 waits, and comes by itself */
  }
}

static void test_tiles(void) {
  int got[THREADS];
  CHECK(found("tiles", 1, "") == 0);
  fetch_tensor(&x, got, out, sizeof got);
  for (int i = 0; i < THREADS; i++) {
    int sum = 8;
    for (int k = i / 16 * 16; k < i / 16 * 16 + 16; k++) sum += values[k];
    CHECK(got[i] == sum);
  }
}

static void test_pointers(void) {
  int got[THREADS];
  CHECK(found("by_pointer", 1, "") == 0);
  fetch_tensor(&x, got, out, sizeof got);
  for (int i = 0; i < THREADS; i++) {
    int v = values[i];
    CHECK(got[i] == (v % 3 == 0 ? 2 * v : v % 3 == 1 ? v * v : v - 1));
  }
}

int main(void) {
  for (int i = 0; i < WORDS; i++) values[i] = i * 7 % 1001 + 1;
  fixture_open(&x, "findings.ptx");
  in = tensor(&x, "inputs[1]", values, sizeof values);
  out = tensor(&x, "outputs[1]", values, sizeof values);
  test_one_value();
  test_shared();
  test_local();
  test_global();
  test_copies();
  test_blocks();
  test_barriers();
  test_meeting();
  test_tiles();
  test_pointers();
  fixture_close(&x);
  return check_report();
}
