/*
** lanes.c - accesses to shared memory between which lanes of a warp need not meet: which of them are to be noted,
** since another may follow, and which to be looked at, since another may have come before. Found along all paths,
** forwards and backwards; where jumps are not known, all are. Two stores alone are let be: most lie side by side, and
** to look at them would make every loop that fills a tile slower by a fifth.
*/
#include "sim/instructions/ops.h"
#include "sim/read/passes.h"

#include <stdlib.h>
#include <string.h>

enum { LOADS = 1, STORES = 2, SWEEPS_MOST = 64 };

/* Whether a mask names all lanes, whatever is computed. */
static int names_all(const sim_function *f, sim_ref mask) {
  for (uint32_t i = 0; mask.base == SIM_CONSTS && i < f->nconsts; i++)
    if (f->consts[i].off == mask.off) return f->consts[i].kind == SIM_K_VALUE && f->consts[i].value == SIM_ALL;
  return 0;
}

/* All lanes of the warp meet here. */
static int meets(const sim_function *f, const sim_insn *in) {
  static const uint16_t named[] = { SIM_OP_shfl, SIM_OP_vote, SIM_OP_match, SIM_OP_redux, SIM_OP_elect };
  static const uint16_t whole[] = { SIM_OP_mma, SIM_OP_mma_sp, SIM_OP_ldmatrix, SIM_OP_stmatrix, SIM_OP_wmma_load, SIM_OP_wmma_store,
    SIM_OP_movmatrix, SIM_OP_wgmma, SIM_OP_wgmma_fence, SIM_OP_wgmma_wait, SIM_OP_mbarrier_wait };
  if (in->guard != SIM_NOGUARD) return 0;
  if (in->op == SIM_OP_bar_warp) return names_all(f, in->r[1]);
  if (sim_op_has(in->op, OP_BARRIER_BLOCK | OP_BARRIER_CLUSTER)) return 1;
  for (size_t i = 0; i < sizeof named / sizeof *named; i++) if (in->op == named[i]) return names_all(f, in->r[4]);
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) if (in->op == whole[i]) return 1;
  return 0;
}

/* Plain accesses, one element or several of each lane. */
static uint8_t does(const sim_insn *in) {
  uint32_t traits = sim_ops[in->op].traits;
  if (!(traits & OP_ELEMENTS) || (traits & OP_ATOMIC) || in->strong || !(traits & (OP_SHARED | OP_GENERIC))) return 0;
  return traits & OP_WRITES ? STORES : LOADS;
}

static int falls(const sim_insn *in) {
  return in->guard != SIM_NOGUARD || !sim_op_has(in->op, OP_JUMPS | OP_EXITS | OP_FAULTS);
}

static int jumps(const sim_function *f, const sim_insn *in) {
  return sim_op_has(in->op, OP_JUMPS) && in->target >= 0 && in->target < f->count;
}

/* What may lie before each instruction; one sweep. */
static int sweep_down(const sim_function *f, uint8_t *before) {
  int changed = 0;
  for (uint32_t i = 0; i < f->count; i++) {
    const sim_insn *in = &f->code[i];
    uint8_t after = meets(f, in) ? 0 : before[i] | does(in);
    if (falls(in) && i + 1 < f->count) before[i + 1] |= after;
    if (!jumps(f, in)) continue;
    changed |= (after & ~before[in->target]) != 0 && in->target <= i;
    before[in->target] |= after;
  }
  return changed;
}

/* And what may follow. */
static int sweep_up(const sim_function *f, uint8_t *behind) {
  int changed = 0;
  for (uint32_t i = f->count; i-- > 0;) {
    const sim_insn *in = &f->code[i];
    uint8_t next = 0, was = behind[i];
    if (falls(in) && i + 1 < f->count && !meets(f, &f->code[i + 1])) next |= behind[i + 1] | does(&f->code[i + 1]);
    if (jumps(f, in) && !meets(f, &f->code[in->target])) next |= behind[in->target] | does(&f->code[in->target]);
    behind[i] |= next;
    changed |= behind[i] != was;
  }
  return changed;
}

static int known(const sim_function *f) {
  for (uint32_t i = 0; i < f->count; i++) if (sim_op_has(f->code[i].op, OP_JUMPS_BY_TABLE)) return 0;
  return f->unknown == NULL;
}

int sim_lanes(sim_function *f) {
  uint8_t *before = calloc(2 * (size_t)f->count + 2, 1), *behind = before + f->count + 1;
  unsigned left = SWEEPS_MOST;
  if (before == NULL) return 0;
  if (known(f)) {
    while (left > 0 && sweep_down(f, before)) left--;
    while (left > 0 && sweep_up(f, behind)) left--;
  } else left = 0;
  if (left == 0) memset(before, LOADS | STORES, 2 * (size_t)f->count + 2);
  for (uint32_t i = 0; i < f->count; i++) {
    sim_insn *in = &f->code[i];
    int others = does(in) == STORES ? LOADS : does(in) == LOADS ? STORES : 0;
    in->looks = (before[i] & others) != 0;
    in->keeps = (behind[i] & others) != 0;
    f->lanes |= in->looks | in->keeps;
  }
  free(before);
  return 1;
}
