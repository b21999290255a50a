/*
** decode.c - a statement becomes an instruction: its mnemonic is taken apart,
** its operands become places in the warp's areas, so that nothing is looked
** up while it runs. The decode_*.c files know the instructions themselves.
*/
#include "sim/read/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------- operation names */

static uint32_t hash(const char *s) {
  uint32_t h = 2166136261u;
  while (*s != '\0') h = (h ^ (unsigned char)*s++) * 16777619u;
  return h % PTX_OPNAMES;
}

void ptx_opnames_fill(ptx_parser *p) {
  for (unsigned i = 0; i < SIM_OP_COUNT; i++) {
    uint32_t h = hash(sim_ops[i].name);
    while (p->opnames[h] != 0) h = (h + 1) % PTX_OPNAMES;
    p->opnames[h] = (uint16_t)(i + 1);
  }
}

int ptx_op_named(const ptx_parser *p, const char *name) {
  for (uint32_t h = hash(name); p->opnames[h] != 0; h = (h + 1) % PTX_OPNAMES)
    if (strcmp(sim_ops[p->opnames[h] - 1].name, name) == 0) return p->opnames[h] - 1;
  return -1;
}

/* ------------------------------------------------------------ instructions */

sim_insn *ptx_emit(ptx_parser *p, int op, const ptx_statement *s) {
  sim_function *f = p->f;
  f->code = ptx_grow(p, f->code, f->count, &f->room, sizeof *f->code);
  sim_insn *in = &f->code[f->count++];
  memset(in, 0, sizeof *in);
  for (unsigned k = 0; k < 5; k++) in->r[k].base = SIM_UNUSED;
  in->second = SIM_NONE;
  in->op = (uint16_t)op;
  in->fn = p->device->isa->table[op];
  in->line = p->line;
  in->text = p->text;
  in->guard = s != NULL ? s->guard : SIM_NOGUARD;
  in->guard_not = s != NULL ? s->guard_not : 0;
  in->cost = 1;
  return in;
}

/* The last instruction jumps to a label that may come later. */
void ptx_jump_to(ptx_parser *p, const char *label, size_t size) {
  p->fixups = ptx_grow(p, p->fixups, p->nfixups, &p->fixups_room, sizeof *p->fixups);
  p->fixups[p->nfixups++] = (ptx_fixup){ label, size, p->f->count - 1, p->line };
}

void ptx_unknown(ptx_parser *p, const char *what, size_t size) {
  sim_function *f = p->f;
  ptx_emit(p, SIM_OP_unknown, NULL);
  if (f->unknown != NULL) return;
  f->unknown = malloc(size + 1);
  if (f->unknown == NULL) ptx_fail(p, CAWB_ERR_MEMORY, "out of memory for a name");
  memcpy(f->unknown, what, size);
  f->unknown[size] = '\0';
  f->unknown_line = p->line;
}

void ptx_refuse(ptx_parser *p, const ptx_statement *s) {
  ptx_unknown(p, s->whole.text, s->whole.size);
}

/* Rounding other than to nearest, and saturation, go around the operation. */
void ptx_adjust(ptx_parser *p, sim_insn *in, int round, int saturate) {
  if (round == SIM_RN && !saturate) return;
  in->inner = in->fn;
  in->fn = p->device->isa->table[SIM_OP_adjust];
  in->rnd = (uint16_t)round;
  in->sat = (uint16_t)saturate;
}

/* --------------------------------------------------------------- constants */

sim_ref ptx_constant(ptx_parser *p, const sim_constant *wanted) {
  sim_function *f = p->f;
  for (uint32_t i = 0; i < f->nconsts; i++) {
    const sim_constant *c = &f->consts[i];
    if (c->kind == wanted->kind && c->size == wanted->size && c->width == wanted->width &&
        c->sext == wanted->sext && c->value == wanted->value)
      return (sim_ref){ SIM_CONSTS, c->off };
  }
  f->consts = ptx_grow(p, f->consts, f->nconsts, &f->consts_room, sizeof *f->consts);
  sim_constant *c = &f->consts[f->nconsts++];
  *c = *wanted;
  c->off = f->consts_size;
  f->consts_size += (c->size == 0 ? 4u : c->size) * SIM_LANES;
  return (sim_ref){ SIM_CONSTS, c->off };
}

