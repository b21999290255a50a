/*
** test_sim_epoch.c - the race detector's epochs start again before they run into
** the flags beside them. Sixteen million barriers take too long to run here, so
** an executor of its own is told that they have passed.
*/
#include "sim/exec/barrier.h"
#include "sim/exec/block.h"
#include "sim/watch/shadow.h"

#include "check.h"

enum { UNITS = 8 };

static void test_wrap(void (*grow)(sim_exec *)) {
  uint32_t writers[UNITS], readers[UNITS], lines[UNITS] = { 0 };
  unsigned char values[SIM_BLOCK_BYTES];
  sim_warp warp = { .index = 1 };
  sim_insn in = { .line = 3 };
  sim_function function = { .local_size = 0 };
  sim_exec x = { .writers = writers, .readers = readers, .lines = lines, .shadow_size = UNITS,
                 .blockvals = values, .warps = &warp, .nwarps = 1, .function = &function, .cluster = { 1, 1, 1 }, .epoch = (1u << 24) - 2, .checks = 1 };
  warp.exec = &x;
  for (int i = 0; i < UNITS; i++) writers[i] = readers[i] = 1u << 8;      /* warp 0, when all began */
  grow(&x);
  CHECK(x.epoch == (1u << 24) - 1 && writers[0] == 1u << 8);
  grow(&x);
  CHECK(x.epoch == 1 && writers[0] == 0 && readers[UNITS - 1] == 0);
  shadow_range(&warp, &in, 0, UNITS, WRITE);
  CHECK(x.counts.races == 0 && writers[0] == (1u << 8 | 1));
  warp.index = 2;
  shadow_range(&warp, &in, 0, UNITS, READ);
  CHECK(x.counts.races == UNITS && x.race.other_warp == 1);
}

static void at_barrier(sim_exec *x) { sim_barrier_release(x, 0); }

int main(void) {
  test_wrap(at_barrier);
  test_wrap(sim_block_begin);
  return check_report();
}
