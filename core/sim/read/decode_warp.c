/* decode_warp.c - control flow, barriers, and what a warp does together. */
#include "sim/read/decode.h"

#include <string.h>

/* ----------------------------------------------------------------- control */

static int decode_branch(ptx_parser *p, const ptx_statement *s) {
  const ptx_operand *o = ptx_operand_at(p, s, 0);
  if (o->kind != PTX_O_NAME) ptx_fail(p, CAWB_ERR_INVALID, "a branch needs a label");
  ptx_emit(p, SIM_OP_bra, s);
  ptx_jump_to(p, o->text, o->size);
  return 1;
}

/* brx.idx index, label-of-a-table. */
static int decode_brx(ptx_parser *p, const ptx_statement *s) {
  const ptx_operand *o = ptx_operand_at(p, s, 1);
  if (o->kind != PTX_O_NAME) return 0;
  sim_insn *in = ptx_emit(p, SIM_OP_brx, s);
  in->r[1] = ptx_source(p, s, 0, 4, NULL);
  ptx_jump_to(p, o->text, o->size);
  return 1;
}

static int decode_ret(ptx_parser *p, const ptx_statement *s, int leaves) {
  if (leaves || p->inlined == 0) {
    ptx_emit(p, SIM_OP_exit, s);
    return 1;
  }
  ptx_emit(p, SIM_OP_bra, s);
  ptx_jump_to(p, PTX_RETURN, sizeof PTX_RETURN - 1);
  return 1;
}

/* Hints and fences: nothing to do where memory has one order. */
int ptx_decode_hint(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  static const char *const names[] = {
    "membar", "fence", "prefetch", "prefetchu", "nanosleep", "pmevent", "applypriority",
    "discard", "griddepcontrol", "setmaxnreg"
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(f->base, names[i]) == 0) {
      if (i < 2 && !ptx_has(f, W_CTA)) p->f->fences = 1;
      int waits = ptx_word_at(s, "wait") != 0;          /* griddepcontrol.wait */
      sim_insn *in = ptx_emit(p, i < 2 ? SIM_OP_fence : i == 4 ? SIM_OP_nanosleep : waits ? SIM_OP_grid_wait : SIM_OP_nop, s);
      in->mode = !ptx_has(f, W_CTA);
      in->flags = ptx_word_at(s, "sys") != 0;
      if (i == 4) in->r[1] = ptx_source(p, s, 0, 4, NULL);
      return 1;
    }
  return 0;
}

int ptx_decode_control(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  if (strcmp(f->base, "bra") == 0) return decode_branch(p, s);
  if (strcmp(f->base, "brx") == 0) return decode_brx(p, s);
  if (strcmp(f->base, "ret") == 0) return decode_ret(p, s, 0);
  if (strcmp(f->base, "exit") == 0) return decode_ret(p, s, 1);
  if (strcmp(f->base, "trap") == 0 || strcmp(f->base, "brkpt") == 0) {
    ptx_emit(p, SIM_OP_trap, s);
    return 1;
  }
  return ptx_decode_hint(p, s, f);
}

/* ---------------------------------------------------------------- barriers */

/* bar.sync a {, b}; bar.red.popc.u32 d, a {, b}, p. */
static int decode_bar(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  if (ptx_has(f, W_CLUSTER)) return 0;
  if (ptx_has(f, W_WARP)) {
    sim_insn *in = ptx_emit(p, SIM_OP_bar_warp, s);
    in->r[1] = ptx_source(p, s, 0, 4, NULL);
    return 1;
  }
  int red = ptx_has(f, W_RED), arrive = ptx_has(f, W_ARRIVE), mode = arrive ? BAR_ARRIVE : BAR_SYNC;
  if (!red && !arrive && !ptx_has(f, W_SYNC)) return 0;
  if (red) mode = ptx_has(f, W_POPC) ? BAR_POPC : ptx_has(f, W_AND) ? BAR_AND : BAR_OR;
  unsigned first = red ? 1 : 0, last = red ? s->count - 1 : s->count;
  sim_insn *in = ptx_emit(p, SIM_OP_bar, s);
  in->mode = (uint8_t)mode;
  in->flags = (uint8_t)(f->base[3] == '\0' || ptx_has(f, W_ALIGNED) ? BAR_ALIGNED : 0);     /* bar is barrier.aligned */
  in->r[1] = ptx_source(p, s, first, 4, NULL);
  if (first + 1 < last) in->r[2] = ptx_source(p, s, first + 1, 4, NULL);
  if (!red) return 1;
  in->r[0] = ptx_target(p, s, 0, mode == BAR_POPC ? 4 : 0);
  in->r[3] = ptx_source(p, s, last, 0, NULL);
  in->negate = (uint16_t)ptx_operand_at(p, s, last)->negate;
  return 1;
}

