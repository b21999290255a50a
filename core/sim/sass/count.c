/*
** count.c - how many warp instructions a launch would have issued. A statement of the PTX
** that moves or adds data becomes one instruction, or several that share its executions:
** copies. Of a loop ptxas makes several, one for many iterations at a time and others for what
** remains: as many iterations as fit go to the one with the most copies, the rest to the next.
** What such instructions say of their blocks is passed on along the jumps.
*/
#include "sim/instructions/ops.h"
#include "sim/sass/sass.h"

#include <math.h>
#include <stdlib.h>

/* A line of the PTX, and how often it was executed. */
typedef struct statement {
  double times, entries;                /* entries: of the innermost loop around it */
  uint32_t depth;                       /* loops around it */
  int known, evidence, proven;          /* proven: it became such instructions */
} statement;

typedef struct copy { uint32_t line, loop, insn, block; } copy;

typedef struct count {
  const sim_exec *x;
  const sim_sass *s;
  statement *line;                      /* by number */
  uint32_t nlines;
  copy *copies;
  size_t ncopies;
  double *share;                        /* executions of each instruction, as its line tells; NAN: unknown */
  double *times, *guess;                /* of blocks */
  double warps;                         /* that were executed */
} count;

/* ---------------------------------------------------------------------- PTX */

/* What becomes one such instruction, wherever it becomes any. A cp.async becomes one for each
   alignment that its source may have. */
static int evidence_of(const sim_insn *in) {
  if (sim_op_has(in->op, OP_ONE_TO_ONE)) return SIM_SASS_STRONG;
  return sim_op_has(in->op, OP_REARRANGED) ? SIM_SASS_WEAK : 0;
}

static int leaves(const sim_insn *in) {
  return sim_op_has(in->op, OP_JUMPS | OP_JUMPS_BY_TABLE | OP_EXITS) && in->guard == SIM_NOGUARD;
}

/* Each loop's executions from outside, for the instructions that have none within. */
static void add_loops(const sim_exec *x, double *entries, uint32_t *depth, uint32_t *size) {
  const sim_function *f = x->function;
  for (uint32_t i = 0; i < f->count; i++) {
    const sim_insn *in = &f->code[i];
    if (!sim_op_has(in->op, OP_JUMPS) || in->target < 0 || in->target > i) continue;
    uint32_t first = (uint32_t)in->target;
    uint64_t from = first > 0 && !leaves(in - (i - first) - 1) ? x->hits[first - 1]
                  : i + 1 < f->count ? x->hits[i + 1] : 0;
    for (uint32_t k = first; k <= i; k++) {
      depth[k]++;
      if (i - first >= size[k]) continue;
      size[k] = i - first;
      entries[k] = (double)from;
    }
  }
}

/* A statement may be several instructions here, and stand in code that is expanded twice. */
static void add_statements(count *c, const double *entries, const uint32_t *depth) {
  const sim_function *f = c->x->function;
  uint64_t most = 0;
  for (uint32_t i = 0; i < f->count; i++) {
    const sim_insn *in = &f->code[i];
    statement *t = &c->line[in->text];
    uint64_t hits = c->x->hits[i];
    int begins = i == 0 || in->text != f->code[i - 1].text;
    if (begins) most = 0;
    if (begins) t->entries += entries[i];
    if (hits > most) {
      t->times += (double)(hits - most);
      most = hits;
    }
    t->known = 1;
    if (depth[i] > t->depth) t->depth = depth[i];
    if (evidence_of(in) > t->evidence) t->evidence = evidence_of(in);
  }
}

static int read_ptx(count *c) {
  const sim_function *f = c->x->function;
  double *entries = malloc(f->count * sizeof *entries);
  uint32_t *depth = calloc(f->count, sizeof *depth), *size = malloc(f->count * sizeof *size);
  for (uint32_t i = 0; i < f->count; i++)
    if (f->code[i].text >= c->nlines) c->nlines = f->code[i].text + 1;
  c->line = calloc(c->nlines + 1, sizeof *c->line);
  int made = entries != NULL && depth != NULL && size != NULL && c->line != NULL;
  for (uint32_t i = 0; made && i < f->count; i++) {
    entries[i] = (double)c->x->hits[i];
    size[i] = UINT32_MAX;
  }
  if (made) add_loops(c->x, entries, depth, size);
  if (made) add_statements(c, entries, depth);
  free(entries);
  free(depth);
  free(size);
  return made;
}

/* ------------------------------------------------------------------- copies */

static int by_line(const void *a, const void *b) {
  const copy *x = a, *y = b;
  if (x->line != y->line) return x->line < y->line ? -1 : 1;
  if (x->loop != y->loop) return x->loop < y->loop ? -1 : 1;
  return x->insn < y->insn ? -1 : x->insn > y->insn;
}

/* The statement that a PTX-borne instruction belongs to, or NULL. */
static statement *statement_of(const count *c, const sim_sass_insn *in) {
  if (in->kind != SIM_SASS_PLAIN || in->line >= c->nlines || !c->line[in->line].known) return NULL;
  return &c->line[in->line];
}

/* Around an access there may be instructions for its address: they are not counted for it. */
static void find_proof(count *c) {
  for (uint32_t i = 0; i < c->s->count; i++) {
    statement *t = statement_of(c, &c->s->code[i]);
    if (t != NULL && t->evidence != 0 && t->evidence == c->s->code[i].evidence) t->proven = 1;
  }
}

