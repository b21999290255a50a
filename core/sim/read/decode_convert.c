/* decode_convert.c - mov, packing, cvt, cvta, isspacep. */
#include "sim/read/decode.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------- mov */

static const uint8_t vector_slots[] = { 0, 2, 3, 4 };

/* mov.b64 {%r1, %r2}, %rd1 and back: `vec` elements of `width` bytes. */
static int decode_pack(ptx_parser *p, const ptx_statement *s, const ptx_type *t) {
  const ptx_operand *d = &s->op[0], *a = &s->op[1];
  int packing = a->kind == PTX_O_VECTOR;
  const ptx_operand *v = packing ? a : d, *whole = packing ? d : a;
  if (v->count == 0 || v->count > 4 || t->bytes % v->count != 0 || whole->kind == PTX_O_VECTOR) return 0;
  unsigned each = t->bytes / v->count;
  sim_insn *in = ptx_emit(p, packing ? SIM_OP_pack : SIM_OP_unpack, s);
  in->vec = (uint8_t)v->count;
  in->width = (uint8_t)each;
  in->lane = (uint8_t)ptx_lane(t->bytes);
  if (packing) in->r[0] = ptx_target_of(p, whole, ptx_lane(t->bytes));
  else in->r[1] = ptx_source_of(p, whole, ptx_lane(t->bytes), t);
  for (unsigned i = 0; i < v->count; i++) {
    const ptx_operand *o = &s->items[v->first + i];
    sim_ref *r = &in->r[packing ? i + 1 : vector_slots[i]];
    *r = packing ? ptx_source_of(p, o, ptx_lane(each), NULL) : ptx_target_of(p, o, ptx_lane(each));
  }
  return 1;
}

static int decode_computed(ptx_parser *p, const ptx_statement *s, const ptx_type *t) {
  const ptx_operand *o = &s->op[1];
  int smid = o->size == 5, op = t->bytes == 8 ? SIM_OP_clock_u64 : SIM_OP_clock_u32;
  sim_insn *in = ptx_emit(p, smid ? SIM_OP_smid : op, s);
  in->r[0] = ptx_target(p, s, 0, ptx_lane(t->bytes));
  in->mode = o->size > 3 && memcmp(o->text + o->size - 3, "_hi", 3) == 0;
  return 1;
}

static int decode_mov(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  if (f->types != 1 || s->count != 2) return 0;
  const ptx_type *t = &f->type[0];
  if (t->bytes == 16) return ptx_decode_wide_mov(p, s);
  if (s->op[0].kind == PTX_O_VECTOR || s->op[1].kind == PTX_O_VECTOR) return decode_pack(p, s, t);
  if (s->op[1].kind == PTX_O_SPECIAL) return decode_computed(p, s, t);
  unsigned bytes = t->class == PTX_P ? 0 : ptx_lane(t->bytes);
  sim_insn *in = ptx_emit(p, bytes == 8 ? SIM_OP_mov_b64 : bytes == 4 ? SIM_OP_mov_b32 : SIM_OP_mov_pred, s);
  in->r[0] = ptx_target(p, s, 0, bytes);
  in->r[1] = ptx_source(p, s, 1, bytes, t);
  if (s->op[1].kind == PTX_O_SYMBOL && p->symbols[s->op[1].symbol - 1].kind == PTX_ENTRY_PARAM)
    in->r[1] = ptx_value(p, bytes, SIM_WINDOW(SIM_PARAM) + p->symbols[s->op[1].symbol - 1].offset);
  return 1;
}

/* ------------------------------------------------------------------ cvta */

static int space_of(const ptx_form *f) {
  if (ptx_has(f, W_GLOBAL) || ptx_has(f, W_CONST)) return SIM_GLOBAL;
  if (ptx_has(f, W_SHARED) || ptx_has(f, W_SHARED_CTA) || ptx_has(f, W_SHARED_CLUSTER)) return SIM_SHARED;
  if (ptx_has(f, W_LOCAL)) return SIM_LOCAL;
  if (ptx_has(f, W_PARAM) || ptx_has(f, W_PARAM_ENTRY)) return SIM_PARAM;
  return -1;
}

/* Global, constant and parameter addresses are generic addresses already. */
static int decode_cvta(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  int space = space_of(f);
  if (space < 0 || f->types != 1 || f->type[0].bytes != 8) return 0;
  int moved = space == SIM_SHARED || space == SIM_LOCAL;
  int op = !moved ? SIM_OP_mov_b64 : ptx_has(f, W_TO) ? SIM_OP_cvta_to_window : SIM_OP_cvta_window;
  sim_insn *in = ptx_emit(p, op, s);
  in->r[0] = ptx_target(p, s, 0, 8);
  in->r[1] = ptx_source(p, s, 1, 8, NULL);
  if (s->op[1].kind == PTX_O_SYMBOL && p->symbols[s->op[1].symbol - 1].kind == PTX_ENTRY_PARAM)
    in->r[1] = ptx_value(p, 8, SIM_WINDOW(SIM_PARAM) + p->symbols[s->op[1].symbol - 1].offset);
  in->value = SIM_WINDOW(space);
  return 1;
}

