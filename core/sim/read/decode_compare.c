/* decode_compare.c - setp, set, testp. */
#include "sim/read/decode.h"

#include <stdio.h>
#include <string.h>

enum { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR };

static int combine(const ptx_form *f) {
  if (ptx_has(f, W_AND)) return COMBINE_AND;
  if (ptx_has(f, W_OR)) return COMBINE_OR;
  return ptx_has(f, W_XOR) ? COMBINE_XOR : COMBINE_NONE;
}

static int find_op(const ptx_parser *p, const ptx_type *t) {
  char name[24];
  if (t->class == PTX_B) snprintf(name, sizeof name, "setp_u%u", t->bytes * 8);
  else snprintf(name, sizeof name, "setp_%s", t->name);
  return ptx_op_named(p, name);
}

/* The comparison itself, into the predicates `yes` and, where there is one, `no`. */
static int emit_compare(ptx_parser *p, const ptx_statement *s, const ptx_form *f,
                        const ptx_type *t, sim_ref yes, uint32_t no) {
  int op = find_op(p, t), cmp = ptx_compare(f), how = combine(f);
  if (op < 0 || cmp < 0 || (s->count < 4 && how != COMBINE_NONE)) return 0;
  sim_insn *in = ptx_emit(p, op, s);
  unsigned bytes = ptx_lane(t->bytes);
  in->r[0] = yes;
  in->r[1] = ptx_source(p, s, 1, bytes, t);
  in->r[2] = ptx_source(p, s, 2, bytes, t);
  in->second = no;
  in->cmp = (uint8_t)cmp;
  in->mode = (uint8_t)how;
  in->ftz = (uint16_t)(ptx_has(f, W_FTZ) && t->class == PTX_F && t->bytes == 4);
  if (how != COMBINE_NONE) {
    in->r[3] = ptx_source(p, s, 3, 0, NULL);
    in->negate = (uint16_t)ptx_operand_at(p, s, 3)->negate;
  }
  return 1;
}

static int decode_setp(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  if (f->types != 1) return 0;
  sim_ref yes = ptx_target(p, s, 0, 0);
  return emit_compare(p, s, f, &f->type[0], yes, s->has_second ? ptx_target_of(p, &s->second, 0).off : SIM_NONE);
}

/* set.cmp.dtype.stype: a comparison, then all ones or 1.0 where it held. */
static int decode_set(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  if (f->types != 2) return 0;
  const ptx_type *d = &f->type[0], *t = &f->type[1];
  int packed = t->class == PTX_FX2 || t->class == PTX_BFX2;
  ptx_operand sink = { .kind = PTX_O_SINK };
  sim_ref yes = ptx_target_of(p, &sink, 0), no = ptx_target_of(p, &sink, 0);
  if (!emit_compare(p, s, f, t, yes, packed ? no.off : SIM_NONE)) return 0;
  int op = !packed || d->class == PTX_U || d->class == PTX_B ? SIM_OP_set_from_pred
         : d->class == PTX_FX2 ? SIM_OP_set_f16x2 : SIM_OP_set_bf16x2;
  sim_insn *in = ptx_emit(p, op, s);
  in->r[0] = ptx_target(p, s, 0, 4);
  in->r[1] = yes;
  in->r[2] = no;
  in->vec = (uint8_t)(packed ? 2 : 1);
  in->value = d->class == PTX_F ? d->bytes == 2 ? 0x3c00 : 0x3f800000
            : d->class == PTX_BF ? 0x3f80 : UINT32_MAX;
  return 1;
}

static int decode_testp(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  static const uint8_t kinds[] = { W_FINITE, W_INFINITE, W_NUMBER, W_NOTANUMBER, W_NORMAL, W_SUBNORMAL };
  if (f->types != 1 || f->type[0].class != PTX_F) return 0;
  const ptx_type *t = &f->type[0];
  sim_insn *in = ptx_emit(p, t->bytes == 8 ? SIM_OP_testp_f64 : SIM_OP_testp_f32, s);
  in->r[0] = ptx_target(p, s, 0, 0);
  in->r[1] = ptx_source(p, s, 1, ptx_lane(t->bytes), t);
  for (unsigned i = 0; i < sizeof kinds; i++)
    if (ptx_has(f, kinds[i])) in->mode = (uint8_t)i;
  return 1;
}

int ptx_decode_compare(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  if (strcmp(f->base, "setp") == 0) return decode_setp(p, s, f);
  if (strcmp(f->base, "set") == 0) return decode_set(p, s, f);
  if (strcmp(f->base, "testp") == 0) return decode_testp(p, s, f);
  return 0;
}
