/*
** test_sim_races.c - what the simulated device calls a race, and what it must
** not: each wrong kernel stands beside a right one that differs in little else.
*/
#include <math.h>

#include "check.h"
#include "sim/isa/isas.h"
#include "sim/memory/device.h"
#include "sim/watch/race.h"
#include "sim_fixture.h"

enum { THREADS = 256 };

static sim_fixture x;
static cawb_addr in, out, more;

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
  CHECK(races("histogram_race", 1, "too, and each writes its own sum back: use atomicAdd()") > 0);
  CHECK(races("histogram_global_race", 1, "too, and each writes its own sum back: use atomicAdd()") > 0);
  CHECK(races("halves_race", 1, "with no __syncthreads() between") > 0);
}

/* Numbers of stretches begin again; what was noted before is forgotten. */
static void test_numbers(void) {
  sim_device *d = (sim_device *)x.d;
  CHECK(races("blocks_apart", 4, "") == 0);
  d->last_stretch = SIM_STRETCH_MOST / 2 - 4;
  CHECK(races("blocks_race", 3, "wrote another value") == 2 && d->last_stretch == SIM_STRETCH_MOST / 2 - 1);
  CHECK(races("blocks_race", 4, "wrote another value") == 3 && d->last_stretch > SIM_STRETCH_MOST / 2);
  CHECK(races("blocks_apart", 4, "") == 0 && d->last_stretch == 4);
}

static void test_lanes(void) {
  CHECK(races("lanes_agree", 1, "") == 0);
  CHECK(races("lanes_race", 1, "shared memory: lanes_race, kernel.cu line ") == THREADS / 32);
  CHECK(races("lanes_race", 1, "lanes of warp 0 write different values to byte 0 of shared memory at once") > 0);
  CHECK(races("pairs_race", 1, "lanes of warp 0 write different values to byte 0 of shared memory at once") == THREADS / 32);
  CHECK(races("pairs_global_race", 1, "global memory: pairs_global_race, kernel.cu line ") == THREADS / 32);
  CHECK(races("pairs_global_race", 1, "different values to byte 0 of outputs[1] at once") > 0);
}

static void test_blocks(void) {
  const int zero = 0;
  CHECK(races("blocks_agree", 4, "") == 0);
  CHECK(races("blocks_apart", 4, "") == 0);
  CHECK(races("blocks_race", 1, "") == 0);
  CHECK(races("blocks_race", 4, "global memory: blocks_race, kernel.cu line ") == 3);
  CHECK(races("blocks_race", 4, "block (1,0,0) writes byte 12 of outputs[1], where block (0,0,0) wrote another value") == 3);
  CHECK(races("blocks_rows_race", 2, "block (1,0,0) writes byte 0 of outputs[1], where block (0,0,0) wrote") == THREADS);
  CHECK(races("blocks_halves", 2, "") == 0);
  CHECK(races("blocks_part_race", 2, "block (1,0,0) writes byte 20 of outputs[1], where block (0,0,0) wrote") == 1);
  CHECK(races("blocks_whole_race", 2, "block (1,0,0) writes byte 20 of outputs[1], where block (0,0,0) wrote") == 1);
  CHECK(races("blocks_zero_race", 2, "block (1,0,0) updates byte 0 of outputs[1], where block (0,0,0) wrote without") == 1);
  CHECK(cawb_device_write(x.d, out, &zero, 4, &x.err) == CAWB_OK);
  CHECK(races("blocks_turns", 4, "") == 0);     /* fences: their order is taken on trust */
}

