/*
** chain.c - what each part of a kernel costs a warp that nobody else is in the way of: the longest chain of instructions that need each
** other's results. A basic block begins when every instruction of the one before has begun; in it an instruction begins as soon as its
** operands are there, as if the machine's compiler had put them into the best order. A value that a block leaves unfinished is waited
** for where it is used. Loops are gone through more than once, so that a turn waits for the one before; turns that ptxas puts side by
** side are gone through side by side. Loads of global memory are waited for by batches (schedule.c): how long, only the launch tells.
*/
#include "sim/exec/operands.h"
#include "sim/instructions/variants.h"
#include "sim/time/time.h"

#include <math.h>
#include <stdlib.h>

enum { TURNS = 3 };             /* through a loop of one block, until a turn takes as long as the next; through others less one */

typedef struct chain {
  sim_function *f;
  const sim_model *m;
  double *ready;                /* per 4 bytes of the register area: the clock at which the value is there */
  unsigned char *starts, *turns;
  double now, last;             /* when the block began; when its last instruction so far began */
  double stored;                /* when the last store to memory that loads may see began */
  double tensor;                /* until when the tensor unit is busy */
  double units[SIM_PIPES], slots;       /* clocks of the units and of the issue that the block takes */
} chain;

/* --------------------------------------------------------------- latencies */

static int is_predicate(const sim_insn *in) {
  return in->op >= SIM_OP_setp_s16 && in->op <= SIM_OP_setp_bf16x2;
}

/* Conversions between integers and floats, and counts of bits: the unit of special functions does these. */
static int is_converted(unsigned op) {
  return op == SIM_OP_cvt_f32_s32 || op == SIM_OP_cvt_f32_u32 || op == SIM_OP_cvt_s32_f32 || op == SIM_OP_cvt_any ||
         op == SIM_OP_popc_b32 || op == SIM_OP_popc_b64 || (op >= SIM_OP_bfind_u32 && op <= SIM_OP_clz_b64);
}

static double memory_latency(const chain *c, const sim_insn *in) {
  const sim_model *m = c->m;
  if (in->op == SIM_OP_shfl) return m->latency_shuffle;
  if (sim_op_has(in->op, OP_ATOMIC)) return sim_op_has(in->op, OP_SHARED) ? m->latency_atomic : m->latency_l2 * m->clock;
  if (sim_op_has(in->op, OP_LOCAL)) return m->latency_l1;
  if (sim_op_has(in->op, OP_SHARED)) return m->latency_shared;
  if (sim_op_has(in->op, OP_GLOBAL | OP_GENERIC) && in->strong) return m->latency_l2 * m->clock;
  return m->latency_alu;
}

static double arithmetic_latency(const chain *c, const sim_insn *in) {
  const sim_model *m = c->m;
  switch (sim_ops[in->op].pipe) {
    case SIM_PIPE_NONE: return 0;
    case SIM_PIPE_SPECIAL: return m->latency_special + (in->more > 0 ? m->latency_predicate : 0);    /* is it subnormal? */
    case SIM_PIPE_FP64: return m->latency_fp64;
    case SIM_PIPE_TENSOR: return m->latency_tensor;
    case SIM_PIPE_PRODUCT: return m->latency_product;
    default: break;
  }
  if (in->op >= SIM_OP_add_f16 && in->op <= SIM_OP_tanh_bf16x2) return m->latency_half;
  if (in->op == SIM_OP_redux) return m->latency_shuffle + m->latency_special;
  if (is_converted(in->op)) return m->latency_special;
  if (OP_PROGRAM_OF(sim_ops[in->op].traits) != SIM_ONE_INSTRUCTION) return 2 * m->latency_special;    /* to floats and back */
  return is_predicate(in) || in->op == SIM_OP_vote ? m->latency_predicate : m->latency_alu;
}

/* Of the two halves of a 64-bit integer the upper one needs the lower one's carry. */
static int is_carried(const sim_insn *in) {
  return sim_op_has(in->op, OP_TWICE) && !(in->op >= SIM_OP_and_b32 && in->op <= SIM_OP_not_b64);
}

/* Clocks from an instruction to one that needs its result; the other instructions of a program go one behind the other. */
static double latency_of(const chain *c, const sim_insn *in) {
  unsigned pipe = sim_ops[in->op].pipe;
  if (pipe == SIM_PIPE_MEMORY) return memory_latency(c, in);
  double step = pipe == SIM_PIPE_FP64 ? c->m->latency_fp64 : c->m->latency_alu;
  return arithmetic_latency(c, in) + in->more * step + (is_carried(in) ? step : 0);
}

