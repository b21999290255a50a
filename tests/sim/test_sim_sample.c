/*
** test_sim_sample.c - some blocks that stand for all: what is counted and modelled is near
** what all of them would have counted, and only theirs is written.
*/
#include "check.h"
#include "sim_fixture.h"

enum { BLOCKS = 4096, N = BLOCKS * 256, SAMPLE = 128 };
static float input[N], output[N];

/* saxpy over all blocks; the report is the fixture's. */
static double run_saxpy(sim_fixture *x, uint64_t sample) {
  fixture_open(x, "basic.ptx");
  cawb_device_sample(x->d, sample);
  cawb_addr X = tensor(x, "inputs[1]", input, sizeof input), Y = tensor(x, "outputs[1]", input, sizeof input);
  ARG(x, cawb_addr, Y); ARG(x, cawb_addr, X); ARG(x, float, 0.5f); ARG(x, int, N);
  CHECK(launch(x, "saxpy", BLOCKS, 1, 256, 1, 0) == CAWB_OK);
  fetch_tensor(x, output, Y, sizeof output);
  return x->report.seconds;
}

static int near(double got, double want, double by) { return got >= want * (1 - by) && got <= want * (1 + by); }

static void test_counts(void) {
  sim_fixture all, some;
  double whole = run_saxpy(&all, 0), part = run_saxpy(&some, SAMPLE);
  const cawb_report *a = &all.report, *b = &some.report;
  CHECK(a->global_sectors == b->global_sectors && a->warp_instructions == b->warp_instructions);
  CHECK(a->thread_instructions == b->thread_instructions && a->branches == b->branches);
  CHECK(near((double)b->dram_bytes, (double)a->dram_bytes, 0.01));
  CHECK(near(part, whole, 0.02));
  fixture_close(&all);
  fixture_close(&some);
}

/* Each stretch of the grid has one block that was executed. */
static void test_stretches(void) {
  sim_fixture x;
  unsigned seed = 7, touched = 0;
  for (int i = 0; i < N; i++) input[i] = noise(&seed) + 3;
  run_saxpy(&x, SAMPLE);
  for (unsigned s = 0; s < SAMPLE; s++) {
    unsigned here = 0;
    for (unsigned b = 0; b < BLOCKS / SAMPLE; b++) {
      unsigned at = (s * (BLOCKS / SAMPLE) + b) * 256;
      here += output[at] != input[at];
    }
    CHECK(here == 1);
    touched += here;
  }
  CHECK(touched == SAMPLE);
  fixture_close(&x);
}

/* Memory of a terabyte's order is allocated, filled and let go without being there. */
static void test_room(void) {
  sim_fixture x;
  unsigned char byte = 1;
  size_t size = (size_t)60 << 30;
  fixture_open(&x, "basic.ptx");
  cawb_device_sample(x.d, SAMPLE);
  cawb_addr a = tensor(&x, "large", NULL, size);
  CHECK(cawb_device_fill(x.d, a, 0x7fc12345, size, &x.err) == CAWB_OK);
  CHECK(cawb_device_write(x.d, a + size / 2, &byte, 1, &x.err) == CAWB_OK);
  CHECK(cawb_device_fill(x.d, a, 0, size, &x.err) == CAWB_OK);
  CHECK(cawb_device_read(x.d, &byte, a + size / 2, 1, &x.err) == CAWB_OK && byte == 0);
  cawb_device_free(x.d, a);
  fixture_close(&x);
}

int main(void) {
  test_counts();
  test_stretches();
  test_room();
  return check_report();
}