sim_ref ptx_value(ptx_parser *p, unsigned bytes, uint64_t value) {
  if (bytes < 8) value &= UINT32_MAX;
  sim_constant c = { .kind = SIM_K_VALUE, .size = (uint8_t)bytes, .value = value };
  return ptx_constant(p, &c);
}

static void place_lazy(ptx_parser *p, ptx_symbol *s) {
  if (s->owner == p->f) return;
  uint64_t end = p->f->shared_size;
  s->offset = ptx_place(&end, s->length, s->align);
  s->owner = p->f;
  if (end > UINT32_MAX) ptx_fail(p, CAWB_ERR_CANDIDATE, "more than 4 GiB of shared memory");
  p->f->shared_size = (uint32_t)end;
}

/* A variable's address in its own space, as a constant of `bytes` a lane. */
sim_ref ptx_symbol_address(ptx_parser *p, uint32_t symbol, int64_t offset, unsigned bytes) {
  ptx_symbol *s = &p->symbols[symbol - 1];
  if (s->kind == PTX_VARIABLE && s->dynamic) {
    if (s->align > p->f->dynamic_align) p->f->dynamic_align = s->align;
    sim_constant c = { .kind = SIM_K_DYNAMIC, .size = (uint8_t)bytes, .value = (uint64_t)offset };
    return ptx_constant(p, &c);
  }
  if (s->kind == PTX_VARIABLE && s->lazy) place_lazy(p, s);
  return ptx_value(p, bytes, s->offset + (uint64_t)offset);
}

/* ---------------------------------------------------------- special registers */

static const struct { const char *name; uint8_t base; uint16_t off; } places[] = {
  { "%tid.x", SIM_WARP, SIM_TID_X }, { "%tid.y", SIM_WARP, SIM_TID_Y },
  { "%tid.z", SIM_WARP, SIM_TID_Z }, { "%laneid", SIM_WARP, SIM_LANEID },
  { "%warpid", SIM_WARP, SIM_WARPID }, { "%lanemask_eq", SIM_WARP, SIM_MASK_EQ },
  { "%lanemask_lt", SIM_WARP, SIM_MASK_LT }, { "%lanemask_le", SIM_WARP, SIM_MASK_LE },
  { "%lanemask_gt", SIM_WARP, SIM_MASK_GT }, { "%lanemask_ge", SIM_WARP, SIM_MASK_GE },
  { "%ctaid.x", SIM_BLOCK, SIM_CTAID_X }, { "%ctaid.y", SIM_BLOCK, SIM_CTAID_Y },
  { "%ctaid.z", SIM_BLOCK, SIM_CTAID_Z }, { "%clusterid.x", SIM_BLOCK, SIM_CLUSTERID_X },
  { "%clusterid.y", SIM_BLOCK, SIM_CLUSTERID_Y }, { "%clusterid.z", SIM_BLOCK, SIM_CLUSTERID_Z },
  { "%cluster_ctaid.x", SIM_BLOCK, SIM_MEMBER_X }, { "%cluster_ctaid.y", SIM_BLOCK, SIM_MEMBER_Y },
  { "%cluster_ctaid.z", SIM_BLOCK, SIM_MEMBER_Z }, { "%cluster_ctarank", SIM_BLOCK, SIM_RANK }
};

