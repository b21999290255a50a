/*
** test_sim_warpgroup.c - what the simulated device says of warpgroup products that are used
** wrongly: warps that do not come, memory that is not there or not ready, waits left out. Each
** is a right kernel with one thing changed.
*/
#include "check.h"
#include "sim_wgmma.h"

enum { A_AT = 0, B_AT = 2048, SIZE = 2304, OUT = 64 * 8 * 4 };

#define FENCES "fence.proxy.async.shared::cta; bar.sync 0; wgmma.fence.sync.aligned;"
#define WAIT "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"

static sim_fixture x;
static cawb_addr in, out;
static const product right = { .d = "f32", .a = "bf16", .b = "bf16", .n = 8, .k = 16 };

static cawb_status run(const product *p, unsigned threads, unsigned size, size_t shared) {
  load_product(&x, p);
  ARG(&x, cawb_addr, out); ARG(&x, cawb_addr, in);
  ARG(&x, uint64_t, descriptor(A_AT, 1024, 128, 0, 0)); ARG(&x, uint64_t, descriptor(B_AT, 128, 128, 0, 0));
  ARG(&x, unsigned, size); ARG(&x, int, 0);
  x.report = (cawb_report){ 0 };
  return launch(&x, "k", 1, 1, threads, 1, shared);
}

static void says(const char *said, const char *text) {
  if (strstr(said, text) == NULL) fprintf(stderr, "'%s' instead of '%s'\n", said, text);
  CHECK(strstr(said, text) != NULL);
}

static void finds(const product *p, const char *text) {
  CHECK(run(p, 128, SIZE, SIZE) == CAWB_OK);
  CHECK(x.report.races > 0);
  says(x.report.race, text);
}

static void faults(const product *p, unsigned threads, size_t shared, const char *text) {
  CHECK(run(p, threads, SIZE < shared ? SIZE : (unsigned)shared, shared) == CAWB_ERR_CANDIDATE);
  says(x.err.msg, text);
}

static void test_right(void) {
  CHECK(run(&right, 128, SIZE, SIZE) == CAWB_OK && x.report.races == 0);
  CHECK(run(&right, 256, SIZE, SIZE) == CAWB_OK);      /* two warpgroups, which store the same */
  product other = right;
  other.before = "bar.sync 0; fence.proxy.async; wgmma.fence.sync.aligned;";       /* by those who read */
  CHECK(run(&other, 128, SIZE, SIZE) == CAWB_OK && x.report.races == 0);
  other = right;
  other.after = WAIT "bar.sync 0; st.shared.b32 [%r2], %r1;";
  CHECK(run(&other, 32 * 4, SIZE, SIZE) == CAWB_OK && strstr(x.report.race, "product") == NULL);
}

static void test_warps(void) {
  product p = right;
  p.guard = "setp.ge.u32 %p3, %r1, 96; @%p3 bra $around;";
  faults(&p, 128, SIZE, "k, kernel.cu line 7: wgmma.mma_async was reached by 3 of the warps 0 to 3, the others wait "
         "elsewhere or have ended: all four warps of a warpgroup must execute it, whole");
  p.guard = "setp.lt.u32 %p3, %r1, 96; @%p3 bra $around;";
  faults(&p, 256, SIZE, "was reached by 1 of the warps 0 to 3");
  p.guard = "setp.eq.u32 %p3, %r1, 5; @%p3 bra $around;";
  faults(&p, 128, SIZE, "was reached by 3 of the warps 0 to 3");
  p.guard = "setp.eq.u32 %p3, %r1, 5; @%p3 exit;";
  faults(&p, 128, SIZE, "wgmma needs all threads of a warp, and some have exited");
  faults(&right, 96, SIZE, "wgmma needs warpgroups of four whole warps: a block's threads must be a multiple of 128");
  faults(&right, 120, SIZE, "a block's threads must be a multiple of 128");
}

static void test_operands(void) {
  product p = right;
  p.guard = "cvt.u64.u32 %rd10, %r1; add.s64 %rd4, %rd4, %rd10;";
  faults(&p, 128, SIZE, "wgmma needs the same descriptors, and the same scale-d, in all 128 threads");
  p.guard = "setp.lt.u32 %p2, %r1, 64;";
  faults(&p, 128, SIZE, "wgmma needs the same descriptors, and the same scale-d, in all 128 threads");
  faults(&right, 128, 2048, "kernel.cu line 7: wgmma reads B up to byte 2304 of the block's 2048 bytes of shared memory: its "
         "descriptor has start 2048, leading offset 128, stride offset 128, swizzle 0");
  faults(&right, 128, 1024, "wgmma reads A up to byte 2048 of the block's 1024 bytes");
}

