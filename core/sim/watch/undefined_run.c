/* undefined_run.c - what instructions do with undefined values. See undefined.h. */
#include "sim/watch/undefined_note.h"

#include "sim/exec/operands.h"
#include "sim/exec/warp.h"
#include "sim/watch/uninitialised.h"

/* The lanes in which something is undefined, and the number of its origin. */
typedef struct doubt { uint32_t lanes, from; } doubt;

static doubt both(doubt a, doubt b) { return (doubt){ a.lanes | b.lanes, a.lanes != 0 ? a.from : b.from }; }

static doubt within(doubt a, uint32_t lanes) { return (doubt){ a.lanes & lanes, a.from }; }

static doubt at(const struct sim_undefined *u, uint32_t off) { return (doubt){ u->lanes[off / 4], u->from[off / 4] }; }

static doubt operand(const struct sim_undefined *u, const sim_insn *in, unsigned k) {
  return in->r[k].base == SIM_REGS ? at(u, in->r[k].off) : (doubt){ 0, 0 };
}

static doubt guard_of(const struct sim_undefined *u, const sim_insn *in) {
  return in->guard != SIM_NOGUARD ? at(u, in->guard) : (doubt){ 0, 0 };
}

/* ------------------------------------------------------------------ findings */

/* `use` says what the value decides; NULL: the instruction's name does. */
static void say(sim_warp *w, const sim_insn *in, doubt d, const char *use) {
  const sim_origin *o = &w->undefined->origins[d.from];
  uint32_t lanes = (d.lanes & o->lanes) != 0 ? d.lanes & o->lanes : o->lanes;
  unsigned lane = (unsigned)__builtin_ctz(lanes);
  if (!sim_uninitialised_note(w, o->in, o->space, lane, o->place[lane])) return;
  w->exec->race.user = in;
  w->exec->race.use = use;
}

/* One value, one finding: then it counts as defined. */
static void judge(sim_warp *w, const sim_insn *in, uint32_t off, uint32_t lanes, const char *use) {
  doubt d = within(at(w->undefined, off), lanes);
  if (d.lanes == 0) return;
  say(w, in, d, use);
  undefined_put(w->undefined, off, lanes, 0, 0);
}

static void judge_operand(sim_warp *w, const sim_insn *in, unsigned k, uint32_t lanes, const char *use) {
  if (in->r[k].base == SIM_REGS) judge(w, in, in->r[k].off, lanes, use);
}

static void judge_guard(sim_warp *w, const sim_insn *in) {
  if (in->guard != SIM_NOGUARD) judge(w, in, in->guard, w->active, "branches on it");
}

/* The lanes of a store that go to shared memory of the block, or to local memory. */
static uint32_t stays(const sim_warp *w, const sim_insn *in) {
  uint64_t addr[SIM_LANES];
  uint32_t lanes = 0;
  if (in->op == SIM_OP_st_shared || in->op == SIM_OP_st_local) return SIM_ALL;
  if (in->op != SIM_OP_st_generic) return 0;
  addresses(w, in, in->r[1], in->wide & 2, in->offset, addr);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    uint64_t slot = addr[l] >> SIM_SLOT_BITS, place = addr[l] - SIM_WINDOW(slot);
    if (slot == SIM_LOCAL || (slot == SIM_SHARED && place < w->exec->shared_size)) lanes |= 1u << l;
  }
  return lanes;
}

static void judge_store(sim_warp *w, const sim_insn *in) {
  const char *use = sim_op_has(in->op, OP_SHARED) ? "stores it for another block" : "stores it to global memory";
  judge_operand(w, in, 1, w->mask, "takes it for an address");
  uint32_t leaves = w->mask & ~stays(w, in);
  for (unsigned k = 0; k < in->vec && leaves != 0; k++) judge_operand(w, in, k == 0 ? 0 : k + 1, leaves, use);
}

/* Operands that are in a list of their own. */
static uint32_t listed(const sim_insn *in) {
  switch (in->op) {
    case SIM_OP_mma: case SIM_OP_mma_sp: case SIM_OP_wgmma: case SIM_OP_wmma_load: case SIM_OP_wmma_store: return in->shape.registers;
    default: return 0;
  }
}