static const struct { const char *name; uint8_t kind; uint16_t value; } fixed[] = {
  { "%ntid.x", SIM_K_NTID, 0 }, { "%ntid.y", SIM_K_NTID, 1 }, { "%ntid.z", SIM_K_NTID, 2 },
  { "%nctaid.x", SIM_K_NCTAID, 0 }, { "%nctaid.y", SIM_K_NCTAID, 1 },
  { "%nctaid.z", SIM_K_NCTAID, 2 }, { "%nclusterid.x", SIM_K_NCLUSTER, 0 },
  { "%nclusterid.y", SIM_K_NCLUSTER, 1 }, { "%nclusterid.z", SIM_K_NCLUSTER, 2 },
  { "%cluster_nctaid.x", SIM_K_CLUSTER, 0 }, { "%cluster_nctaid.y", SIM_K_CLUSTER, 1 },
  { "%cluster_nctaid.z", SIM_K_CLUSTER, 2 }, { "%cluster_nctarank", SIM_K_CLUSTER_SIZE, 0 },
  { "%dynamic_smem_size", SIM_K_DYNSIZE, 0 }, { "%envreg1", SIM_K_GRID_BARRIER, 32 },
  { "%envreg2", SIM_K_GRID_BARRIER, 0 },                   /* where cooperative_groups' grid.sync() meets */
  { "%gridid", SIM_K_VALUE, 0 }, { "%nwarpid", SIM_K_VALUE, 64 },
  { "%total_smem_size", SIM_K_DYNSIZE, 1 }, { "%reserved_smem_offset_begin", SIM_K_VALUE, 0 },
  { "%clock", SIM_K_VALUE, 0 }, { "%clock_hi", SIM_K_VALUE, 0 }, { "%clock64", SIM_K_VALUE, 0 },
  { "%globaltimer", SIM_K_VALUE, 0 }, { "%globaltimer_lo", SIM_K_VALUE, 0 },
  { "%globaltimer_hi", SIM_K_VALUE, 0 }, { "%smid", SIM_K_VALUE, 0 }, { "%nsmid", SIM_K_VALUE, 0 }
};

static int same(const char *text, size_t size, const char *name) {
  return strlen(name) == size && memcmp(text, name, size) == 0;
}

/* Clocks and the SM's number change as a kernel runs: `mov` reads them. */
static int computed(const char *text, size_t size) {
  return (size > 5 && memcmp(text, "%clock", 6) == 0) || same(text, size, "%smid") ||
         (size > 11 && memcmp(text, "%globaltimer", 12) == 0);
}

int ptx_special(ptx_parser *p, const char *name, size_t size, ptx_operand *o) {
  o->text = name;
  o->size = size;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (same(name, size, places[i].name)) {
      o->kind = PTX_O_REG;
      o->bytes = 4;
      o->ref = (sim_ref){ places[i].base, places[i].off };
      return 1;
    }
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
    if (same(name, size, fixed[i].name)) {
      uint64_t value = same(name, size, "%nsmid") ? (uint64_t)p->device->model->sms : fixed[i].value;
      sim_constant c = { .kind = fixed[i].kind, .size = 4, .value = value };
      o->kind = computed(name, size) ? PTX_O_SPECIAL : PTX_O_REG;
      o->bytes = 4;
      if (o->kind == PTX_O_REG) o->ref = ptx_constant(p, &c);
      return 1;
    }
  return 0;
}

/* ---------------------------------------------------------------- operands */

const ptx_operand *ptx_operand_at(ptx_parser *p, const ptx_statement *s, unsigned i) {
  if (i >= s->count)
    ptx_fail(p, CAWB_ERR_INVALID, "'%.*s' has too few operands", (int)s->whole.size, s->whole.text);
  return &s->op[i];
}

static uint64_t literal_bits(const ptx_operand *o, const ptx_type *t) {
  uint64_t bits = o->value;
  float f;
  double d;
  if (o->literal == PTX_INT || o->literal == PTX_F32) return bits;
  if (t == NULL || t->class != PTX_F || t->bytes == 8) return bits;
  memcpy(&d, &bits, sizeof d);
  f = (float)d;
  bits = 0;
  memcpy(&bits, &f, sizeof f);
  return bits;
}

