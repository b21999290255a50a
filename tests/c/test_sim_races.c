/*
** test_sim_races.c - what the simulated device calls a race, and what it must
** not: each wrong kernel stands beside a right one that differs in little else.
*/
#include "check.h"
#include "sim_fixture.h"

enum { THREADS = 256 };

static sim_fixture x;
static cawb_addr in, out;

/* The races of a kernel `(out, in)`, which must say `text` if there are any. */
static unsigned long long races(const char *kernel, unsigned blocks, const char *text) {
  ARG(&x, cawb_addr, out); ARG(&x, cawb_addr, in);
  if (launch(&x, kernel, blocks, 1, THREADS, 1, 0) != CAWB_OK) {
    fprintf(stderr, "%s: %s\n", kernel, x.err.msg);
    CHECK(0);
  }
  int said = strstr(x.report.race, text) != NULL;
  if (!said) fprintf(stderr, "%s said: %s\n", kernel, x.report.race);
  CHECK(x.report.races > 0 ? said : x.report.race[0] == '\0');
  return x.report.races;
}

static void test_atomics(void) {
  int got[16];
  CHECK(races("histogram", 1, "") == 0);
  fetch_tensor(&x, got, out, sizeof got);
  for (int i = 0; i < 16; i++) CHECK(got[i] == 64);
  CHECK(races("counted", 1, "") == 0);
  fetch_tensor(&x, got, out, 4);
  CHECK(got[0] == THREADS / 16 * 120);
  CHECK(races("counted_race", 1, "warp 7 reads byte 0 of shared memory, which several warps updated (line ") == 1);
  CHECK(races("peeked_race", 1, "warp 1 updates byte 0 of shared memory, which warp 0 read with no __syncthreads()") > 0);
  CHECK(races("swapped", 1, "") == 0);
}

int main(void) {
  int values[THREADS];
  for (int i = 0; i < THREADS; i++) values[i] = i % 16;
  fixture_open(&x, "features.ptx");
  in = tensor(&x, "inputs[1]", values, sizeof values);
  out = tensor(&x, "outputs[1]", NULL, sizeof values);
  test_atomics();
  fixture_close(&x);
  return check_report();
}
