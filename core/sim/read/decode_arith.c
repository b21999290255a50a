/* decode_arith.c - arithmetic, logic and bit instructions, from a table. */
#include "sim/read/decode.h"

#include <stdio.h>
#include <string.h>

/*
** `widths`: one letter for the destination and each source: t the type's,
** w twice the type's, i 32 bits. `kind`: how the type enters the operation's
** name: n sign does not matter, s it does, b bits, f as written.
*/
typedef struct rule { const char *base, *widths, *kind; } rule;

static const rule rules[] = {
  { "add", "ttt", "n" }, { "sub", "ttt", "n" }, { "mul", "ttt", "m" }, { "mad", "tttt", "m" },
  { "fma", "tttt", "f" }, { "div", "ttt", "s" }, { "rem", "ttt", "s" }, { "abs", "tt", "s" },
  { "neg", "tt", "e" }, { "min", "ttt", "s" }, { "max", "ttt", "s" }, { "and", "ttt", "n" },
  { "or", "ttt", "n" }, { "xor", "ttt", "n" }, { "not", "tt", "n" }, { "cnot", "tt", "n" },
  { "shl", "tti", "n" }, { "shr", "tti", "r" }, { "bfe", "ttii", "s" }, { "bfi", "tttii", "n" },
  { "bfind", "it", "s" }, { "brev", "tt", "n" }, { "clz", "it", "n" }, { "popc", "it", "n" },
  { "sad", "tttt", "s" }, { "mul24", "ttt", "m" }, { "mad24", "tttt", "m" },
  { "rcp", "tt", "f" }, { "sqrt", "tt", "f" }, { "rsqrt", "tt", "f" }, { "ex2", "tt", "f" },
  { "lg2", "tt", "f" }, { "sin", "tt", "f" }, { "cos", "tt", "f" }, { "tanh", "tt", "f" },
  { "copysign", "ttt", "f" }, { "prmt", "iiii", "n" }, { "lop3", "iiii", "n" },
  { "bmsk", "iii", "n" }, { "szext", "iii", "s" }, { "fns", "iiii", "n" }
};

static const rule *rule_for(const char *base) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (strcmp(rules[i].base, base) == 0) return &rules[i];
  return NULL;
}

static int is_float(const ptx_type *t) {
  return t->class == PTX_F || t->class == PTX_BF || t->class == PTX_FX2 || t->class == PTX_BFX2;
}

static int is_pair(const ptx_type *t) { return t->class == PTX_SX2 || t->class == PTX_UX2; }

/* 8- and 16-bit values live in 32-bit lanes whose upper half means nothing. */
static void type_name(const rule *r, const ptx_type *t, char *out, size_t room) {
  unsigned bits = t->bytes == 8 ? 64 : 32;
  int is_signed = t->class == PTX_S;
  if (is_float(t) || is_pair(t) || t->class == PTX_P) snprintf(out, room, "%s", t->name);
  else if (*r->kind == 'n' || *r->kind == 'f') snprintf(out, room, "b%u", bits);
  else if (*r->kind == 'e') snprintf(out, room, "s%u", bits);
  else snprintf(out, room, "%c%u", is_signed ? 's' : 'u', t->bytes * 8);
}

/* The middle of the name: _lo, _hi, _wide, _relu, _sat of integers, _nan, _xorsign of floats. */
static const char *variant(const ptx_form *f, const ptx_type *t) {
  if (is_float(t)) return ptx_has(f, W_NAN) ? "_nan" : ptx_has(f, W_XORSIGN) ? "_xorsign" : "";
  if (ptx_has(f, W_RELU)) return "_relu";
  if (ptx_has(f, W_SAT)) return "_sat";
  if (ptx_has(f, W_WIDE)) return "_wide";
  if (ptx_has(f, W_HI)) return "_hi";
  if (ptx_has(f, W_LO)) return "_lo";
  return "";
}

static int find_op(const ptx_parser *p, const ptx_form *f, const rule *r, const ptx_type *t) {
  char type[8], name[48];
  const char *base = f->base;
  type_name(r, t, type, sizeof type);
  if (ptx_has(f, W_SAT) && t->class == PTX_S) snprintf(type, sizeof type, "%s", t->name);
  if (*r->kind == 'm' && !is_float(t) && (ptx_has(f, W_LO)) && base[3] == '\0')
    snprintf(type, sizeof type, "b%u", t->bytes == 8 ? 64 : 32);
  if (strcmp(base, "mad") == 0 && is_float(t)) base = "fma";
  if (t->class == PTX_F && t->bytes == 8 && ptx_has(f, W_APPROX) && ptx_has(f, W_FTZ))
    snprintf(name, sizeof name, "%s_approx_%s", base, type);
  else snprintf(name, sizeof name, "%s%s_%s", base, variant(f, t), type);
  return ptx_op_named(p, name);
}