sim_ref ptx_source_of(ptx_parser *p, const ptx_operand *o, unsigned bytes, const ptx_type *t) {
  if (o->part != 0) ptx_fail(p, CAWB_ERR_INVALID, "a part of a register where all of it is due");
  if (o->kind == PTX_O_REG) {
    if (o->bytes != bytes) {
      if (o->ref.base == SIM_CONSTS && o->bytes == 4 && bytes == 8)
        for (uint32_t i = 0; i < p->f->nconsts; i++)
          if (p->f->consts[i].off == o->ref.off) {
            sim_constant c = p->f->consts[i];
            c.size = 8;
            return ptx_constant(p, &c);
          }
      ptx_fail(p, CAWB_ERR_INVALID, "register '%.*s' has the wrong size here",
               (int)(o->size < 60 ? o->size : 60), o->text);
    }
    return o->ref;
  }
  if (o->kind == PTX_O_LITERAL) {
    if (bytes == 0) return ptx_value(p, 0, o->value != 0 ? SIM_ALL : 0);
    return ptx_value(p, bytes, literal_bits(o, t));
  }
  if (o->kind == PTX_O_SYMBOL && bytes != 0) return ptx_symbol_address(p, o->symbol, o->offset, bytes);
  if (o->kind == PTX_O_NAME && bytes == 8 && ptx_function_address(p, o->text, o->size) != 0)
    return ptx_value(p, 8, ptx_function_address(p, o->text, o->size));
  if (o->kind == PTX_O_NAME)
    ptx_fail(p, CAWB_ERR_INVALID, "no variable '%.*s'", (int)(o->size < 60 ? o->size : 60), o->text);
  ptx_fail(p, CAWB_ERR_INVALID, "an operand of the wrong kind");
}

sim_ref ptx_source(ptx_parser *p, const ptx_statement *s, unsigned i, unsigned bytes, const ptx_type *t) {
  return ptx_source_of(p, ptx_operand_at(p, s, i), bytes, t);
}

sim_ref ptx_sink(ptx_parser *p) {
  sim_ref r = { SIM_REGS, (p->f->regs_size + 127) / 128 * 128 };
  p->f->regs_size = r.off + 256;
  return r;
}

/* `_` writes to a sink. */
sim_ref ptx_target_of(ptx_parser *p, const ptx_operand *o, unsigned bytes) {
  if (o->kind == PTX_O_SINK) return ptx_sink(p);
  if (o->kind != PTX_O_REG || o->ref.base != SIM_REGS || o->negate || o->part != 0)
    ptx_fail(p, CAWB_ERR_INVALID, "a destination must be a register");
  if (o->bytes != bytes)
    ptx_fail(p, CAWB_ERR_INVALID, "register '%.*s' has the wrong size here",
             (int)(o->size < 60 ? o->size : 60), o->text);
  return o->ref;
}

sim_ref ptx_target(ptx_parser *p, const ptx_statement *s, unsigned i, unsigned bytes) {
  return ptx_target_of(p, ptx_operand_at(p, s, i), bytes);
}

uint64_t ptx_immediate(ptx_parser *p, const ptx_statement *s, unsigned i) {
  const ptx_operand *o = ptx_operand_at(p, s, i);
  if (o->kind != PTX_O_LITERAL || o->literal != PTX_INT)
    ptx_fail(p, CAWB_ERR_INVALID, "'%.*s' needs a constant there", (int)s->whole.size, s->whole.text);
  return o->value;
}

/* --------------------------------------------------------------- mnemonics */

static const char *const word_texts[] = {
#define X(id, text) text,
  PTX_WORDS_LIST(X)
#undef X
};