static void find_copies(count *c) {
  find_proof(c);
  for (uint32_t b = 0; b < c->s->nblocks; b++) {
    const sim_sass_block *at = &c->s->blocks[b];
    for (uint32_t i = at->first; i < at->last; i++) {
      const sim_sass_insn *in = &c->s->code[i];
      const statement *t = at->cold ? NULL : statement_of(c, in);
      c->share[i] = NAN;
      if (t == NULL || (t->proven && in->evidence != t->evidence)) continue;
      c->copies[c->ncopies++] = (copy){ in->line, at->loop, i, b };
    }
  }
  qsort(c->copies, c->ncopies, sizeof *c->copies, by_line);
}

static size_t same_loop(const copy *from, const copy *end) {
  size_t n = 1;
  while (from + n < end && from[n].loop == from->loop) n++;
  return n;
}

/* Those of one loop of the machine code that come next: the innermost, then the most. */
static const copy *next_group(const count *c, const copy *from, const copy *end) {
  const copy *best = NULL;
  uint32_t deepest = 0;
  size_t most = 0;
  for (const copy *at = from, *next; at < end; at = next) {
    size_t n = same_loop(at, end);
    uint32_t depth = c->s->blocks[at->block].depth;
    next = at + n;
    if (!isnan(c->share[at->insn])) continue;
    if (best != NULL && (depth < deepest || (depth == deepest && n <= most))) continue;
    best = at;
    deepest = depth;
    most = n;
  }
  return best;
}

static void give(count *c, const copy *from, size_t n, double times) {
  for (size_t i = 0; i < n; i++) c->share[from[i].insn] = times;
}

/* Code beside the loop is not executed more often than the loop is entered. */
static double last_share(const count *c, const statement *t, const copy *at, double times) {
  uint32_t depth = c->s->blocks[at->block].depth;
  if (depth < t->depth && times > t->entries) times = t->entries;
  return depth == 0 && times > c->warps ? c->warps : times;
}

static void share_iterations(count *c, const statement *t, const copy *from, const copy *end) {
  double entries = t->entries > 0 ? t->entries : t->times, iterations = t->times / entries;
  const copy *at = next_group(c, from, end);
  while (at != NULL) {
    size_t n = same_loop(at, end);
    double rounds = floor(iterations / (double)n + 1e-9);
    give(c, at, n, entries * rounds);
    const copy *next = next_group(c, from, end);
    if (next == NULL) give(c, at, n, last_share(c, t, at, entries * iterations / (double)n));
    iterations -= rounds * (double)n;
    at = next;
  }
}

/* Outside of loops the instructions of other statements are taken to be executed all. */
static void share_line(count *c, const copy *from, const copy *end) {
  const statement *t = &c->line[from->line];
  if (t->times > 1.0001 * t->entries && t->entries > 0) share_iterations(c, t, from, end);
  else give(c, from, (size_t)(end - from), t->proven ? t->times / (double)(end - from) : t->times);
}   /* NOLINT: what clang-tidy 14 takes for lost here is freed in sim_sass_issued */

static void share_lines(count *c) {
  const copy *end = c->copies + c->ncopies;
  for (const copy *at = c->copies, *next; at < end; at = next) {
    for (next = at; next < end && next->line == at->line;) next++;
    share_line(c, at, next);
  }
}

/* ------------------------------------------------------------------- blocks */

/* What the instructions without a guard say, the strongest evidence first. */
static void judge_block(count *c, uint32_t b) {
  const sim_sass_block *at = &c->s->blocks[b];
  int best = SIM_SASS_WEAK;
  c->times[b] = at->cold ? 0 : NAN;
  c->guess[b] = 0;
  for (uint32_t i = at->first; i < at->last && !at->cold; i++) {
    if (isnan(c->share[i]) || c->s->code[i].guarded) continue;
    const statement *t = &c->line[c->s->code[i].line];
    int evidence = t->proven ? t->evidence : 0;
    if (c->share[i] > c->guess[b]) c->guess[b] = c->share[i];
    if (evidence > best || (evidence == best && !(c->share[i] <= c->times[b]))) c->times[b] = c->share[i];
    if (evidence > best) best = evidence;
  }
}

static sim_sass_counts count_all(count *c) {
  sim_sass_counts sum = { 0, 0, 0 };
  find_copies(c);
  share_lines(c);
  for (uint32_t b = 0; b < c->s->nblocks; b++) judge_block(c, b);
  if (!sim_sass_flow(c->s, c->warps, c->guess, c->times)) return (sim_sass_counts){ -1, 0, 0 };
  for (uint32_t b = 0; b < c->s->nblocks; b++) {
    const sim_sass_block *at = &c->s->blocks[b];
    sum.issued += c->times[b] * (double)(at->last - at->first);
    for (uint32_t i = at->first; i < at->last && c->s->locals; i++) {
      sum.locals += c->s->code[i].local > 0 ? c->times[b] : 0;
      sum.words += c->times[b] * c->s->code[i].local;
    }
  }
  return sum;
}

sim_sass_counts sim_sass_issued(const sim_exec *x) {
  const sim_sass *s = x->function->sass;
  count c = { .x = x, .s = s, .warps = (double)x->executed * x->nwarps };
  sim_sass_counts sum = { -1, 0, 0 };
  if (s == NULL) return sum;
  c.copies = malloc(s->count * sizeof *c.copies);
  c.share = malloc(s->count * sizeof *c.share);
  c.times = malloc(s->nblocks * sizeof *c.times);
  c.guess = malloc(s->nblocks * sizeof *c.guess);
  if (c.copies != NULL && c.share != NULL && c.times != NULL && c.guess != NULL && read_ptx(&c)) sum = count_all(&c);
  free(c.copies);
  free(c.share);
  free(c.times);
  free(c.guess);
  free(c.line);
  return sum;
}
