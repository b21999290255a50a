/*
** graph.c - blocks of instructions that are executed as a whole, where each goes next, and
** the loops around it. Some are cold: the ways of warps whose lanes came apart, and the
** slow paths of divisions and roots. These are calls of a routine that ptxas brings along, in
** a block that a jump goes around; the statement of the PTX is that of the code before it.
*/
#include "sim/sass/sass.h"

#include <stdlib.h>

enum { MOST = 4096 };           /* blocks of a kernel; what has more is left alone */

static int ends_block(const sim_sass_insn *in) {
  return in->kind == SIM_SASS_JUMP || in->kind == SIM_SASS_CALL || in->kind == SIM_SASS_LEAVE;
}

/* -------------------------------------------------------------------- blocks */

static void mark(const sim_sass *s, uint8_t *begins) {
  begins[0] = 1;
  for (uint32_t i = 0; i < s->count; i++) {
    if (ends_block(&s->code[i]) && i + 1 < s->count) begins[i + 1] = 1;
    if (s->code[i].target != SIM_SASS_NOWHERE) begins[s->code[i].target] = 1;
  }
}

static int make_blocks(sim_sass *s) {
  uint32_t n = 0;
  uint8_t *begins = calloc(s->count, 1);
  if (begins == NULL) return 0;
  mark(s, begins);
  for (uint32_t i = 0; i < s->count; i++) n += begins[i];
  if (n <= MOST) s->blocks = calloc(n, sizeof *s->blocks);
  for (uint32_t i = 0; s->blocks != NULL && i < s->count; i++) {
    if (begins[i]) s->blocks[s->nblocks++] = (sim_sass_block){ .first = i, .loop = SIM_SASS_NOWHERE };
    s->blocks[s->nblocks - 1].last = i + 1;
  }
  free(begins);
  return s->blocks != NULL;
}

static uint32_t block_of(const sim_sass *s, uint32_t insn) {
  uint32_t low = 0, high = s->nblocks;
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    if (s->blocks[middle].first <= insn) low = middle;
    else high = middle;
  }
  return low;
}

static const sim_sass_insn *last_of(const sim_sass *s, uint32_t block) {
  return &s->code[s->blocks[block].last - 1];
}

/* --------------------------------------------------------------------- edges */

static void add_edge(sim_sass *s, uint32_t from, uint32_t to, int call) {
  s->edges[s->nedges++] = (sim_sass_edge){ from, to, call };
}

static void add_edges(sim_sass *s, uint32_t b) {
  const sim_sass_insn *in = last_of(s, b);
  int jump = in->kind == SIM_SASS_JUMP, leave = in->kind == SIM_SASS_LEAVE;
  if (in->kind == SIM_SASS_CALL && in->target != SIM_SASS_NOWHERE) add_edge(s, b, block_of(s, in->target), 1);
  if (jump && in->target != SIM_SASS_NOWHERE) add_edge(s, b, block_of(s, in->target), 0);
  if (leave || (jump && in->target == SIM_SASS_NOWHERE)) add_edge(s, b, SIM_SASS_NOWHERE, 0);
  if ((jump || leave) && !in->guarded) return;
  add_edge(s, b, b + 1 < s->nblocks ? b + 1 : SIM_SASS_NOWHERE, 0);
}

/* --------------------------------------------------------------------- loops */

static int leaves_between(const sim_sass *s, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last; i++)
    if (s->code[i].kind == SIM_SASS_LEAVE && !s->code[i].guarded) return 1;
  return 0;
}

/* From a jump back to where it leads: nothing there ends the kernel for all lanes. */
static void add_loop(sim_sass *s, uint32_t first, uint32_t jump, uint32_t *size) {
  for (uint32_t b = block_of(s, first); b < s->nblocks && s->blocks[b].first <= jump; b++) {
    s->blocks[b].depth++;
    if (jump - first >= size[b]) continue;
    size[b] = jump - first;
    s->blocks[b].loop = first;
  }
}

static int find_loops(sim_sass *s) {
  uint32_t *size = malloc(s->nblocks * sizeof *size);
  if (size == NULL) return 0;
  for (uint32_t b = 0; b < s->nblocks; b++) size[b] = UINT32_MAX;
  for (uint32_t b = 0; b < s->nblocks; b++) {
    uint32_t jump = s->blocks[b].last - 1;
    const sim_sass_insn *in = &s->code[jump];
    if (in->kind == SIM_SASS_JUMP && in->target <= jump && !leaves_between(s, in->target, jump))
      add_loop(s, in->target, jump, size);
  }
  free(size);
  return 1;
}

/* ---------------------------------------------------------------- cold blocks */

static int has_line(const sim_sass *s, uint32_t block, uint32_t line) {
  for (uint32_t i = s->blocks[block].first; i < s->blocks[block].last; i++)
    if (s->code[i].kind == SIM_SASS_PLAIN && s->code[i].line == line) return 1;
  return 0;
}

/* A call that the code before it goes around, if it can; both are of one statement. */
static int is_slow_path(const sim_sass *s, uint32_t b) {
  const sim_sass_insn *call = last_of(s, b), *before = b > 0 ? last_of(s, b - 1) : NULL;
  return call->kind == SIM_SASS_CALL && before != NULL && before->kind == SIM_SASS_JUMP && before->guarded &&
         before->target != s->blocks[b].first && call->line != 0 && has_line(s, b - 1, call->line);
}

static int is_rare(const sim_sass *s, const sim_sass_edge *e) {
  const sim_sass_insn *in = last_of(s, e->from);
  int falls = e->to == e->from + 1 && in->target != s->blocks[e->to].first;
  return in->rare == SIM_SASS_RARELY ? !falls : in->rare == SIM_SASS_MOSTLY ? falls : 0;
}

/* What the entry leads to is not cold. */
static void find_cold(sim_sass *s) {
  for (uint32_t b = 1; b < s->nblocks; b++) s->blocks[b].cold = 1;
  for (int changed = 1; changed;) {
    changed = 0;
    for (uint32_t i = 0; i < s->nedges; i++) {
      const sim_sass_edge *e = &s->edges[i];
      if (e->to == SIM_SASS_NOWHERE || s->blocks[e->from].cold || !s->blocks[e->to].cold || is_rare(s, e) ||
          is_slow_path(s, e->to)) continue;
      s->blocks[e->to].cold = 0;
      changed = 1;
    }
  }
}

int sim_sass_graph(sim_sass *s) {
  if (!make_blocks(s)) return 0;
  s->edges = malloc(2 * (size_t)s->nblocks * sizeof *s->edges);
  if (s->edges == NULL) return 0;
  for (uint32_t b = 0; b < s->nblocks; b++) add_edges(s, b);
  if (!find_loops(s)) return 0;
  find_cold(s);
  return 1;
}