static int read_type(const ptx_word *w, ptx_type *t) {
  static const struct { const char *name; uint8_t class, bytes; } types[] = {
    { "b8", PTX_B, 1 }, { "b16", PTX_B, 2 }, { "b32", PTX_B, 4 }, { "b64", PTX_B, 8 },
    { "u8", PTX_U, 1 }, { "u16", PTX_U, 2 }, { "u32", PTX_U, 4 }, { "u64", PTX_U, 8 },
    { "s8", PTX_S, 1 }, { "s16", PTX_S, 2 }, { "s32", PTX_S, 4 }, { "s64", PTX_S, 8 },
    { "f16", PTX_F, 2 }, { "f32", PTX_F, 4 }, { "f64", PTX_F, 8 }, { "bf16", PTX_BF, 2 },
    { "f16x2", PTX_FX2, 4 }, { "bf16x2", PTX_BFX2, 4 }, { "pred", PTX_P, 0 },
    { "s16x2", PTX_SX2, 4 }, { "u16x2", PTX_UX2, 4 }, { "e4m3x2", PTX_E4X2, 2 },
    { "e5m2x2", PTX_E5X2, 2 }, { "tf32", PTX_TF, 4 }, { "b128", PTX_B, 16 }
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (same(w->text, w->size, types[i].name)) {
      t->class = (ptx_class)types[i].class;
      t->bytes = types[i].bytes;
      snprintf(t->name, sizeof t->name, "%s", types[i].name);
      return 1;
    }
  return 0;
}

static int read_word(const ptx_word *w, ptx_form *f) {
  for (int i = 0; i < W_COUNT; i++)
    if (same(w->text, w->size, word_texts[i])) {
      f->has[i / 64] |= UINT64_C(1) << (i % 64);
      return 1;
    }
  for (size_t i = 0; i + 1 < w->size; i++)   /* L2::128B, L1::no_allocate: hints */
    if (w->text[i] == ':' && w->text[0] == 'L') {
      f->has[W_HINT / 64] |= UINT64_C(1) << (W_HINT % 64);
      return 1;
    }
  return 0;
}

/* 0 if a part of the mnemonic is not known. */
static int read_form(const ptx_statement *s, ptx_form *f) {
  memset(f, 0, sizeof *f);
  if (s->words == 0 || s->word[0].size == 0 || s->word[0].size >= sizeof f->base) return 0;
  memcpy(f->base, s->word[0].text, s->word[0].size);
  for (unsigned i = 1; i < s->words; i++) {
    ptx_type t;
    if (read_type(&s->word[i], &t)) {
      if (f->types == 4) return 0;
      f->type[f->types++] = t;
    } else if (!read_word(&s->word[i], f)) return 0;
  }
  return 1;
}

int ptx_rounding(const ptx_form *f) {
  if (ptx_has(f, W_RZ) || ptx_has(f, W_RZI)) return SIM_RZ;
  if (ptx_has(f, W_RM) || ptx_has(f, W_RMI)) return SIM_RM;
  if (ptx_has(f, W_RP) || ptx_has(f, W_RPI)) return SIM_RP;
  return SIM_RN;
}

int ptx_compare(const ptx_form *f) {
  static const uint8_t table[][2] = {
    { W_EQ, SIM_EQ }, { W_NE, SIM_NE }, { W_LT, SIM_LT }, { W_LE, SIM_LE }, { W_GT, SIM_GT },
    { W_GE, SIM_GE }, { W_LS, SIM_LE }, { W_HS, SIM_GE }, { W_NUM, SIM_NUM }, { W_NANC, SIM_NAN },
    { W_EQU, SIM_EQ | SIM_UNORD }, { W_NEU, SIM_NE | SIM_UNORD }, { W_LTU, SIM_LT | SIM_UNORD },
    { W_LEU, SIM_LE | SIM_UNORD }, { W_GTU, SIM_GT | SIM_UNORD }, { W_GEU, SIM_GE | SIM_UNORD }
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (ptx_has(f, table[i][0])) return table[i][1];
  if (ptx_has(f, W_LO)) return SIM_LT;       /* unsigned lower, higher */
  if (ptx_has(f, W_HI)) return SIM_GT;
  return -1;
}

void ptx_decode(ptx_parser *p, const ptx_statement *s) {
  ptx_form f;
  if (s->skipped) { ptx_refuse(p, s); return; }
  if (s->words > 0 && same(s->word[0].text, s->word[0].size, "call")) { ptx_call(p, s); return; }
  if (ptx_decode_tensor(p, s) || ptx_decode_async(p, s)) return;
  if (!read_form(s, &f)) {
    if (!ptx_decode_hint(p, s, &f)) ptx_refuse(p, s);
    return;
  }
  if (ptx_decode_arith(p, s, &f) || ptx_decode_memory(p, s, &f) ||
      ptx_decode_move(p, s, &f) || ptx_decode_compare(p, s, &f) ||
      ptx_decode_convert(p, s, &f) || ptx_decode_control(p, s, &f) ||
      ptx_decode_warp(p, s, &f)) return;
  ptx_refuse(p, s);
}