static unsigned operand_bytes(char letter, const ptx_type *t) {
  if (letter == 'i') return 4;
  if (letter == 'w') return ptx_lane(t->bytes * 2);
  return t->class == PTX_P ? 0 : ptx_lane(t->bytes);
}

static void operands(ptx_parser *p, const ptx_statement *s, sim_insn *in, const char *widths,
                     const ptx_type *t) {
  in->r[0] = ptx_target(p, s, 0, operand_bytes(widths[0], t));
  for (unsigned i = 1; widths[i] != '\0'; i++) {
    in->r[i] = ptx_source(p, s, i, operand_bytes(widths[i], t), t);
    if (ptx_operand_at(p, s, i)->negate)
      ptx_fail(p, CAWB_ERR_INVALID, "'!' does not belong in '%.*s'", (int)s->whole.size, s->whole.text);
  }
  unsigned expected = (unsigned)strlen(widths);
  if (s->count > expected)
    ptx_fail(p, CAWB_ERR_INVALID, "'%.*s' has too many operands", (int)s->whole.size, s->whole.text);
}

/* add.cc, addc, madc.hi.cc and so on: bit 0 of mode takes the carry, bit 1 gives it. */
static int decode_carry(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  static const struct { const char *base, *name; int takes; } ops[] = {
    { "add", "add", 0 }, { "addc", "add", 1 }, { "sub", "sub", 0 }, { "subc", "sub", 1 },
    { "mad", "mad", 0 }, { "madc", "mad", 1 }
  };
  char name[48];
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    if (strcmp(ops[i].base, f->base) != 0 || f->types != 1) continue;
    if (!ops[i].takes && !ptx_has(f, W_CC)) return 0;
    const ptx_type *t = &f->type[0];
    int mad = ops[i].name[0] == 'm', hi = ptx_has(f, W_HI);
    snprintf(name, sizeof name, "carry_%s%s_%c%u", ops[i].name, mad ? hi ? "_hi" : "_lo" : "",
             mad && hi ? t->class == PTX_S ? 's' : 'u' : 'b', t->bytes * 8);
    int op = ptx_op_named(p, name);
    if (op < 0) return 0;
    sim_insn *in = ptx_emit(p, op, s);
    in->flags = (uint8_t)(ops[i].takes | ptx_has(f, W_CC) << 1);
    operands(p, s, in, mad ? "tttt" : "ttt", t);
    return 1;
  }
  return 0;
}

/* The instructions whose modifiers choose among a few operations. */
static int decode_odd(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  int op = -1;
  const char *widths = "iiii";
  if (strcmp(f->base, "shf") == 0) {
    int left = ptx_has(f, W_L), wrap = ptx_has(f, W_WRAP);
    op = left ? wrap ? SIM_OP_shf_l_wrap : SIM_OP_shf_l_clamp
              : wrap ? SIM_OP_shf_r_wrap : SIM_OP_shf_r_clamp;
  } else if (strcmp(f->base, "dp4a") == 0) op = SIM_OP_dp4a;
  else if (strcmp(f->base, "dp2a") == 0) op = SIM_OP_dp2a;
  if (op < 0 || f->types == 0) return 0;
  sim_insn *in = ptx_emit(p, op, s);
  operands(p, s, in, widths, &f->type[0]);
  in->flags = (uint8_t)((f->types > 0 && f->type[0].class == PTX_S) |
                        (f->types > 1 && f->type[1].class == PTX_S) << 1 | ptx_has(f, W_HI) << 2);
  return 1;
}

