/*
** test_sim_block.c - the parts of the executor, each by itself: groups of lanes, barriers, bank
** conflicts, the caches' judgement, and reads of memory that nothing has written.
*/
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "sim/access/cache.h"
#include "sim/access/shared.h"
#include "sim/exec/barrier.h"
#include "sim/exec/groups.h"
#include "sim/watch/uninitialised.h"

/* --------------------------------------------------------------------- groups */

static void test_groups(void) {
  sim_exec x = { .nwarps = 1 };
  sim_warp w = { .exec = &x, .live = SIM_ALL, .waited = SIM_ALL, .next = UINT32_MAX };
  sim_group_park(&w, 9, 0xf0, SIM_READY, 0);
  sim_group_park(&w, 5, 0x03, SIM_READY, 0);
  sim_group_park(&w, 5, 0x0c, SIM_READY, 0);
  sim_group_park(&w, 2, 0xf00, SIM_AT_BLOCK, 1);
  CHECK(w.ngroups == 3);                        /* those at 5 are one */
  CHECK(sim_group_choose(&w) && w.pc == 5 && w.active == 0x0f && w.next == 9);
  w.mask = 0x01;                                /* one lane jumps back, the others go on */
  w.target = 3;
  sim_group_split(&w);
  CHECK(w.active == 0 && x.counts.divergent == 1);
  CHECK(sim_group_choose(&w) && w.pc == 3 && w.active == 0x01 && w.next == 6);
  sim_group_switch(&w);                         /* it has run for long: the next one behind it */
  CHECK(w.pc == 6 && w.active == 0x0e);
  CHECK(sim_group_waiting(&w, 2) == NULL);      /* that one waits for its block */
}

/* ------------------------------------------------------------------- barriers */

typedef struct two_warps {
  sim_insn code[2];
  sim_function function;
  uint32_t shadow[1], lanes[2][SIM_LANES];
  sim_warp warps[2];
  sim_exec x;
} two_warps;

/* Two warps at bar.sync 0. */
static void make(two_warps *t) {
  memset(t, 0, sizeof *t);
  t->function.code = t->code;
  t->x = (sim_exec){ .function = &t->function, .warps = t->warps, .nwarps = 2, .threads = 64, .writers = t->shadow,
                     .readers = t->shadow, .lines = t->shadow, .shadow_size = 1, .epoch = 1 };
  for (unsigned k = 0; k < 5; k++) t->code[0].r[k].base = SIM_UNUSED;
  t->code[0].r[1] = (sim_ref){ SIM_CONSTS, 0 };
  for (unsigned i = 0; i < 2; i++) {
    sim_warp *w = &t->warps[i];
    *w = (sim_warp){ .exec = &t->x, .index = i, .mask = SIM_ALL, .active = SIM_ALL, .lanes = SIM_ALL, .live = SIM_ALL,
                     .waited = SIM_ALL };
    for (unsigned k = 0; k < SIM_BASES; k++) w->base[k] = (unsigned char *)t->lanes[0];
  }
}

static void test_barrier(void) {
  two_warps *t = aligned_alloc(128, (sizeof *t + 127) / 128 * 128);
  make(t);
  CHECK(sim_barrier_arrive(&t->warps[0], &t->code[0]) == SIM_NEXT);
  CHECK(sim_barrier_complete(&t->x) == 0 && !sim_group_choose(&t->warps[0]));
  CHECK(sim_stuck(&t->x) == SIM_FAULT && strstr(t->x.fault.text, "barrier 0 was reached by 32 of 64 threads") != NULL);
  CHECK(sim_barrier_arrive(&t->warps[1], &t->code[0]) == SIM_NEXT);
  CHECK(sim_barrier_complete(&t->x) == 1 && t->x.epoch == 2);
  CHECK(sim_group_choose(&t->warps[0]) && t->warps[0].pc == 1 && t->warps[0].active == SIM_ALL);
  make(t);
  t->lanes[0][0] = 16;
  CHECK(sim_barrier_arrive(&t->warps[0], &t->code[0]) == SIM_FAULT);
  CHECK(strcmp(t->x.fault.text, "a barrier's number must be 0 to 15") == 0);
  free(t);
}

/* -------------------------------------------------------------- bank conflicts */

static unsigned waves(uint32_t apart, unsigned size, unsigned *least) {
  uint32_t addr[SIM_LANES];
  for (unsigned l = 0; l < SIM_LANES; l++) addr[l] = l * apart;
  return sim_shape_wavefronts(addr, SIM_ALL, size, least);
}

static void test_wavefronts(void) {
  static const struct { uint32_t apart; unsigned size, waves, least; } cases[] = {
    { 4, 4, 1, 1 }, { 0, 4, 1, 1 }, { 8, 4, 2, 1 }, { 128, 4, 32, 1 }, { 132, 4, 1, 1 }, { 8, 8, 2, 2 }, { 16, 16, 4, 4 }
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned least;
    CHECK(waves(cases[i].apart, cases[i].size, &least) == cases[i].waves && least == cases[i].least);
  }
}

/* ----------------------------------------------------------------- the caches */

static void test_cache(void) {
  uint64_t bits[SIM_BITMAPS] = { 0 };
  uint32_t last[64] = { 0 };
  sim_region r = { .base = 0, .size = 2048, .bits = bits, .words = 1, .last = last };
  sim_exec x = { .nwarps = 1, .cache_block = 1, .l1 = calloc(1, sizeof(sim_l1)), .l1_room = 8, .l2_room = 64,
                 .l2_sectors = 4096, .at_once = 1, .first_stamp = 1 };
  sim_warp w = { .exec = &x };
  CHECK(sim_cache_load_range(&w, &r, 0, 3) == 2);          /* DRAM: nobody has asked for it */
  bits[SIM_READS_NOW] |= 15;
  CHECK(sim_cache_load_range(&w, &r, 0, 3) == 0 && x.counts.load_hits == 4);
  x.cache_block = 2;                                       /* another block: L1 starts anew */
  x.serial = 1;
  CHECK(sim_cache_load_range(&w, &r, 0, 3) == 1);
  sim_cache_store_range(&w, &r, 4, 5, 0, 0);
  CHECK(x.counts.partial == 2 && x.counts.lines == 3);
  free(x.l1);
}

/* ------------------------------------------------------- what nothing has written */

static void test_uninitialised(void) {
  uint64_t written[5] = { 0 }, addr[SIM_LANES];
  sim_insn in = { .width = 4, .vec = 1, .line = 7 };
  sim_exec x = { .checks = 1 };
  sim_warp w = { .exec = &x, .mask = SIM_ALL };
  sim_where at = { .base = 1 << 20, .written = written, .pattern = DENSE };
  for (unsigned l = 0; l < SIM_LANES; l++) addr[l] = at.base + 4 * l;
  sim_uninitialised_mark(&w, &in, &at, addr);
  sim_uninitialised_check(&w, &in, &at, addr);
  CHECK(written[0] == UINT64_MAX && written[1] == UINT64_MAX && x.counts.races == 0);
  at.pattern = MIXED;
  addr[5] += 4 * SIM_LANES;
  sim_uninitialised_check(&w, &in, &at, addr);
  CHECK(x.counts.races == 1 && x.race.kind == SIM_RACE_UNINITIALISED && x.race.place == addr[5] && x.race.line == 7);
}

int main(void) {
  test_groups();
  test_barrier();
  test_wavefronts();
  test_cache();
  test_uninitialised();
  return check_report();
}