/* Instructions whose results are not followed. */
static void judge_all(sim_warp *w, const sim_insn *in) {
  const sim_ref *list = w->exec->function->extras + in->extra;
  int first = sim_op_has(in->op, OP_ATOMIC);
  for (unsigned k = (unsigned)first; k < 5; k++) if (!sim_defines(in, k)) judge_operand(w, in, k, w->mask, NULL);
  for (uint32_t i = 0; i < listed(in); i++) if (list[i].base == SIM_REGS) judge(w, in, list[i].off, w->mask, NULL);
}

/* ------------------------------------------------------------------- values */

/* Lanes of a register whose value is all zeros, or all ones. */
static uint32_t lanes_with(const sim_warp *w, sim_ref r, unsigned bytes, int ones) {
  uint64_t all = bytes == 8 ? UINT64_MAX : UINT32_MAX;
  uint32_t lanes = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) lanes |= (uint32_t)(lane_of(w, r, bytes, l) == (ones ? all : 0)) << l;
  return lanes;
}

/* Of and, or: one operand alone decides where it is `a` or `b`, and defined. */
static doubt decided(doubt a, doubt b, uint32_t by_a, uint32_t by_b) {
  return within(both(a, b), ~((by_a & ~a.lanes) | (by_b & ~b.lanes)));
}

static doubt of_bits(const sim_warp *w, const sim_insn *in, unsigned bytes, int ones) {
  const struct sim_undefined *u = w->undefined;
  return decided(operand(u, in, 1), operand(u, in, 2), lanes_with(w, in->r[1], bytes, ones), lanes_with(w, in->r[2], bytes, ones));
}

static doubt of_predicates(const sim_warp *w, const sim_insn *in, uint32_t turned) {
  const struct sim_undefined *u = w->undefined;
  return decided(operand(u, in, 1), operand(u, in, 2), SIM_MASK_OF(w, in->r[1]) ^ turned, SIM_MASK_OF(w, in->r[2]) ^ turned);
}

static doubt selected(const sim_warp *w, const sim_insn *in) {
  const struct sim_undefined *u = w->undefined;
  uint32_t first = SIM_MASK_OF(w, in->r[3]) ^ (in->negate ? SIM_ALL : 0);
  return both(operand(u, in, 3), both(within(operand(u, in, 1), first), within(operand(u, in, 2), ~first)));
}

/* A comparison, and a predicate that is added to it by and, or. */
static doubt compared(const sim_warp *w, const sim_insn *in) {
  const struct sim_undefined *u = w->undefined;
  doubt test = both(operand(u, in, 1), operand(u, in, 2)), p = operand(u, in, 3);
  if (in->mode == 0 || in->r[3].base != SIM_REGS) return both(test, p);
  uint32_t held = SIM_MASK_OF(w, in->r[3]) ^ (in->negate ? SIM_ALL : 0);
  uint32_t alone = in->mode == 1 ? ~held : in->mode == 2 ? held : 0;
  return both(within(test, ~(alone & ~p.lanes)), p);
}

static doubt shuffled(const sim_warp *w, const sim_insn *in) {
  const struct sim_undefined *u = w->undefined;
  const u32 *b = SIM_PLACE(u32, w, in->r[2]), *c = SIM_PLACE(u32, w, in->r[3]);
  doubt a = operand(u, in, 1), moved = { 0, a.from };
  int in_range;
  for (unsigned l = 0; l < SIM_LANES; l++)
    moved.lanes |= (a.lanes >> shuffle_from(in->mode, l, b[l], c[l], &in_range) & 1) << l;
  return both(moved, both(operand(u, in, 2), operand(u, in, 3)));
}

static doubt of_all(const struct sim_undefined *u, const sim_insn *in) {
  doubt d = { 0, 0 };
  for (unsigned k = 0; k < 5; k++) if (!sim_defines(in, k)) d = both(d, operand(u, in, k));
  return d;
}