/* -------------------------------------------------------------- warp level */

static int decode_shfl(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  sim_insn *in = ptx_emit(p, SIM_OP_shfl, s);
  in->mode = ptx_has(f, W_UP) ? 0 : ptx_has(f, W_DOWN) ? 1 : ptx_has(f, W_BFLY) ? 2 : 3;
  in->r[0] = ptx_target(p, s, 0, 4);
  in->r[1] = ptx_source(p, s, 1, 4, NULL);
  in->r[2] = ptx_source(p, s, 2, 4, NULL);
  in->r[3] = ptx_source(p, s, 3, 4, NULL);
  if (s->has_second) in->second = ptx_target_of(p, &s->second, 0).off;
  in->r[4] = ptx_has(f, W_SYNC) ? ptx_source(p, s, 4, 4, NULL) : ptx_value(p, 4, SIM_ALL);
  return 1;
}

static int decode_vote(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  int ballot = ptx_has(f, W_BALLOT);
  sim_insn *in = ptx_emit(p, SIM_OP_vote, s);
  in->mode = ballot ? 0 : ptx_has(f, W_ALL) ? 1 : ptx_has(f, W_ANY) ? 2 : 3;
  in->r[0] = ptx_target(p, s, 0, ballot ? 4 : 0);
  in->r[1] = ptx_source(p, s, 1, 0, NULL);
  in->negate = (uint16_t)ptx_operand_at(p, s, 1)->negate;
  in->r[4] = ptx_has(f, W_SYNC) ? ptx_source(p, s, 2, 4, NULL) : ptx_value(p, 4, SIM_ALL);
  return 1;
}

static int decode_match(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  if (f->types != 1) return 0;
  sim_insn *in = ptx_emit(p, SIM_OP_match, s);
  in->mode = (uint8_t)ptx_has(f, W_ALL);
  in->width = (uint8_t)ptx_lane(f->type[0].bytes);
  in->r[0] = ptx_target(p, s, 0, 4);
  in->r[1] = ptx_source(p, s, 1, in->width, NULL);
  in->r[4] = ptx_source(p, s, 2, 4, NULL);
  if (s->has_second) in->second = ptx_target_of(p, &s->second, 0).off;
  return 1;
}

static int decode_redux(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  static const uint8_t words[] = { W_ADD, W_MIN, W_MAX, W_AND, W_OR, W_XOR };
  if (f->types != 1 || f->type[0].class == PTX_F) return 0;
  sim_insn *in = ptx_emit(p, SIM_OP_redux, s);
  for (unsigned i = 0; i < sizeof words; i++)
    if (ptx_has(f, words[i])) in->mode = (uint8_t)i;
  in->sext = f->type[0].class == PTX_S;
  in->r[0] = ptx_target(p, s, 0, 4);
  in->r[1] = ptx_source(p, s, 1, 4, NULL);
  in->r[4] = ptx_source(p, s, 2, 4, NULL);
  return 1;
}

int ptx_decode_warp(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  if (strcmp(f->base, "bar") == 0 || strcmp(f->base, "barrier") == 0) return decode_bar(p, s, f);
  if (strcmp(f->base, "shfl") == 0) return decode_shfl(p, s, f);
  if (strcmp(f->base, "vote") == 0) return decode_vote(p, s, f);
  if (strcmp(f->base, "match") == 0) return decode_match(p, s, f);
  if (strcmp(f->base, "redux") == 0) return decode_redux(p, s, f);
  if (strcmp(f->base, "activemask") == 0) {
    ptx_emit(p, SIM_OP_activemask, s)->r[0] = ptx_target(p, s, 0, 4);
    return 1;
  }
  if (strcmp(f->base, "elect") == 0 && s->has_second) {
    sim_insn *in = ptx_emit(p, SIM_OP_elect, s);
    in->r[0] = ptx_target(p, s, 0, 4);
    in->second = ptx_target_of(p, &s->second, 0).off;
    in->r[4] = ptx_source(p, s, 1, 4, NULL);
    return 1;
  }
  return 0;
}
