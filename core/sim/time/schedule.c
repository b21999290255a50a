/*
** schedule.c - which loads of a kernel can be in flight together. Within a basic
** block the machine's compiler moves a load up as long as its address depends on
** no earlier load and no store may change what it reads; so such loads make one
** batch, and a warp waits once for it. The first load of a batch is its leader.
** ptxas 13.0 also moves loads up across one branch around straight code, so a batch
** stays open across it. It moves none across a branch with an else or with more inside.
*/
#include "sim/exec/operands.h"
#include "sim/instructions/ops.h"
#include "sim/time/time.h"

#include <stdlib.h>

enum { BATCH_MOST = 16 };

/* Loads of global memory: `gen` stamps what depends on the batch that is open. */
typedef struct batch {
  uint32_t gen, size;      /* size 0: none is open */
  uint32_t last;           /* the latest stamp that was given */
  uint32_t *stamp;         /* per 4 bytes of the register area */
} batch;

static int is_register(sim_ref r) { return r.base == SIM_REGS; }

static int depends(const batch *b, const sim_insn *in, int first) {
  if (b->size == 0) return 0;
  if (in->guard != SIM_NOGUARD && b->stamp[in->guard / 4] == b->gen) return 1;
  for (int i = first; i < 5; i++)
    if (is_register(in->r[i]) && b->stamp[in->r[i].off / 4] == b->gen) return 1;
  return 0;
}

static void mark(batch *b, sim_ref r, int tainted) {
  if (is_register(r)) b->stamp[r.off / 4] = tainted ? b->gen : 0;
}

/* A load joins the batch, or leads a new one. */
static void take_load(batch *b, sim_insn *in) {
  int late = b->size > 0 && is_register(in->r[1]) && b->stamp[in->r[1].off / 4] == b->gen;
  if (in->guard != SIM_NOGUARD && b->size > 0 && b->stamp[in->guard / 4] == b->gen) late = 1;
  if (late || b->size == 0 || b->size == BATCH_MOST) {
    in->leader = SIM_LEADS_GLOBAL;
    b->gen = ++b->last;
    b->size = 0;
  }
  b->size++;
  for (unsigned k = 0; k < in->vec || k == 0; k++) mark(b, in->r[k == 0 ? 0 : k + 1], 1);
}

static void take_other(batch *b, const sim_insn *in) {
  int tainted = depends(b, in, 1);
  mark(b, in->r[0], tainted);
  if (sim_op_has(in->op, OP_DEFINES_VECTOR)) for (int k = 2; k < 5; k++) mark(b, in->r[k], tainted);
}

static int is_global_load(const sim_insn *in) { return sim_op_has(in->op, OP_WAITS_GLOBAL); }
static int is_store(const sim_insn *in, uint32_t spaces) {
  uint32_t how = sim_ops[in->op].traits & (OP_WRITES | OP_ATOMIC | OP_ELEMENTS);
  return how == OP_STORE && sim_op_has(in->op, spaces);
}
static int ends_block(const sim_insn *in) {
  return sim_op_has(in->op, OP_JUMPS | OP_JUMPS_BY_TABLE | OP_EXITS | OP_BARRIER_BLOCK);
}

/* All copies under way are waited for. */
static int drains(const sim_insn *in) {
  return in->op == SIM_OP_cp_wait && (in->value == 0 || in->value == UINT32_MAX);
}

static int is_jump(const sim_insn *in) { return sim_op_has(in->op, OP_JUMPS); }

/* How many ways lead to an instruction, but for the one from the instruction ahead of it. */
static void count_ways(const sim_function *f, unsigned char *starts) {
  for (uint32_t i = 0; i < f->count; i++) {
    const sim_insn *in = &f->code[i];
    if (sim_op_has(in->op, OP_JUMPS | OP_TARGET) && in->target >= 0 && in->target < f->count && starts[in->target] < 2) starts[in->target]++;
  }
}

/* Whether a jump leaves out straight code that stores nothing to global memory, and is the only one that goes there. */
static int skips(const sim_function *f, const unsigned char *starts, uint32_t i) {
  const sim_insn *in = &f->code[i];
  if (!is_jump(in) || in->guard == SIM_NOGUARD || in->target <= i || in->target >= f->count || starts[in->target] != 1) return 0;
  for (uint32_t k = i + 1; k < in->target; k++)
    if (starts[k] || ends_block(&f->code[k]) || drains(&f->code[k]) || is_store(&f->code[k], OP_GLOBAL | OP_GENERIC)) return 0;
  return 1;
}