static int is_carry(unsigned op) { return op >= SIM_OP_carry_add_b32 && op <= SIM_OP_carry_mad_hi_u64; }

static doubt result_of(const sim_warp *w, const sim_insn *in) {
  const struct sim_undefined *u = w->undefined;
  if (of_all(u, in).lanes == 0 && !is_carry(in->op)) return (doubt){ 0, 0 };
  switch (in->op) {
    case SIM_OP_selp_b32: case SIM_OP_selp_b64: return selected(w, in);
    case SIM_OP_and_pred: return of_predicates(w, in, SIM_ALL);
    case SIM_OP_or_pred: return of_predicates(w, in, 0);
    case SIM_OP_and_b32: return of_bits(w, in, 4, 0);
    case SIM_OP_and_b64: return of_bits(w, in, 8, 0);
    case SIM_OP_or_b32: return of_bits(w, in, 4, 1);
    case SIM_OP_or_b64: return of_bits(w, in, 8, 1);
    case SIM_OP_shfl: return shuffled(w, in);
    default: break;
  }
  if (in->op >= SIM_OP_setp_s16 && in->op <= SIM_OP_setp_bf16) return compared(w, in);
  if (is_carry(in->op) && (in->flags & 1)) return both(of_all(u, in), (doubt){ u->carry, u->carry_from });
  return of_all(u, in);
}

/* ------------------------------------------------------------- one instruction */

enum { PASSES_ON, LOADS, STORES, ENDS };

static int kind_of(const sim_insn *in) {
  switch (in->op) {
    case SIM_OP_vote: case SIM_OP_match: case SIM_OP_redux: case SIM_OP_elect: case SIM_OP_movmatrix: case SIM_OP_mapa:
      return ENDS;
    default: break;
  }
  if (sim_op_has(in->op, OP_ELEMENTS) && !sim_op_has(in->op, OP_ATOMIC)) return sim_op_has(in->op, OP_READS) ? LOADS : STORES;
  if (sim_op_has(in->op, OP_READS | OP_WRITES | OP_ATOMIC | OP_CLOCK)) return ENDS;
  return sim_op_has(in->op, OP_DEFINES | OP_DEFINES_VECTOR) ? PASSES_ON : ENDS;
}

/* Results are undefined as `d` says in the lanes that are `here`. */
static void leave(sim_warp *w, const sim_insn *in, doubt d, uint32_t here) {
  struct sim_undefined *u = w->undefined;
  for (unsigned k = 0; k < 5; k++)
    if (in->r[k].base == SIM_REGS && sim_defines(in, k)) undefined_put(u, in->r[k].off, here, d.lanes, d.from);
  if (in->second != SIM_NONE) undefined_put(u, in->second, here, in->op == SIM_OP_shfl ? 0 : d.lanes, d.from);
  if (!is_carry(in->op) || !(in->flags & 2)) return;
  u->carry = (u->carry & ~here) | (d.lanes & here);
  u->carry_from = d.from;
}

static int pass_on(sim_warp *w, const sim_insn *in) {
  doubt guard = within(guard_of(w->undefined, in), w->active), d = both(result_of(w, in), guard);
  int event = w->mask != 0 ? in->fn(w, in) : SIM_NEXT;
  if (event == SIM_NEXT) leave(w, in, d, w->mask | guard.lanes);
  return event;
}

int sim_undefined_run(sim_warp *w, const sim_insn *in) {
  struct sim_undefined *u = w->undefined;
  int kind = kind_of(in), event;
  if (kind == PASSES_ON) event = pass_on(w, in);
  else {
    judge_guard(w, in);
    if (kind == LOADS) judge_operand(w, in, 1, w->mask, "takes it for an address");
    else if (kind == STORES) judge_store(w, in);
    else judge_all(w, in);
    leave(w, in, (doubt){ 0, 0 }, w->mask);
    event = w->mask != 0 ? in->fn(w, in) : SIM_NEXT;
  }
  if (u->registers == 0 && u->carry == 0) w->undefined = NULL;
  return event;
}