/* What all instructions behind it wait for. */
static double pause_of(const chain *c, const sim_insn *in) {
  const sim_model *m = c->m;
  if (sim_op_has(in->op, OP_BARRIER_BLOCK)) return m->latency_barrier;
  if (sim_op_has(in->op, OP_BARRIER_CLUSTER)) return m->latency_cluster / 2;       /* it arrives and waits */
  if (in->op == SIM_OP_fence) return in->flags ? m->fence_system : in->mode ? m->latency_fence : m->latency_barrier;
  if (sim_op_has(in->op, OP_JUMPS)) return in->target >= 0 && in->target <= in - c->f->code ? m->latency_branch : 0;
  return 0;
}

/* Clocks that the instruction keeps one of the four units of its kind busy. */
static double busy_of(const chain *c, const sim_insn *in) {
  const sim_model *m = c->m;
  switch (sim_ops[in->op].pipe) {
    case SIM_PIPE_FP32: return in->cost * 4 / m->pipe_fp32;
    case SIM_PIPE_INT: case SIM_PIPE_PRODUCT: return in->cost * 4 / m->pipe_int;
    case SIM_PIPE_FP64: return in->cost * 4 / m->pipe_fp64;
    case SIM_PIPE_SPECIAL: return in->cost * 4 / m->pipe_special;
    case SIM_PIPE_TENSOR: return in->cost / m->pipe_tensor;       /* its costs are in quarters of a clock */
    default: return in->cost;
  }
}

/* ------------------------------------------------------------ instructions */

static int is_product(const sim_insn *in) { return in->op == SIM_OP_mma || in->op == SIM_OP_mma_sp; }

/* Registers that a product writes; the other ones of its extras it reads. */
static unsigned results_of(const sim_insn *in) {
  unsigned values = in->shape.m * in->shape.n / SIM_LANES;
  return in->type[0] == 'h' ? values / 2 : values;
}

static int is_result(const sim_insn *in, unsigned k) {
  return sim_defines(in, k) || (k == 0 && sim_op_has(in->op, OP_ATOMIC));
}

static double later(const chain *c, double at, sim_ref r) {
  return r.base == SIM_REGS ? fmax(at, c->ready[r.off / 4]) : at;
}

/* The clock at which it begins. */
static double start_of(const chain *c, const sim_insn *in) {
  double at = c->now;
  const sim_ref *extra = c->f->extras + in->extra;
  if (in->guard != SIM_NOGUARD) at = fmax(at, c->ready[in->guard / 4]);
  for (unsigned k = 0; k < 5; k++)
    if (!is_result(in, k)) at = later(c, at, in->r[k]);
  for (unsigned k = is_product(in) ? results_of(in) : 0; is_product(in) && k < in->shape.registers; k++) at = later(c, at, extra[k]);
  if (sim_op_has(in->op, OP_READS) && sim_op_has(in->op, OP_ELEMENTS | OP_SHARED)) at = fmax(at, c->stored);
  return sim_ops[in->op].pipe == SIM_PIPE_TENSOR ? fmax(at, c->tensor) : at;
}

static void give(chain *c, sim_ref r, double at) {
  if (r.base == SIM_REGS) c->ready[r.off / 4] = at;
}

static void finish(chain *c, const sim_insn *in, double at) {
  for (unsigned k = 0; k < 5; k++)
    if (is_result(in, k)) give(c, in->r[k], at);
  if (in->second != SIM_NONE) c->ready[in->second / 4] = at;
  for (unsigned k = 0; is_product(in) && k < results_of(in); k++) give(c, c->f->extras[in->extra + k], at);
}

static double slots_of(const sim_insn *in) {
  unsigned pipe = sim_ops[in->op].pipe;
  return pipe == SIM_PIPE_NONE ? 0 : (pipe == SIM_PIPE_TENSOR ? 1 : in->cost) + in->more;
}

static void step(chain *c, const sim_insn *in) {
  double at = start_of(c, in), busy = busy_of(c, in);
  finish(c, in, at + latency_of(c, in));
  if (sim_ops[in->op].pipe == SIM_PIPE_TENSOR) c->tensor = at + busy;
  if (in->op == SIM_OP_wgmma_wait) at = fmax(at, c->tensor);
  if (sim_op_has(in->op, OP_WRITES) && sim_op_has(in->op, OP_ELEMENTS)) c->stored = at + 1;
  c->last = fmax(c->last, at + 1 + pause_of(c, in));
  c->units[sim_ops[in->op].pipe] += busy;
  c->units[SIM_PIPE_FP32] += in->more;
  c->slots += slots_of(in);
}