static int decode_isspacep(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  int space = space_of(f);
  if (space < 0) return 0;
  sim_insn *in = ptx_emit(p, SIM_OP_isspacep, s);
  in->r[0] = ptx_target(p, s, 0, 0);
  in->r[1] = ptx_source(p, s, 1, 8, NULL);
  in->space = (uint8_t)space;
  return 1;
}

int ptx_decode_move(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  if (strcmp(f->base, "mov") == 0) return decode_mov(p, s, f);
  if (strcmp(f->base, "cvta") == 0) return decode_cvta(p, s, f);
  if (strcmp(f->base, "isspacep") == 0) return decode_isspacep(p, s, f);
  return 0;
}

/* ------------------------------------------------------------------- cvt */

static int is_int(const ptx_type *t) { return t->class == PTX_U || t->class == PTX_S || t->class == PTX_B; }

/* Codes of cvt_any's ends, in `mode` and `space`: class and size. */
static uint8_t end_code(const ptx_type *t) {
  if (t->class == PTX_F) return t->bytes == 2 ? 'h' : t->bytes == 4 ? 'f' : 'd';
  if (t->class == PTX_BF) return 'b';
  return (uint8_t)(t->bytes | (t->class == PTX_S ? 16 : 0));
}

static int register_bytes(const ptx_operand *o, unsigned type_bytes) {
  return o->kind == PTX_O_REG && o->bytes != 0 ? o->bytes : (int)ptx_lane(type_bytes);
}

/* A named operation for the pairs that compilers emit all the time. */
static int common_op(const ptx_form *f, const ptx_type *d, const ptx_type *a, int dlane, int alane) {
  static const struct { const char *d, *a; } list[] = {
    { "f32", "s32" }, { "f32", "u32" }, { "f64", "f32" }, { "f32", "f64" },
    { "f32", "f16" }, { "f16", "f32" }, { "f32", "bf16" }, { "bf16", "f32" }
  };
  static const int ops[] = { SIM_OP_cvt_f32_s32, SIM_OP_cvt_f32_u32, SIM_OP_cvt_f64_f32,
                             SIM_OP_cvt_f32_f64, SIM_OP_cvt_f32_f16, SIM_OP_cvt_f16_f32,
                             SIM_OP_cvt_f32_bf16, SIM_OP_cvt_bf16_f32 };
  int plain = !ptx_has(f, W_SAT) && !ptx_has(f, W_FTZ) && ptx_rounding(f) == SIM_RN && !ptx_has(f, W_RELU);
  if (is_int(d) && is_int(a) && !ptx_has(f, W_SAT)) {
    int grow = d->bytes > a->bytes, sx = a->class == PTX_S;
    unsigned low = grow ? a->bytes : d->bytes;
    if (dlane == 4 && alane == 4 && low == 4) return SIM_OP_mov_b32;
    if (dlane == 8 && alane == 8 && low == 8) return SIM_OP_mov_b64;
    if (dlane == 4 && alane == 8 && low == 4) return SIM_OP_cvt_b32_b64;
    if (dlane == 8 && alane == 4 && a->bytes == 4 && grow)
      return sx ? SIM_OP_cvt_b64_s32 : SIM_OP_cvt_b64_u32;
    if (dlane == 4 && alane == 4 && low == 2) {
      if (!grow) sx = d->class == PTX_S;
      return sx ? SIM_OP_cvt_b32_s16 : SIM_OP_cvt_b32_u16;
    }
    if (dlane == 4 && alane == 4 && low == 1) {
      if (!grow) sx = d->class == PTX_S;
      return sx ? SIM_OP_cvt_b32_s8 : SIM_OP_cvt_b32_u8;
    }
    return -1;
  }
  for (size_t i = 0; plain && i < sizeof list / sizeof *list; i++)
    if (strcmp(d->name, list[i].d) == 0 && strcmp(a->name, list[i].a) == 0 &&
        dlane == (int)ptx_lane(d->bytes) && alane == (int)ptx_lane(a->bytes)) {
      int integral = ptx_has(f, W_RNI);
      return integral ? -1 : ops[i];
    }
  if (strcmp(d->name, "s32") == 0 && strcmp(a->name, "f32") == 0 && ptx_has(f, W_RZI) &&
      !ptx_has(f, W_FTZ) && dlane == 4) return SIM_OP_cvt_s32_f32;
  if (strcmp(d->name, "f32") == 0 && strcmp(a->name, "f32") == 0) return SIM_OP_cvt_f32_f32;
  return -1;
}