static void test_memory(void) {
  product p = right;
  p.before = "fence.proxy.async; wgmma.fence.sync.aligned;";
  finds(&p, "reads byte ");
  finds(&p, "with no __syncthreads() between");
  p.before = "bar.sync 0; wgmma.fence.sync.aligned;";
  finds(&p, "shared memory: k, kernel.cu line 7: a warpgroup product reads byte 0 of shared memory, which warp 0 wrote "
        "(line 5) without fence.proxy.async: every thread that writes needs it, between its stores and the barrier");
  CHECK(run(&right, 128, SIZE - 256, SIZE) == CAWB_OK);
  says(x.report.race, "uninitialised memory: k, kernel.cu line 7: read of byte 2048 of shared memory, to which nothing");
}

static void test_waits(void) {
  product p = right;
  p.after = "bar.sync 0; add.s32 %r2, %r2, %r3; st.shared.b32 [%r2+-2304], %r1; wgmma.commit_group.sync.aligned; "
            "wgmma.wait_group.sync.aligned 0;";
  finds(&p, "shared memory: k, kernel.cu line 8: warp 0 writes byte 256 of shared memory, which a warpgroup product may still "
        "read: let wgmma.wait_group and a barrier come before");
  p.after = "";
  finds(&p, "register memory: k, kernel.cu line 9: warp 3 reads an accumulator of the warpgroup product of line 7, which is "
        "under way: wgmma.commit_group and wgmma.wait_group must come before");
  p.after = "wgmma.wait_group.sync.aligned 0;";
  finds(&p, "reads an accumulator of the warpgroup product of line 7");
  p.after = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;";
  finds(&p, "reads an accumulator of the warpgroup product of line 7");
  p.after = "wgmma.commit_group.sync.aligned; setp.ge.u32 %p4, %r1, 32; @%p4 bra $late; wgmma.wait_group.sync.aligned 0; $late:";
  finds(&p, "reads an accumulator of the warpgroup product of line 7");
  p = right;
  p.before = "fence.proxy.async; bar.sync 0;";
  finds(&p, "register memory: k, kernel.cu line 7: a warpgroup product with no wgmma.fence before it, by warp 3");
}

/* One warp instruction a warp. */
static void test_counts(void) {
  product p = right;
  p.before = FENCES;
  p.after = WAIT;
  CHECK(run(&p, 128, 0, SIZE) == CAWB_OK);
  uint64_t one = x.report.warp_instructions;
  p.after = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %rd3, %rd4, 1, 1, 1, 0, 0;" WAIT;
  CHECK(run(&p, 128, 0, SIZE) == CAWB_OK && x.report.warp_instructions == one + 4);
}

static double clocks(double seconds) { return seconds * 1.755e9; }

/* 2048 multiply-adds of 16 bits a clock, 128 bytes of shared memory a clock; mma.sync has 0.66 of that rate. */
static void test_rates(void) {
  static char more[1 << 14];
  product p = right;
  for (int i = 0; i < 63; i++)
    strcat(more, "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %rd3, %rd4, 1, 1, 1, 0, 0;\n");
  strcat(more, WAIT);
  p.after = more;
  CHECK(run(&p, 128, 0, SIZE) == CAWB_OK);
  double tensor = clocks(x.report.bound.issue), shared = clocks(x.report.bound.shared);
  CHECK(tensor > 63.9 * 4 && tensor < 64.1 * 4);
  CHECK(shared > 64 * 18 - 1 && shared < 64 * 18 + 1);
  more[0] = '\0';
  for (int i = 0; i < 63; i++)
    strcat(more, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3}, {%r1, %r1, %r1, %r1}, "
           "{%r1, %r1}, {%d0, %d1, %d2, %d3};\n");
  p.after = strcat(more, WAIT);
  CHECK(run(&p, 128, 0, SIZE) == CAWB_OK);
  tensor = clocks(x.report.bound.issue);
  CHECK(tensor > 4 + 63 * 6 - 1 && tensor < 4 + 63 * 6 + 1);
}

int main(void) {
  static unsigned char zeros[SIZE];
  if (open_h100(&x.d, &x.err) != CAWB_OK) return 1;
  in = tensor(&x, "in", zeros, sizeof zeros);
  out = tensor(&x, "out", NULL, 2 * OUT);
  test_right();
  test_warps();
  test_operands();
  test_memory();
  test_waits();
  test_counts();
  test_rates();
  fixture_close(&x);
  return check_report();
}