/* Three launches in one run: in -> out, out -> more, in -> in. The second and third are dependent where `dependent` has their bit. */
static unsigned long long chained(const char *second, const char *third, unsigned dependent, const char *text) {
  static const char *const first = "ahead_twice";
  const cawb_addr args[3][2] = { { out, in }, { more, out }, { in, in } };
  cawb_step s[3];
  for (unsigned i = 0; i < 3; i++)
    s[i] = (cawb_step){ .kind = CAWB_STEP_LAUNCH, .kernel = i == 0 ? first : i == 1 ? second : third, .grid = { 1, 1, 1 },
                        .block = { THREADS, 1, 1 }, .cluster = { 1, 1, 1 }, .args = args[i], .args_size = sizeof args[i],
                        .dependent = (int)(dependent >> i & 1) };
  memset(&x.report, 0, sizeof x.report);
  CHECK(cawb_device_run(x.d, x.m, s, 3, &x.report, &x.err) == CAWB_OK);
  if (strstr(x.report.race, text) == NULL) fprintf(stderr, "%s, %s said: %s\n", second, third, x.report.race);
  CHECK(strstr(x.report.race, text) != NULL);
  return x.report.races;
}

/* A launch that begins early races with those before it until it has waited. */
static void test_dependent(void) {
  enum { SECOND = 2, THIRD = 4, WARPS = THREADS / 32 };
  CHECK(chained("ahead_twice", "ahead_twice", 0, "") == 0);
  CHECK(chained("ahead_waits", "ahead_waits", SECOND | THIRD, "") == 0);
  CHECK(chained("ahead_one_waits", "ahead_one_waits", SECOND | THIRD, "") == 0);
  CHECK(chained("ahead_twice", "ahead_waits", SECOND, "warp 0 reads byte 0 of outputs[1], which a launch before it wrote and may not have ended: "
                "wait for that with griddepcontrol.wait") == WARPS);
  CHECK(chained("ahead_late", "ahead_waits", SECOND, "global memory: ahead_late, kernel.cu line ") == WARPS);
  /* The third stores where the first, which may still be under way where the second is dependent, too, has read. */
  CHECK(chained("ahead_waits", "ahead_twice", SECOND | THIRD, "warp 0 writes byte 0 of inputs[1], which a launch before it read") == WARPS);
  CHECK(chained("ahead_waits", "ahead_twice", THIRD, "") == 0);
  CHECK(chained("ahead_waits", "ahead_waits", 0, "") == 0);
  double apart = x.report.seconds;                                     /* modelled; the figures of open_h100: 1 us and 0.2 us */
  CHECK(chained("ahead_waits", "ahead_waits", SECOND | THIRD, "") == 0);
  CHECK(fabs(apart - x.report.seconds - 2 * (1e-6 - 2e-7)) < 1e-12);
  cawb_device_sanitize(x.d, 0);
  CHECK(chained("ahead_twice", "ahead_twice", SECOND | THIRD, "") == 0);
  cawb_device_sanitize(x.d, 1);
}

/* Told not to look, it sees nothing, and counts what it counted. */
static void test_off(void) {
  static const char *const wrong[] = { "counted_race", "lanes_race", "pairs_global_race", "blocks_race" };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK(races(wrong[i], 4, "") > 0);
    cawb_report was = x.report;
    cawb_device_sanitize(x.d, 0);
    CHECK(races(wrong[i], 4, "") == 0);
    cawb_device_sanitize(x.d, 1);
    CHECK(x.report.warp_instructions == was.warp_instructions && x.report.thread_instructions == was.thread_instructions);
    CHECK(x.report.shared_wavefronts == was.shared_wavefronts && x.report.global_sectors == was.global_sectors);
    CHECK(x.report.dram_bytes == was.dram_bytes && x.report.barriers == was.barriers);
  }
}

int main(void) {
  int values[THREADS];
  for (int i = 0; i < THREADS; i++) values[i] = i % 16;
  fixture_open(&x, "races.ptx");
  in = tensor(&x, "inputs[1]", values, sizeof values);
  out = tensor(&x, "outputs[1]", NULL, sizeof values);
  more = tensor(&x, "outputs[2]", NULL, sizeof values);
  test_dependent();
  CHECK(cawb_device_write(x.d, in, values, sizeof values, &x.err) == CAWB_OK);
  test_atomics();
  test_lanes();
  test_blocks();
  test_off();
  test_numbers();
  fixture_close(&x);
  return check_report();
}