/* d, a {, b}: 32-bit registers, and the modifiers that such conversions have. */
static sim_insn *emit_packed(ptx_parser *p, const ptx_statement *s, const ptx_form *f, int op) {
  sim_insn *in = ptx_emit(p, op, s);
  in->r[0] = ptx_target(p, s, 0, 4);
  in->r[1] = in->r[2] = ptx_source(p, s, 1, 4, &f->type[1]);
  if (s->count == 3) in->r[2] = ptx_source(p, s, 2, 4, &f->type[1]);
  in->vec = (uint8_t)(s->count - 1);
  in->rnd = (uint16_t)ptx_rounding(f);
  in->sat = (uint16_t)((ptx_has(f, W_RELU) ? SIM_RELU : 0) | (ptx_has(f, W_SATFINITE) ? SIM_FINITE : 0));
  return in;
}

/* cvt.rn.f16x2.f32 d, a, b: a becomes the upper half; one half where something is special. */
static int decode_pair(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  const ptx_type *d = &f->type[0];
  int plain = !ptx_has(f, W_RELU) && !ptx_has(f, W_SATFINITE), brain = d->class == PTX_BFX2 || d->class == PTX_BF;
  int pair = d->class == PTX_FX2 || d->class == PTX_BFX2;
  if (s->count != (pair ? 3u : 2u) || f->type[1].class != PTX_F || f->type[1].bytes != 4) return 0;
  int op = !plain ? SIM_OP_cvt_pair : brain ? SIM_OP_cvt_bf16x2_f32 : SIM_OP_cvt_f16x2_f32;
  emit_packed(p, s, f, op)->type[0] = brain ? 'b' : 'h';
  return 1;
}

/* 8-bit floats, two at a time, and tf32. */
static int decode_tiny(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  const ptx_type *d = &f->type[0], *a = &f->type[1];
  int to = d->class == PTX_E4X2 ? 'e' : d->class == PTX_E5X2 ? 'E' : 0;
  int from = a->class == PTX_E4X2 ? 'e' : a->class == PTX_E5X2 ? 'E' : 0;
  int two = a->class == PTX_F && a->bytes == 4, tensor = d->class == PTX_TF && two;
  if (s->count != (to && two ? 3u : 2u)) return 0;
  if (to && (two || a->class == PTX_FX2)) emit_packed(p, s, f, SIM_OP_cvt_small)->type[0] = (uint8_t)to;
  else if (from && d->class == PTX_FX2) emit_packed(p, s, f, SIM_OP_cvt_unsmall)->type[1] = (uint8_t)from;
  else if (tensor) {
    sim_insn *in = emit_packed(p, s, f, SIM_OP_cvt_tf32);
    if (ptx_has(f, W_RNA)) in->rnd = SIM_RNA;
  } else return 0;
  return 1;
}

int ptx_decode_convert(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  if (strcmp(f->base, "cvt") != 0 || f->types != 2) return 0;
  const ptx_type *d = &f->type[0], *a = &f->type[1];
  int halves = (d->class == PTX_F && d->bytes == 2) || d->class == PTX_BF;
  if (decode_tiny(p, s, f)) return 1;
  if (d->class == PTX_FX2 || d->class == PTX_BFX2 || (halves && (ptx_has(f, W_RELU) || ptx_has(f, W_SATFINITE))))
    return decode_pair(p, s, f);
  if (a->class == PTX_FX2 || a->class == PTX_BFX2 || a->class == PTX_P || d->class == PTX_P) return 0;
  if (ptx_has(f, W_RNA) || ptx_has(f, W_RELU) || ptx_has(f, W_SATFINITE)) return 0;
  int dlane = register_bytes(ptx_operand_at(p, s, 0), d->bytes);
  int alane = register_bytes(ptx_operand_at(p, s, 1), a->bytes);
  int op = common_op(f, d, a, dlane, alane);
  sim_insn *in = ptx_emit(p, op < 0 ? SIM_OP_cvt_any : op, s);
  in->r[0] = ptx_target(p, s, 0, (unsigned)dlane);
  in->r[1] = ptx_source(p, s, 1, (unsigned)alane, a);
  in->type[0] = end_code(d);
  in->type[1] = end_code(a);
  in->lane = (uint8_t)dlane;
  in->from_lane = (uint8_t)alane;
  in->rnd = (uint16_t)ptx_rounding(f);
  in->sat = (uint16_t)ptx_has(f, W_SAT);
  in->ftz = (uint16_t)ptx_has(f, W_FTZ);
  in->mode = (uint8_t)(ptx_has(f, W_RNI) || ptx_has(f, W_RZI) || ptx_has(f, W_RMI) || ptx_has(f, W_RPI));
  return 1;
}
