/*
** test_sim_ops.c - the table of instructions: that rows are whole, and that what they say of
** registers is what the instructions do, on every executor that this machine can run.
*/
#include <string.h>

#include "check.h"
#include "sim/instructions/ops.h"
#include "sim/isa/isas.h"

static int begins(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

static int is_predicate(const char *name) {
  return begins(name, "setp_") || begins(name, "testp_") || strcmp(name, "isspacep") == 0 || strstr(name, "_pred") != NULL;
}

/* Lists by how their instructions get at operands: those of lanes need no launch around them. */
static const uint8_t of_lanes[SIM_OP_COUNT] = {
#define X(name, pipe, traits) [SIM_OP_##name] = 1,
  SIM_OPS_INT(X) SIM_OPS_COMPARE(X) SIM_OPS_FLOAT(X) SIM_OPS_HALF(X) SIM_OPS_CONVERT(X)
#undef X
};

static void test_rows(void) {
  const uint32_t spaces = OP_GLOBAL | OP_SHARED | OP_LOCAL | OP_CONSTANT | OP_GENERIC;
  for (unsigned op = 0; op < SIM_OP_COUNT; op++) {
    int accesses = sim_op_has(op, OP_READS | OP_WRITES | OP_ATOMIC), placed = sim_op_has(op, spaces);
    CHECK(accesses == placed);
    CHECK(!sim_op_has(op, OP_ELEMENTS | OP_ASYNC) || accesses);
    CHECK(!sim_op_has(op, OP_ONE_TO_ONE) || !sim_op_has(op, OP_REARRANGED));
    CHECK(!of_lanes[op] || sim_op_has(op, OP_DEFINES | OP_DEFINES_VECTOR));
    for (unsigned other = 0; other < op; other++) CHECK(strcmp(sim_ops[op].name, sim_ops[other].name) != 0);
  }
}

/* The units of float32 multiply integers, whatever the product is used for. */
static void test_products(void) {
  for (unsigned op = 0; op < SIM_OP_COUNT; op++) {
    const char *name = sim_ops[op].name, *last = strrchr(name, '_');
    int whole = last != NULL && strchr("bsu", last[1]) != NULL && strstr(last, "f16") == NULL;
    if ((begins(name, "mul") || begins(name, "mad")) && whole) CHECK(sim_ops[op].pipe == SIM_PIPE_PRODUCT);
    if (begins(name, "div_") || begins(name, "rem_")) CHECK(OP_PROGRAM_OF(sim_ops[op].traits) != SIM_ONE_INSTRUCTION);
  }
}

enum { ROOM = 256 };            /* bytes of a register of 64 bits */
static unsigned char registers[6 * ROOM] __attribute__((aligned(128)));

/* One instruction on registers that hold anything, its results having held `before`. */
static void execute(const sim_isa *isa, unsigned op, int before, unsigned vec) {
  sim_exec x = { .nwarps = 1 };
  sim_warp w = { .exec = &x, .mask = SIM_ALL, .active = SIM_ALL, .live = SIM_ALL, .lanes = SIM_ALL };
  sim_insn in = { .op = (uint16_t)op, .fn = isa->table[op], .second = 5 * ROOM, .vec = (uint8_t)vec,
                  .width = op == SIM_OP_video ? 2 : 4,
                  .lane = vec > 1 ? 8 : 4, .from_lane = 4, .type = { 'f', 'f', 'f', 'f' }, .cmp = SIM_LT };
  if (op == SIM_OP_video_one) memset(in.type, 0, sizeof in.type);        /* parts of registers: all of each */
  for (unsigned i = 0; i < sizeof registers; i++) registers[i] = (unsigned char)(i * 37 + 11);
  for (unsigned k = 0; k < SIM_BASES; k++) w.base[k] = registers;
  for (unsigned k = 0; k < 5; k++) in.r[k] = (sim_ref){ SIM_REGS, k * ROOM };
  memset(registers, before, ROOM);
  memset(registers + (size_t)5 * ROOM, before, ROOM);
  for (unsigned k = 2; k <= vec && sim_op_has(op, OP_DEFINES_VECTOR); k++) memset(registers + (size_t)k * ROOM, before, ROOM);
  CHECK(in.fn(&w, &in) == SIM_NEXT);
}

/* What a row says is written as a whole does not depend on what was there. */
static void test_definitions(const sim_isa *isa) {
  unsigned char zeros[sizeof registers];
  for (unsigned op = 0; op < SIM_OP_COUNT; op++) {
    unsigned vec = strcmp(sim_ops[op].name, "pack") == 0 || strcmp(sim_ops[op].name, "unpack") == 0 ? 2 : 1;
    unsigned n = is_predicate(sim_ops[op].name) ? 4 : 128;
    if (!of_lanes[op]) continue;
    execute(isa, op, 0, vec);
    memcpy(zeros, registers, sizeof zeros);
    execute(isa, op, 0xff, vec);
    CHECK(memcmp(zeros, registers, n) == 0);
    for (unsigned k = 2; k <= vec && sim_op_has(op, OP_DEFINES_VECTOR); k++)
      CHECK(memcmp(zeros + (size_t)k * ROOM, registers + (size_t)k * ROOM, 128) == 0);
    if (begins(sim_ops[op].name, "setp_")) CHECK(memcmp(zeros + (size_t)5 * ROOM, registers + (size_t)5 * ROOM, 4) == 0);
  }
}

int main(void) {
  const sim_isa *best = sim_isa_best();
  test_rows();
  test_products();
  test_definitions(&sim_isa_base);
  if (best == &sim_isa_avx512) test_definitions(&sim_isa_avx2);
  if (best != &sim_isa_base) test_definitions(best);
  return check_report();
}