/* Behind code that was left out, the batch from ahead of it goes on; what was computed there depends on the branch. */
static void go_on(const sim_function *f, batch *b, const batch *ahead, uint32_t jump, uint32_t here) {
  b->gen = ahead->gen;
  b->size = ahead->size;
  for (uint32_t k = jump + 1; k < here; k++) {
    const sim_insn *in = &f->code[k];
    for (unsigned r = 0; r < 5; r++)
      if (sim_defines(in, r)) mark(b, in->r[r], 1);
    if (in->second != SIM_NONE) b->stamp[in->second / 4] = b->gen;
  }
}

static void walk(sim_function *f, const unsigned char *starts, batch *far) {
  batch ahead = *far;
  uint32_t jump = 0, join = 0;
  for (uint32_t i = 0; i < f->count; i++) {
    sim_insn *in = &f->code[i];
    if (starts[i]) far->size = 0;
    if (starts[i] && i == join) go_on(f, far, &ahead, jump, i);
    if (is_global_load(in)) take_load(far, in);
    else take_other(far, in);
    if (skips(f, starts, i)) {
      ahead = *far;
      jump = i;
      join = in->target;
    }
    if (is_store(in, OP_GLOBAL | OP_GENERIC) || drains(in)) far->size = 0;
    if (ends_block(in)) far->size = 0;
  }
}

/*
** ptxas puts some iterations of a small loop side by side, unless a load needs what the one
** before has loaded. Such loops are one basic block with few loads and no store to shared
** memory or barrier in it.
*/
enum { LOOP_MOST = 48, LOOP_LOADS = 4 };

static int is_loop(const sim_function *f, const unsigned char *starts, uint32_t first, uint32_t last) {
  uint32_t loads = 0;
  if (last - first >= LOOP_MOST) return 0;
  for (uint32_t i = first; i <= last; i++) {
    const sim_insn *in = &f->code[i];
    if (i > first && starts[i]) return 0;
    if (i < last && ends_block(in)) return 0;
    if (is_store(in, OP_SHARED) || in->op == SIM_OP_shfl || drains(in)) return 0;
    loads += is_global_load(in) ? 1 : 0;
  }
  return loads > 0 && loads <= LOOP_LOADS;
}

/* Whether the leader's address depends on what the loop loads: seen in a second iteration. */
static int chases(const sim_function *f, uint32_t first, uint32_t last, batch *b) {
  b->gen = ++b->last;
  b->size = 1;
  for (int round = 0; round < 2; round++)
    for (uint32_t i = first; i < last; i++) {
      const sim_insn *in = &f->code[i];
      if (!is_global_load(in)) { take_other(b, in); continue; }
      if (is_register(in->r[1]) && b->stamp[in->r[1].off / 4] == b->gen) return 1;
      for (unsigned k = 0; k < in->vec || k == 0; k++) mark(b, in->r[k == 0 ? 0 : k + 1], 1);
    }
  return 0;
}

static void unroll(sim_function *f, const unsigned char *starts, batch *b) {
  for (uint32_t i = 0; i < f->count; i++) {
    const sim_insn *in = &f->code[i];
    if (!sim_op_has(in->op, OP_JUMPS) || in->target < 0 || in->target >= i) continue;
    uint32_t first = (uint32_t)in->target;
    if (!is_loop(f, starts, first, i) || chases(f, first, i, b)) continue;
    for (uint32_t k = first; k < i; k++)
      if (f->code[k].leader == SIM_LEADS_GLOBAL) f->code[k].leader = SIM_LEADS_UNROLLED;
  }
}

/* Returns 0 when out of memory. */
int sim_schedule(sim_function *f) {
  size_t cells = f->regs_size / 4 + 64;
  batch far = { 1, 0, 1, calloc(cells, sizeof(uint32_t)) };
  unsigned char *starts = calloc(f->count + 1, 1);
  int ok = far.stamp != NULL && starts != NULL;
  if (ok) {
    count_ways(f, starts);
    walk(f, starts, &far);
    unroll(f, starts, &far);
  }
  free(far.stamp);
  free(starts);
  return ok;
}
