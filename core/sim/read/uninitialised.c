/*
** uninitialised.c - which registers a kernel may read before it has written them. A block finds those
** at all ones, so that none sees what the block before it on the same core has left. Registers are
** followed along every path (forwards; what is certainly written is what every path to a place
** has written); most kernels have none, or a few that no result depends on.
*/
#include "sim/exec/operands.h"
#include "sim/read/passes.h"

#include <stdlib.h>
#include <string.h>

/* Of memory that the look may take, and times through the code; beyond either all count as uninitialised. */
enum { BITS_MOST = 1 << 26, WALKS_MOST = 64 };

typedef struct flow {
  const sim_function *f;
  uint32_t *off;                /* where registers begin, in order */
  uint32_t n, words, blocks;
  uint32_t *block;              /* of each instruction */
  uint64_t *in, *now;           /* a bit a register: certainly written; where each block begins */
  unsigned char *read_first;    /* of each register: it may be read before it is written */
} flow;

static int is_operand(const sim_insn *in, unsigned k) { return in->r[k].base == SIM_REGS; }

static int leaves(const sim_insn *in) {
  return in->guard == SIM_NOGUARD && sim_op_has(in->op, OP_JUMPS | OP_EXITS);
}

static int by_offset(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static uint32_t number(const flow *w, uint32_t off) {
  const uint32_t *at = bsearch(&off, w->off, w->n, sizeof off, by_offset);
  return (uint32_t)(at - w->off);
}

/* Every register that an instruction names. */
static void collect(flow *w) {
  const sim_function *f = w->f;
  for (uint32_t i = 0; i < f->count; i++) {
    const sim_insn *in = &f->code[i];
    for (unsigned k = 0; k < 5; k++)
      if (is_operand(in, k)) w->off[w->n++] = in->r[k].off;
    if (in->guard != SIM_NOGUARD) w->off[w->n++] = in->guard;
    if (in->second != SIM_NONE) w->off[w->n++] = in->second;
  }
  for (uint32_t i = 0; i < f->nextras; i++)
    if (f->extras[i].base == SIM_REGS) w->off[w->n++] = f->extras[i].off;
  w->off[w->n++] = 0;
  qsort(w->off, w->n, sizeof *w->off, by_offset);
  uint32_t kept = 1;
  for (uint32_t i = 1; i < w->n; i++)
    if (w->off[i] != w->off[kept - 1]) w->off[kept++] = w->off[i];
  w->n = kept;
}

/* Basic blocks begin at targets and behind jumps. 0: jumps by a table are not followed. */
static int cut(flow *w) {
  const sim_function *f = w->f;
  for (uint32_t i = 0; i < f->count; i++) {
    const sim_insn *in = &f->code[i];
    if (sim_op_has(in->op, OP_JUMPS_BY_TABLE) || f->unknown != NULL) return 0;
    if (!sim_op_has(in->op, OP_JUMPS | OP_EXITS)) continue;
    w->block[i + 1] = 1;
    if (sim_op_has(in->op, OP_JUMPS) && in->target >= 0 && in->target < f->count) w->block[in->target] = 1;
  }
  w->block[0] = 0;
  for (uint32_t i = 1; i <= f->count; i++) w->block[i] += w->block[i - 1];
  w->blocks = w->block[f->count] + 1;
  return 1;
}

static void look(flow *w, uint32_t off) {
  uint32_t r = number(w, off);
  if (!(w->now[r / 64] >> (r % 64) & 1)) w->read_first[r] = 1;
}

static void note_written(flow *w, uint32_t off) {
  uint32_t r = number(w, off);
  w->now[r / 64] |= UINT64_C(1) << (r % 64);
}

/* An instruction's reads, where `looks`; then its writes. */
static void step(flow *w, const sim_insn *in, int looks) {
  if (looks) {
    if (in->guard != SIM_NOGUARD) look(w, in->guard);
    for (unsigned k = 0; k < 5; k++)
      if (is_operand(in, k) && !sim_defines(in, k)) look(w, in->r[k].off);
  }
  if (in->guard != SIM_NOGUARD) return;
  for (unsigned k = 0; k < 5; k++)
    if (is_operand(in, k) && sim_defines(in, k)) note_written(w, in->r[k].off);
  if (in->second != SIM_NONE) note_written(w, in->second);
}

/* What is written when control comes to an instruction from here. */
static int arrive(flow *w, uint32_t i) {
  uint64_t *in = w->in + (size_t)w->block[i] * w->words, changed = 0;
  for (uint32_t k = 0; k < w->words; k++) {
    changed |= in[k] & ~w->now[k];
    in[k] &= w->now[k];
  }
  return changed != 0;
}

/* Once through the code; whether a block now begins with less than was thought. */
static int walk(flow *w, int looks) {
  const sim_function *f = w->f;
  int changed = 0;
  for (uint32_t i = 0; i < f->count; i++) {
    const sim_insn *in = &f->code[i];
    if (i == 0 || w->block[i] != w->block[i - 1])
      memcpy(w->now, w->in + (size_t)w->block[i] * w->words, w->words * sizeof *w->now);
    step(w, in, looks);
    int jumps = sim_op_has(in->op, OP_JUMPS) && in->target >= 0 && in->target < f->count;
    if (jumps) changed |= arrive(w, (uint32_t)in->target);
    if (!leaves(in) && w->block[i + 1] != w->block[i]) changed |= arrive(w, i + 1);
  }
  return changed;
}

/* All that is not known to be written first: from such a register to the next one named. */
static int keep(sim_function *f, const flow *w) {
  f->uninitialised = calloc(w->n, sizeof *f->uninitialised);
  if (f->uninitialised == NULL) return 0;
  for (uint32_t r = 0; r < w->n; r++) {
    uint32_t end = r + 1 < w->n ? w->off[r + 1] : f->regs_size;
    sim_span *last = f->nuninitialised > 0 ? &f->uninitialised[f->nuninitialised - 1] : NULL;
    if (!w->read_first[r] || end <= w->off[r]) continue;
    if (last != NULL && last->off + last->size == w->off[r]) last->size += end - w->off[r];
    else f->uninitialised[f->nuninitialised++] = (sim_span){ w->off[r], end - w->off[r] };
  }
  return 1;
}

/* Returns 0 when out of memory. */
static int solve(sim_function *f, flow *w) {
  collect(w);
  w->words = (w->n + 63) / 64;
  w->read_first = calloc(w->n, 1);
  if (w->read_first == NULL) return 0;
  int known = cut(w) && (uint64_t)w->blocks * w->words * 64 <= BITS_MOST;
  w->in = known ? malloc((size_t)w->blocks * w->words * sizeof *w->in) : NULL;
  w->now = calloc(w->words, sizeof *w->now);
  if (w->now == NULL || (known && w->in == NULL)) return 0;
  if (known) {
    memset(w->in, 0xff, (size_t)w->blocks * w->words * sizeof *w->in);
    memset(w->in, 0, w->words * sizeof *w->in);
    unsigned left = WALKS_MOST;
    while (left > 0 && walk(w, 0)) left--;
    walk(w, 1);
    for (uint32_t i = 0; i < f->nextras; i++)
      if (f->extras[i].base == SIM_REGS) w->read_first[number(w, f->extras[i].off)] = 1;
    known = left > 0;
  }
  if (!known) memset(w->read_first, 1, w->n);
  return keep(f, w);
}

/* Returns 0 when out of memory. */
int sim_uninitialised(sim_function *f) {
  flow w = { .f = f };
  w.off = calloc((size_t)f->count * 7 + f->nextras + 1, sizeof *w.off);
  w.block = calloc((size_t)f->count + 1, sizeof *w.block);
  int ok = w.off != NULL && w.block != NULL && solve(f, &w);
  free(w.off);
  free(w.block);
  free(w.in);
  free(w.now);
  free(w.read_first);
  return ok;
}