static int decode_select(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  int selp = strcmp(f->base, "selp") == 0, slct = strcmp(f->base, "slct") == 0;
  if ((!selp && !slct) || f->types == 0 || f->type[0].class == PTX_P) return 0;
  unsigned bytes = ptx_lane(f->type[0].bytes);
  int floats = slct && f->types == 2 && f->type[1].class == PTX_F;
  int op = bytes == 8 ? SIM_OP_selp_b64 : SIM_OP_selp_b32;
  if (slct) op = bytes == 8 ? floats ? SIM_OP_slct_b64_f32 : SIM_OP_slct_b64_s32
                            : floats ? SIM_OP_slct_b32_f32 : SIM_OP_slct_b32_s32;
  sim_insn *in = ptx_emit(p, op, s);
  in->r[0] = ptx_target(p, s, 0, bytes);
  in->r[1] = ptx_source(p, s, 1, bytes, &f->type[0]);
  in->r[2] = ptx_source(p, s, 2, bytes, &f->type[0]);
  in->r[3] = ptx_source(p, s, 3, selp ? 0 : 4, slct && f->types == 2 ? &f->type[1] : NULL);
  in->negate = (uint16_t)ptx_operand_at(p, s, 3)->negate;
  return 1;
}

/* prmt's mode; lop3's table; bfind.shiftamt; bfe of 16 bits does not exist. */
static void finish(ptx_parser *p, const ptx_statement *s, const ptx_form *f, sim_insn *in) {
  static const uint8_t modes[] = { W_F4E, W_B4E, W_RC8, W_ECL, W_ECR, W_RC16 };
  if (in->op == SIM_OP_lop3_b32) in->value = ptx_immediate(p, s, 4) & 255;
  if (in->op == SIM_OP_prmt_b32)
    for (unsigned i = 0; i < sizeof modes; i++)
      if (ptx_has(f, modes[i])) in->mode = (uint8_t)(i + 1);
  if (strcmp(f->base, "bfind") == 0 || strcmp(f->base, "bmsk") == 0 || strcmp(f->base, "szext") == 0)
    in->mode = (uint8_t)(ptx_has(f, W_SHIFTAMT) || ptx_has(f, W_WRAP));
}

static uint8_t value_code(const ptx_type *t) {
  if (t->class == PTX_F) return t->bytes == 2 ? 'h' : 'f';
  return t->class == PTX_FX2 ? 'H' : t->class == PTX_BF ? 'b' : t->class == PTX_BFX2 ? 'B' : 0;
}

static int all_known(const ptx_form *f, const ptx_type *t) {
  int halves = is_float(t) && (t->class != PTX_F || t->bytes == 2);
  if (ptx_has(f, W_XORSIGN) && (ptx_has(f, W_NAN) || halves)) return 0;
  if (ptx_has(f, W_RELU) && is_float(t) && !halves) return 0;
  if (ptx_has(f, W_SAT) && t->class == PTX_F && t->bytes == 8) return 0;
  return is_float(t) || !ptx_has(f, W_RN);
}

int ptx_decode_arith(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  char widths[8];
  if (decode_carry(p, s, f) || decode_odd(p, s, f) || decode_select(p, s, f) ||
      ptx_decode_video(p, s, f)) return 1;
  const rule *r = rule_for(f->base);
  ptx_type plain = { PTX_B, 4, "b32" };
  if (r == NULL || f->types > 1) return 0;
  const ptx_type *t = f->types == 1 ? &f->type[0] : &plain;
  int op = all_known(f, t) ? find_op(p, f, r, t) : -1;
  if (op < 0) return 0;
  snprintf(widths, sizeof widths, "%s", r->widths);
  if (ptx_has(f, W_WIDE)) widths[0] = 'w';
  if (ptx_has(f, W_WIDE) && widths[3] == 't') widths[3] = 'w';
  sim_insn *in = ptx_emit(p, op, s);
  if (op == SIM_OP_lop3_b32) {               /* its fourth source is the table */
    for (unsigned i = 1; i < 4; i++) in->r[i] = ptx_source(p, s, i, 4, t);
    in->r[0] = ptx_target(p, s, 0, 4);
  } else operands(p, s, in, widths, t);
  in->width = (uint8_t)t->bytes;
  in->ftz = (uint16_t)(ptx_has(f, W_FTZ) && t->class == PTX_F && t->bytes == 4);
  in->type[0] = value_code(t);
  in->approx = (uint16_t)(ptx_has(f, W_APPROX) || ptx_has(f, W_FULL));
  if (is_float(t))
    ptx_adjust(p, in, ptx_rounding(f), ptx_has(f, W_SAT) ? SIM_SAT : ptx_has(f, W_RELU) ? SIM_RELU : 0);
  finish(p, s, f, in);
  return 1;
}