/* ------------------------------------------------------------------ blocks */

static int ends(const sim_insn *in) {
  return in->op == SIM_OP_fence || in->op == SIM_OP_wgmma_wait ||
         sim_op_has(in->op, OP_JUMPS | OP_JUMPS_BY_TABLE | OP_EXITS | OP_BARRIER_BLOCK | OP_BARRIER_CLUSTER);
}

/* Instructions `first` up to `last`, so many copies of them beside each other: clocks of one. */
static double through(chain *c, uint32_t first, uint32_t last, unsigned copies) {
  double begun = c->now;
  c->last = begun;
  c->slots = 0;
  for (unsigned i = 0; i < SIM_PIPES; i++) c->units[i] = 0;
  for (unsigned k = 0; k < copies; k++)
    for (uint32_t i = first; i < last; i++)
      if (k == 0 || !c->f->code[i].unrolled) step(c, &c->f->code[i]);
  c->now = fmax(c->last, begun + c->slots * c->m->gap);
  for (unsigned i = 0; i < SIM_PIPES; i++) c->now = fmax(c->now, begun + c->units[i]);
  return (c->now - begun) / copies;
}

/* Where a jump back goes that is to be taken once more, else what follows. */
static uint32_t next_of(chain *c, uint32_t first, uint32_t last) {
  const sim_insn *in = &c->f->code[last - 1];
  if (!sim_op_has(in->op, OP_JUMPS) || in->target < 0 || in->target >= last) return last;
  unsigned most = in->target == first ? TURNS - 1 : TURNS - 2;
  return c->turns[last - 1]++ < most ? (uint32_t)in->target : last;
}

/* Clocks of each block, at its first instruction. */
static void walk(chain *c) {
  const sim_function *f = c->f;
  for (uint32_t first = 0, last; first < f->count; first = next_of(c, first, last)) {
    for (last = first + 1; last < f->count && !c->starts[last] && !ends(&f->code[last - 1]);) last++;
    const sim_insn *jump = &f->code[last - 1];
    unsigned copies = jump->unrolled && sim_op_has(jump->op, OP_JUMPS) && jump->target == first ? (unsigned)SIM_UNROLL : 1;
    f->prices[first].clocks = (uint32_t)(SIM_CLOCK * through(c, first, last, copies) + 0.5);
  }
}

/* ----------------------------------------------------------------- a kernel */

static void look_around(chain *c) {
  const sim_function *f = c->f;
  for (uint32_t i = 0; i < f->count; i++) {
    const sim_insn *in = &f->code[i];
    if (sim_op_has(in->op, OP_JUMPS | OP_TARGET) && in->target >= 0 && in->target < f->count) c->starts[in->target] = 1;
    if (sim_op_has(in->op, OP_TARGET)) c->starts[i] = 1;
  }
}

/* Batches of loads that an instruction begins, but for those whose latency is counted in clocks. */
static double waits_of(const sim_insn *in) {
  if (sim_op_has(in->op, OP_ATOMIC) || in->strong) return 0;
  return in->leader == SIM_LEADS_GLOBAL ? 1 : in->leader == SIM_LEADS_UNROLLED ? 1 / SIM_UNROLL : 0;
}

/* From what each costs to what all before it cost. */
static void add_up(chain *c) {
  sim_price sum = { 0, 0, 0, 0 };
  for (uint32_t i = 0; i <= c->f->count; i++) {
    sim_price here = c->f->prices[i];
    c->f->prices[i] = sum;
    if (i == c->f->count) break;
    const sim_insn *in = &c->f->code[i];
    sum.clocks += here.clocks;
    sum.waits += (uint32_t)(SIM_CLOCK * waits_of(in));
    sum.slots += (uint32_t)(SIM_CLOCK * slots_of(in) / (in->unrolled ? SIM_UNROLL : 1));
  }
}

int sim_chain(sim_function *f, const sim_model *m) {
  size_t cells = f->regs_size / 4 + 64;
  chain c = { .f = f, .m = m, .ready = calloc(cells, sizeof *c.ready), .starts = calloc(f->count + 1, 1),
              .turns = calloc(f->count + 1, 1) };
  f->prices = calloc(f->count + 1, sizeof *f->prices);
  int ok = c.ready != NULL && c.starts != NULL && c.turns != NULL && f->prices != NULL;
  if (ok) {
    look_around(&c);
    walk(&c);
    add_up(&c);
  }
  free(c.ready);
  free(c.starts);
  free(c.turns);
  return ok;
}
